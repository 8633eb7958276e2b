"""Time zones: which names are known, and what instant a local wall-clock time is.

The data is that of the ``tzdata`` package and no other: an image without a zone database, or with
an old one, must not change what a window means. Source: design/rotation.md section 5.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

_DATA: Final = "tzdata"
_NO_ZONES: Final = frozenset({"Factory"})
"""In the list, but it means "not configured yet"."""


def is_known_zone(name: str) -> bool:
    """Whether ``name`` is spelt exactly as a zone of the IANA database; never touches a file path."""
    return name in _known()


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """The zone of that name; raises :class:`LookupError` when there is none."""
    if not is_known_zone(name):
        raise LookupError(f"unknown time zone {name[:64]!r}")
    with files(_DATA).joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


def first_reading(place: ZoneInfo, local: datetime) -> datetime:
    """What UTC clocks show at a local wall-clock time; of two such times at the first.

    A time inside a DST gap moves forward by the gap, because the offset before it is applied.
    Both times are naive, which halves the cost of resolving a year of windows.
    """
    return local - _offset(place, local)


def last_reading(place: ZoneInfo, local: datetime) -> datetime:
    """As :func:`first_reading`, but of two such times at the second."""
    # Inside a gap fold=1 would move backwards: the smaller offset, which is the later time, is
    # right in each case.
    return local - min(_offset(place, local), _offset(place, local.replace(fold=1)))


def _offset(place: ZoneInfo, local: datetime) -> timedelta:
    return place.utcoffset(local) or timedelta(0)


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    text = files(_DATA).joinpath("zones").read_text(encoding="utf-8")
    return frozenset(text.split()) - _NO_ZONES
