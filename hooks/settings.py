"""The settings of the server: environment -> one frozen value, all problems reported at once.

Owns the names, defaults and grammar of the ``NODEROTATION_`` variables (:data:`OPTIONS` is the one
list; flags and the README's table follow it) and the hook token. Leaves where the environment comes
from to :mod:`hooks.cli`. Long, because grammar, default and meaning of a variable are read together.
Source: design/product.md, *Names*.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
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
METRICS_PORT: Final = 8080
"""Where the eviction server shows metrics and health unless it is told otherwise."""

_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
_ANNOTATION: Final = re.compile(
    r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
)
_BIND: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):(?P<port>[0-9]{1,5})")


class Only(StrEnum):
    """What ``serve --only`` serves instead of the hooks."""

    EVICTION = "eviction"


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator can set. Made by :func:`read_settings`; the defaults are in OPTIONS."""

    token_file: Path | None
    """None: no hook that needs a token is served."""
    namespace: str
    bind: tuple[str, ...]
    """The hook server's one address; the eviction server's two: TLS, then metrics and health."""
    threads: int
    body_limit: int
    """Bytes."""
    log_level: str
    placeholder_image: str
    hook_timeout: timedelta
    suspend: bool
    rollout_timeout: timedelta
    """How long an eviction may be put off; a Deployment may say otherwise for itself."""
    enabled_annotation: str
    """Key of the annotation without which a Deployment isn't protected; empty: all are."""
    tls_cert_file: Path | None
    tls_key_file: Path | None
    client_ca_file: Path | None
    """None: the webhook asks nobody for a certificate."""

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


def _file(text: str) -> Path | None:
    return Path(text) if text else None


def _namespace(text: str) -> str:
    if not _LABEL.fullmatch(text):
        raise ValueError("must be the name of a namespace")
    return text


def _bind(text: str) -> tuple[str, ...]:
    _check_address(text)
    return (text,)


def _bind_eviction(text: str) -> tuple[str, ...]:
    webhook, _, plain = text.partition(",")
    _check_address(webhook)
    host, _, port = webhook.rpartition(":")
    plain = plain or f"{host}:{METRICS_PORT}"
    _check_address(plain)
    if int(plain.rpartition(":")[2]) == int(port):
        raise ValueError(f"must leave another port to metrics and health, which have {plain}")
    return webhook, plain


def _check_address(text: str) -> None:
    found = _BIND.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise ValueError('must be an address and a port, like ":8080" or "[::]:8080"')


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


def _rollout_timeout(text: str) -> timedelta:
    try:
        timeout = parse_duration(text)
    except ValueError:
        raise ValueError("must be a duration, like 10m") from None
    if not timedelta(0) < timeout <= timedelta(days=1):
        raise ValueError("must be longer than 0s and at most 24h")
    return timeout


def _enabled_annotation(text: str) -> str:
    if text and not _ANNOTATION.fullmatch(text):
        raise ValueError("must be the key of an annotation")
    return text


def _suspend(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError("must be true or false")
    return text == "true"


OPTIONS: Final = (
    Option(
        "token_file",
        None,
        "file with the token that Metacontroller shows; read anew for each request",
        _file,
    ),
    Option("namespace", names.NAMESPACE, "namespace of the placeholder Pods", _namespace),
    Option(
        "bind",
        ":8080",
        "address and port to listen on; of the eviction server, that of the webhook and, after a "
        "comma, that of metrics and health",
        _bind,
    ),
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
    Option(
        "rollout_timeout",
        "10m",
        "how long the eviction of a Deployment's only Pod is put off while its successor starts",
        _rollout_timeout,
    ),
    Option(
        "enabled_annotation",
        "",
        "annotation without which a Deployment's evictions are not put off; none: all are",
        _enabled_annotation,
    ),
    Option(
        "tls_cert_file",
        "",
        "file with the certificate chain of the eviction webhook; read anew when it changes",
        _file,
    ),
    Option("tls_key_file", "", "file with the key of that certificate, without a password", _file),
    Option(
        "client_ca_file",
        "",
        "file with the authorities whose clients alone may call the eviction webhook; "
        "none: it asks nobody for a certificate",
        _file,
    ),
)
"""As the hook server has them."""
_OF_EVICTION: Final[Mapping[str, tuple[str | None, Callable[[str], object]]]] = MappingProxyType(
    {
        "token_file": ("", _file),
        "bind": (":8443,:8080", _bind_eviction),
        # Its bodies are small, and anyone may send one: 3Mi is what the API server itself takes.
        "body_limit": ("3Mi", _body_limit),
        "tls_cert_file": (None, _file),
        "tls_key_file": (None, _file),
    }
)
"""Field to default and grammar, where the eviction server's are others."""


def options_of(only: Only | None) -> tuple[Option, ...]:
    """All options as one of the servers has them, the hook server unless ``only`` says another."""
    if only is None:
        return OPTIONS
    return tuple(
        replace(option, default=default, read=read)
        for option in OPTIONS
        for default, read in [_OF_EVICTION.get(option.field, (option.default, option.read))]
    )


def read_settings(environ: Mapping[str, str], only: Only | None = None) -> Settings:
    """Read all settings of one server, the hook server's unless ``only`` says another.

    An empty variable counts as none. Raises SettingsError with every problem, not only the first.
    """
    values: dict[str, object] = {}
    problems = []
    for option in options_of(only):
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
    """The token in a file that may be replaced at any time, so it is never kept in memory.

    Without a file there is no token, and nobody is admitted.
    """

    path: Path | None

    def read(self) -> bytes:
        """Read the token, without white space around it.

        Raises OSError when the file can't be read, ValueError when it holds nothing.
        """
        if self.path is None:
            raise ValueError("no file is named")
        token = self.path.read_bytes().strip()
        if not token:
            raise ValueError(f"{self.path} is empty")
        return token

    def admits(self, presented: bytes) -> bool:
        """Whether this is the token, in a time that tells nothing about it; errors as in read."""
        return hmac.compare_digest(self.read(), presented)
