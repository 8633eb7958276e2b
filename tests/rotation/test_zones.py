"""Which time zones are known; whatever the name is, no file outside the zone data is touched."""

from __future__ import annotations

import pytest

from hooks.rotation.zones import is_known_zone, zone


@pytest.mark.parametrize(
    "name", ["UTC", "Asia/Tokyo", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+12"]
)
def test_known(name: str) -> None:
    assert is_known_zone(name)
    assert zone(name).key == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "Europe",
        "Europe/",
        "Europe/Berln",
        "europe/berlin",
        " UTC",
        "UTC\n",
        "UTC\x00",
        "Local",
        "localtime",
        "posixrules",
        "posix/UTC",
        "Factory",
        "zone.tab",
        "tzdata.zi",
        "__init__.py",
        "../zones",
        "../../etc/passwd",
        "/etc/localtime",
        "Europe/../UTC",
        "x" * 10_000,
    ],
)
def test_unknown(name: str) -> None:
    assert not is_known_zone(name)
    with pytest.raises(LookupError, match="unknown time zone"):
        zone(name)
