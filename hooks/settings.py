"""The settings of the server: environment -> one frozen value, all problems reported at once.

Owns the names, defaults and grammar of the ``NODEROTATION_`` variables (:data:`OPTIONS` is the one
list; flags and the README's table follow it) and the hook token. Leaves where the environment comes
from to :mod:`hooks.cli`. Source: design/product.md, *Names*.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from hooks import names
from hooks.rotation.durations import parse_duration
from hooks.rotation.quantity import parse_quantity

PREFIX: Final = "NODEROTATION_"
WRITES_END_BEFORE: Final = timedelta(seconds=2)
"""No write is sent later than this before the hook's timeout (design/rotation.md section 1)."""
LARGEST_BODY: Final = 2**31 - 1
MOST_THREADS: Final = 256
LOG_LEVELS: Final = ("debug", "info", "warning", "error")

_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
_BIND: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator can set. Made by :func:`read_settings`; the defaults are in OPTIONS."""

    token_file: Path
    namespace: str
    bind: str
    threads: int
    body_limit: int
    """Bytes."""
    log_level: str
    placeholder_image: str
    hook_timeout: timedelta
    suspend: bool

    @property
    def write_time(self) -> timedelta:
        """How long after a request's arrival its last write may be sent."""
        return self.hook_timeout - WRITES_END_BEFORE


class SettingsError(Exception):
    """Some settings can't be used; ``problems`` has one sentence for each of them."""

    problems: tuple[str, ...]

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Keep the list; the text is all of it."""
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: ``field`` of Settings, its ``default`` as text (None: must be given), meaning.

    ``read`` turns text into the value and raises ValueError with a message that follows the name.
    """

    field: str
    default: str | None
    meaning: str
    read: Callable[[str], object]

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return PREFIX + self.field.upper()

    @property
    def flag(self) -> str:
        """Its name on the command line of ``serve``."""
        return "--" + self.field.replace("_", "-")


def _token_file(text: str) -> Path:
    return Path(text)


def _namespace(text: str) -> str:
    if not _LABEL.fullmatch(text):
        raise ValueError("must be the name of a namespace")
    return text


def _bind(text: str) -> str:
    found = _BIND.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise ValueError('must be an address and a port, like ":8080" or "[::]:8080"')
    return text


def _threads(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MOST_THREADS:
        raise ValueError(f"must be a whole number from 1 to {MOST_THREADS}")
    return int(text)


def _body_limit(text: str) -> int:
    try:
        size = parse_quantity(text)
    except ValueError:
        raise ValueError("must be a size, like 64Mi") from None
    if size.denominator != 1 or not 1 <= size <= LARGEST_BODY:
        raise ValueError(f"must be a whole number of bytes from 1 to {LARGEST_BODY}")
    return int(size)


def _log_level(text: str) -> str:
    if text.lower() not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return text.lower()


def _placeholder_image(text: str) -> str:
    if not _IMAGE.fullmatch(text):
        raise ValueError("must be the name of an image")
    return text


def _hook_timeout(text: str) -> timedelta:
    try:
        timeout = parse_duration(text)
    except ValueError:
        raise ValueError("must be a duration, like 10s") from None
    if not WRITES_END_BEFORE < timeout <= timedelta(hours=1):
        raise ValueError(
            "must be longer than 2s, after which no time to write is left, and at most 1h"
        )
    return timeout


def _suspend(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError("must be true or false")
    return text == "true"


OPTIONS: Final = (
    Option(
        "token_file",
        None,
        "file with the token that Metacontroller shows; read anew for each request",
        _token_file,
    ),
    Option("namespace", names.NAMESPACE, "namespace of the placeholder Pods", _namespace),
    Option("bind", ":8080", "address and port to listen on", _bind),
    Option("threads", "8", "requests that are worked on at the same time", _threads),
    Option("body_limit", "64Mi", "largest request body; larger ones get 413", _body_limit),
    Option("log_level", "info", f"{', '.join(LOG_LEVELS)}", _log_level),
    Option(
        "placeholder_image",
        "registry.k8s.io/pause:3.10",
        "image of the placeholder Pods; it has nothing to do",
        _placeholder_image,
    ),
    Option(
        "hook_timeout",
        "10s",
        "`timeout` of the webhooks in the controllers; no write is sent in the last 2s of it",
        _hook_timeout,
    ),
    Option("suspend", "false", "true: no rotation starts anywhere", _suspend),
)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read all settings; an empty variable counts as none.

    Raises SettingsError with every problem, not only the first.
    """
    values: dict[str, object] = {}
    problems = []
    for option in OPTIONS:
        text = environ.get(option.variable) or option.default
        if text is None:
            problems.append(f"{option.variable} is missing: {option.meaning}")
            continue
        try:
            values[option.field] = option.read(text)
        except ValueError as error:
            problems.append(f"{option.variable} {error}, not {text[:80]!r}")
    if problems:
        raise SettingsError(tuple(problems))
    return _built(values)


def _built(values: Mapping[str, object]) -> Settings:
    build: Callable[..., Settings] = Settings
    return build(**values)


@dataclass(frozen=True, slots=True)
class TokenFile:
    """The token in a file that may be replaced at any time, so it is never kept in memory."""

    path: Path

    def read(self) -> bytes:
        """Read the token, without white space around it.

        Raises OSError when the file can't be read, ValueError when it holds nothing.
        """
        token = self.path.read_bytes().strip()
        if not token:
            raise ValueError(f"{self.path} is empty")
        return token

    def admits(self, presented: bytes) -> bool:
        """Whether this is the token, in a time that tells nothing about it; errors as in read."""
        return hmac.compare_digest(self.read(), presented)
