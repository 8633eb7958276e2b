"""Where the API server is, and how we prove to it who we are.

Owns the reading of kubeconfig, context, service account and token files. Leaves the calls to
:mod:`hooks.cluster.connection`. A token file is read again for each call: a ServiceAccount's token
rotates under the running process. The client library (37.0.2) reads the in-cluster one at most
once a minute and a kubeconfig's ``tokenFile`` only once (kubernetes-client 1768). Source:
design/cases.md (The Python stack).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from kubernetes.client import Configuration
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

from hooks.cluster.errors import NotConfigured

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

# The library's classes are untyped; their signatures are checked by the tests instead.
_merged: Callable[..., Any] = KubeConfigMerger
_loader: Callable[..., Any] = KubeConfigLoader
_in_cluster: Callable[..., Any] = InClusterConfigLoader

Authorization = Callable[[], str | None]
"""Gives the value of the Authorization header for the next call, None for none."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one API server: address and TLS, and the header to send with each call."""

    configuration: Configuration
    authorization: Authorization


class TokenFile:
    """A bearer token in a file, read anew at each call.

    While the file is missing, empty or unreadable, the last good token goes on being used.
    """

    def __init__(self, path: Path) -> None:
        """Remember the path; nothing is read yet."""
        self._path = path
        self._last = ""

    def __call__(self) -> str:
        """Return the header's value; raises NotConfigured when there never was a token."""
        try:
            token = self._path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            token = ""
        if token and len(token.split()) == 1:
            self._last = token
        if not self._last:
            raise NotConfigured(f"there is no bearer token in {self._path}")
        return f"Bearer {self._last}"


def find_access(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    service_account: Path = SERVICE_ACCOUNT,
) -> Access:
    """Find a cluster as kubectl does.

    In this order: ``kubeconfig``, $KUBECONFIG, ~/.kube/config if it exists, the Pod's own service
    account. Raises NotConfigured with one line that says what is missing.
    """
    env = os.environ if environ is None else environ
    files = kubeconfig or env.get("KUBECONFIG") or _default_file(env)
    try:
        if files or context:
            return _from_files(files or "~/.kube/config", context)
        return _from_pod(env, service_account)
    except NotConfigured:
        raise
    except Exception as error:
        # The loaders let parser errors, KeyError and the like through for a broken file.
        reason = " ".join(str(error).split()) or type(error).__name__
        where = f"kubeconfig {files}" if files else "neither a kubeconfig nor a service account"
        raise NotConfigured(f"cannot find the cluster ({where}): {reason}") from error


def open_access(url: str) -> Access:
    """Reach a server of our own on loopback, which asks nobody who they are."""
    configuration = Configuration()
    configuration.host = url
    _go_direct_to_loopback(configuration)
    return Access(configuration, lambda: None)


def _default_file(env: Mapping[str, str]) -> str | None:
    path = Path(env.get("HOME") or "/") / ".kube" / "config"
    return str(path) if path.is_file() else None


def _from_pod(env: Mapping[str, str], service_account: Path) -> Access:
    configuration = Configuration()
    token = service_account / "token"
    _in_cluster(
        token_filename=str(token),
        cert_filename=str(service_account / "ca.crt"),
        try_refresh_token=False,
        environ=env,
    ).load_and_set(configuration)
    return Access(configuration, TokenFile(token))


def _from_files(files: str, context: str | None) -> Access:
    merged = _merged(files).config
    if merged is None:
        raise NotConfigured(f"there is no kubeconfig at {files}")
    configuration = Configuration()
    loader = _loader(config_dict=merged, active_context=context, config_base_path=None)
    loader.load_and_set(configuration)
    chosen = loader.current_context["context"]
    cluster = merged["clusters"].get_with_name(chosen["cluster"])["cluster"]
    if not cluster.safe_get("proxy-url"):
        _go_direct_to_loopback(configuration)
    if not chosen.get("user"):
        return Access(configuration, lambda: None)
    entry = merged["users"].get_with_name(chosen["user"])
    user: Mapping[str, Any] = entry.safe_get("user") or {}
    if user.get("tokenFile"):
        # A relative path starts at the file that names it.
        base = Path(entry.path).resolve().parent
        return Access(configuration, TokenFile(base / user["tokenFile"]))
    if user.get("exec") and not (configuration.api_key or configuration.cert_file):
        raise NotConfigured(f"the credential plugin {user['exec'].get('command')} gave nothing")
    return Access(configuration, lambda: _given(configuration))


def _given(configuration: Configuration) -> str | None:
    # Runs the loader's refresh hook, which calls a credential plugin again when it must.
    try:
        return configuration.get_api_key_with_prefix("BearerToken")
    except Exception as error:
        raise NotConfigured(f"cannot renew the credentials: {error}") from error


def _go_direct_to_loopback(configuration: Configuration) -> None:
    # As Go's clients do: a proxy of the environment is never asked for this very machine.
    if urlsplit(configuration.host).hostname in LOOPBACK:
        configuration.proxy = None
