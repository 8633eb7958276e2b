"""The settings: defaults and grammar of design/product.md, and the README's table of them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.settings import (
    OPTIONS,
    Only,
    Option,
    Settings,
    SettingsError,
    TokenFile,
    options_of,
    read_settings,
)

README = Path(__file__).parents[1] / "README.md"
TOKEN = {"NODEROTATION_TOKEN_FILE": "/run/token"}
DEFAULTS = Settings(
    token_file=Path("/run/token"),
    namespace="node-rotation-system",
    bind=(":8080",),
    threads=8,
    body_limit=64 * 1024 * 1024,
    log_level="info",
    placeholder_image="registry.k8s.io/pause:3.10",
    hook_timeout=timedelta(seconds=10),
    suspend=False,
    rollout_timeout=timedelta(minutes=10),
    enabled_annotation="",
    tls_cert_file=None,
    tls_key_file=None,
    client_ca_file=None,
)
TLS = {"NODEROTATION_TLS_CERT_FILE": "/tls/tls.crt", "NODEROTATION_TLS_KEY_FILE": "/tls/tls.key"}
EVICTION = replace(
    DEFAULTS,
    token_file=None,
    bind=(":8443", ":8080"),
    body_limit=3 * 1024 * 1024,
    tls_cert_file=Path("/tls/tls.crt"),
    tls_key_file=Path("/tls/tls.key"),
)


def problems(**variables: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        read_settings(TOKEN | {f"NODEROTATION_{name}": text for name, text in variables.items()})
    return caught.value.problems


def test_only_the_token_file_has_no_default() -> None:
    assert read_settings(TOKEN) == DEFAULTS


def test_an_empty_variable_counts_as_none() -> None:
    assert read_settings(TOKEN | {"NODEROTATION_THREADS": ""}) == DEFAULTS


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("TOKEN_FILE", "token", replace(DEFAULTS, token_file=Path("token"))),
        ("NAMESPACE", "controllers-2", replace(DEFAULTS, namespace="controllers-2")),
        ("NAMESPACE", "n" * 63, replace(DEFAULTS, namespace="n" * 63)),
        ("BIND", "0.0.0.0:8080", replace(DEFAULTS, bind=("0.0.0.0:8080",))),
        ("BIND", "[::]:1", replace(DEFAULTS, bind=("[::]:1",))),
        ("BIND", "localhost:65535", replace(DEFAULTS, bind=("localhost:65535",))),
        ("THREADS", "1", replace(DEFAULTS, threads=1)),
        ("THREADS", "256", replace(DEFAULTS, threads=256)),
        ("BODY_LIMIT", "1", replace(DEFAULTS, body_limit=1)),
        ("BODY_LIMIT", "1.5Ki", replace(DEFAULTS, body_limit=1536)),
        ("BODY_LIMIT", "10M", replace(DEFAULTS, body_limit=10_000_000)),
        ("LOG_LEVEL", "DEBUG", replace(DEFAULTS, log_level="debug")),
        (
            "PLACEHOLDER_IMAGE",
            "registry.example.com:5000/mirror/pause@sha256:0123456789abcdef",
            replace(
                DEFAULTS,
                placeholder_image="registry.example.com:5000/mirror/pause@sha256:0123456789abcdef",
            ),
        ),
        ("HOOK_TIMEOUT", "2001ms", replace(DEFAULTS, hook_timeout=timedelta(milliseconds=2001))),
        ("HOOK_TIMEOUT", "1m30s", replace(DEFAULTS, hook_timeout=timedelta(seconds=90))),
        ("SUSPEND", "true", replace(DEFAULTS, suspend=True)),
        ("ROLLOUT_TIMEOUT", "24h", replace(DEFAULTS, rollout_timeout=timedelta(days=1))),
        ("ENABLED_ANNOTATION", "drain", replace(DEFAULTS, enabled_annotation="drain")),
        (
            "ENABLED_ANNOTATION",
            "a-b.example.com/Drain_me.1",
            replace(DEFAULTS, enabled_annotation="a-b.example.com/Drain_me.1"),
        ),
    ],
)
def test_a_setting_is_read(name: str, text: str, expected: Settings) -> None:
    assert read_settings(TOKEN | {f"NODEROTATION_{name}": text}) == expected


@pytest.mark.parametrize(
    ("name", "texts", "wanted"),
    [
        ("NAMESPACE", ["Kube", "a.b", "-a", "n" * 64, "a\n"], "must be the name of a namespace"),
        (
            "BIND",
            ["8080", ":0", ":65536", "a b:1", ":\u0661", "unix:/run/socket", ":1\n", ":1,:2"],
            'must be an address and a port, like ":8080" or "[::]:8080"',
        ),
        (
            "THREADS",
            ["0", "257", "-1", "two", "1.5", "\u0663"],
            "must be a whole number from 1 to 256",
        ),
        ("BODY_LIMIT", ["64MB", "much", "64 Mi"], "must be a size, like 64Mi"),
        (
            "BODY_LIMIT",
            ["0", "-1", "0.5", "4Gi"],
            "must be a whole number of bytes from 1 to 2147483647",
        ),
        ("LOG_LEVEL", ["loud", "critical"], "must be one of debug, info, warning, error"),
        ("PLACEHOLDER_IMAGE", ["two words", "/pause"], "must be the name of an image"),
        ("HOOK_TIMEOUT", ["10", "ten", "10 s"], "must be a duration, like 10s"),
        (
            "HOOK_TIMEOUT",
            ["2s", "0s", "-10s", "61m"],
            "must be longer than 2s, after which no time to write is left, and at most 1h",
        ),
        ("SUSPEND", ["yes", "True", "1"], "must be true or false"),
        ("ROLLOUT_TIMEOUT", ["10", "soon"], "must be a duration, like 10m"),
        ("ROLLOUT_TIMEOUT", ["0s", "-1m", "25h"], "must be longer than 0s and at most 24h"),
        (
            "ENABLED_ANNOTATION",
            ["a b", "/a", "a/", "a/b/c", "A.example.com/a", "-a", "a" * 64],
            "must be the key of an annotation",
        ),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(name: str, texts: list[str], wanted: str) -> None:
    variable = f"NODEROTATION_{name}"
    expected = [(f"{variable} {wanted}, not {text!r}",) for text in texts]
    assert [problems(**{name: text}) for text in texts] == expected


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"NODEROTATION_THREADS": "none", "NODEROTATION_SUSPEND": "maybe"})
    assert caught.value.problems == (
        f"NODEROTATION_TOKEN_FILE is missing: {OPTIONS[0].meaning}",
        "NODEROTATION_THREADS must be a whole number from 1 to 256, not 'none'",
        "NODEROTATION_SUSPEND must be true or false, not 'maybe'",
    )
    assert str(caught.value) == "; ".join(caught.value.problems)


def test_the_eviction_server_needs_a_certificate_and_no_token() -> None:
    assert read_settings(TLS, Only.EVICTION) == EVICTION
    with pytest.raises(SettingsError) as caught:
        read_settings(TOKEN, Only.EVICTION)
    meanings = {option.variable: option.meaning for option in OPTIONS}
    assert caught.value.problems == tuple(f"{name} is missing: {meanings[name]}" for name in TLS)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("CLIENT_CA_FILE", "/ca.crt", replace(EVICTION, client_ca_file=Path("/ca.crt"))),
        ("TOKEN_FILE", "token", replace(EVICTION, token_file=Path("token"))),
        ("BIND", ":9443", replace(EVICTION, bind=(":9443", ":8080"))),
        ("BIND", "[::]:9443", replace(EVICTION, bind=("[::]:9443", "[::]:8080"))),
        ("BIND", "10.0.0.1:1,:2", replace(EVICTION, bind=("10.0.0.1:1", ":2"))),
    ],
)
def test_a_setting_of_the_eviction_server_is_read(name: str, text: str, expected: Settings) -> None:
    assert read_settings(TLS | {f"NODEROTATION_{name}": text}, Only.EVICTION) == expected


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (":8443,8080", 'must be an address and a port, like ":8080" or "[::]:8080"'),
        ("8443,:8080", 'must be an address and a port, like ":8080" or "[::]:8080"'),
        (":1,:2,:3", 'must be an address and a port, like ":8080" or "[::]:8080"'),
        (":8080", "must leave another port to metrics and health, which have :8080"),
        ("a:1,b:01", "must leave another port to metrics and health, which have b:01"),
    ],
)
def test_the_eviction_server_listens_on_two_ports(text: str, wanted: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(TLS | {"NODEROTATION_BIND": text}, Only.EVICTION)
    assert caught.value.problems == (f"NODEROTATION_BIND {wanted}, not {text!r}",)


def test_two_seconds_of_the_hook_timeout_are_left_for_the_answer() -> None:
    assert DEFAULTS.write_time == timedelta(seconds=8)


def test_the_readme_tells_each_setting_its_default_and_meaning() -> None:
    rows = re.findall(
        r"^\| `(NODEROTATION_\w+)` \| (.+?) \| (.+) \|$", README.read_text(), re.MULTILINE
    )
    both = zip(OPTIONS, options_of(Only.EVICTION), strict=True)
    assert rows == [
        (
            hook.variable,
            shown(hook)
            if hook.default == eviction.default
            else f"{shown(hook)}; eviction server: {shown(eviction)}",
            hook.meaning,
        )
        for hook, eviction in both
    ]


def shown(option: Option) -> str:
    if option.default is None:
        return "required"
    return f"`{option.default}`" if option.default else "none"


def test_a_new_token_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = TokenFile(path)
    path.write_text("old\n")
    assert (token.admits(b"old"), token.admits(b"new"), token.admits(b"")) == (True, False, False)
    path.write_text("new\n")
    assert (token.admits(b"old"), token.admits(b"new")) == (False, True)


def test_without_a_file_nobody_is_admitted() -> None:
    with pytest.raises(ValueError, match="no file is named"):
        TokenFile(None).admits(b"")


def test_an_empty_token_admits_nobody(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(" \n")
    with pytest.raises(ValueError, match="is empty"):
        TokenFile(path).admits(b"")
