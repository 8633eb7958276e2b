"""Finding the cluster as kubectl does, and proving who we are with whatever is valid now."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml

from hooks.cluster.credentials import TokenFile, find_access
from hooks.cluster.errors import NotConfigured
from tests.cluster.kubeconfigs import kubeconfig

URL = "https://10.0.0.1:6443"
IN_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_text("a certificate")
    return folder


def test_the_flag_wins_over_the_environment(tmp_path: Path) -> None:
    flag = kubeconfig(tmp_path, URL, {"token": "t"}, name="flag")
    env = kubeconfig(tmp_path, "https://10.0.0.2:6443", {"token": "t"}, name="env")
    assert find_access(flag, environ={"KUBECONFIG": env}).configuration.host == URL
    found = find_access(environ={"KUBECONFIG": env})
    assert found.configuration.host == "https://10.0.0.2:6443"


def test_the_environment_may_name_several_files(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path, URL, {"token": "t"}, name="first")
    missing = str(tmp_path / "missing")
    assert find_access(environ={"KUBECONFIG": f"{missing}:{first}"}).configuration.host == URL


def test_the_file_of_the_home_wins_over_the_pods_account(tmp_path: Path, account: Path) -> None:
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube", URL, {"token": "t"})
    environ = {"HOME": str(tmp_path), **IN_POD}
    assert find_access(environ=environ, service_account=account).configuration.host == URL


def test_inside_of_a_pod_its_account_is_used(tmp_path: Path, account: Path) -> None:
    found = find_access(environ={"HOME": str(tmp_path), **IN_POD}, service_account=account)
    assert found.configuration.host == "https://10.96.0.1:443"
    assert found.configuration.ssl_ca_cert == str(account / "ca.crt")
    assert found.authorization() == "Bearer pod-token"


def test_a_context_is_chosen_by_name(tmp_path: Path) -> None:
    path = Path(kubeconfig(tmp_path, URL, {"token": "one"}))
    content = yaml.safe_load(path.read_text())
    content["clusters"].append({"name": "b", "cluster": {"server": "https://10.0.0.9:6443"}})
    content["users"].append({"name": "b", "user": {"token": "two"}})
    content["contexts"].append({"name": "b", "context": {"cluster": "b", "user": "b"}})
    path.write_text(yaml.safe_dump(content))
    found = find_access(str(path), "b")
    assert (found.configuration.host, found.authorization()) == (
        "https://10.0.0.9:6443",
        "Bearer two",
    )


def test_a_token_file_is_read_again_for_each_call(tmp_path: Path) -> None:
    # kubernetes-client 1768
    (tmp_path / "token").write_text("first\n")
    found = find_access(kubeconfig(tmp_path, URL, {"tokenFile": "token"}))
    assert found.authorization() == "Bearer first"
    (tmp_path / "token").write_text("second")
    assert found.authorization() == "Bearer second"


def test_a_token_file_wins_over_a_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("file-token")
    found = find_access(kubeconfig(tmp_path, URL, {"tokenFile": "token", "token": "static"}))
    assert found.authorization() == "Bearer file-token"


@pytest.mark.parametrize("content", [None, b"", b"\n", b"two words", b"\xff\xfe"])
def test_an_unusable_file_leaves_the_last_good_token(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "token"
    path.write_text("good")
    token = TokenFile(path)
    assert token() == "Bearer good"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert token() == "Bearer good"
    path.write_text("better")
    assert token() == "Bearer better"


def test_without_any_token_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=r"^there is no bearer token in .*/token$"):
        TokenFile(tmp_path / "token")()


def test_a_user_may_prove_nothing(tmp_path: Path) -> None:
    assert find_access(kubeconfig(tmp_path, URL, {})).authorization() is None


def test_a_context_may_name_no_user(tmp_path: Path) -> None:
    path = Path(kubeconfig(tmp_path, URL, {"token": "t"}))
    content = yaml.safe_load(path.read_text())
    del content["contexts"][0]["context"]["user"]
    path.write_text(yaml.safe_dump(content))
    assert find_access(str(path)).authorization() is None


def plugin(folder: Path, script: str) -> dict[str, object]:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "args": []}
    }


def test_a_credential_plugin_is_asked_again_when_its_token_is_old(tmp_path: Path) -> None:
    user = plugin(
        tmp_path,
        f'echo x >> {tmp_path}/calls; n=$(wc -l < {tmp_path}/calls | tr -d " ")\n'
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":'
        '{"token":"token-\'$n\'","expirationTimestamp":"2020-01-01T00:00:00Z"}}\'',
    )
    found = find_access(kubeconfig(tmp_path, URL, user))
    assert found.authorization() == "Bearer token-2"
    assert found.authorization() == "Bearer token-3"


def test_credentials_that_cannot_be_renewed_are_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_access(kubeconfig(tmp_path, URL, {"token": "t"}))

    def refresh(_: object) -> None:
        raise OSError("the plugin is gone")

    monkeypatch.setattr(found.configuration, "refresh_api_key_hook", refresh)
    with pytest.raises(NotConfigured, match=r"^cannot renew the credentials: the plugin is gone$"):
        found.authorization()


def test_a_credential_plugin_that_fails_is_named(tmp_path: Path) -> None:
    # The library goes on without credentials, which would end in a puzzling 403 of "anonymous".
    with pytest.raises(NotConfigured, match=r"^the credential plugin .*/plugin gave nothing$"):
        find_access(kubeconfig(tmp_path, URL, plugin(tmp_path, "exit 1")))


@pytest.mark.parametrize(
    "content", ["{not yaml", "", "apiVersion: v1\nkind: Config\n", "[]", "contexts: 7"]
)
def test_a_broken_file_is_one_clear_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(NotConfigured) as raised:
        find_access(str(path))
    assert str(raised.value).startswith(f"cannot find the cluster (kubeconfig {path}): ")
    assert "\n" not in str(raised.value)


def test_what_is_missing_is_said(tmp_path: Path, account: Path) -> None:
    good = kubeconfig(tmp_path, URL, {"token": "t"})
    with pytest.raises(NotConfigured, match="there is no kubeconfig at /nowhere"):
        find_access("/nowhere")
    with pytest.raises(NotConfigured, match="name nope"):
        find_access(good, "nope")
    with pytest.raises(NotConfigured, match="neither a kubeconfig nor a service account"):
        find_access(environ={"HOME": "/nowhere"}, service_account=account)
    (account / "token").unlink()
    with pytest.raises(NotConfigured, match="token file does not exist"):
        find_access(environ={"HOME": "/nowhere", **IN_POD}, service_account=account)


@pytest.mark.parametrize(
    ("url", "cluster", "proxy"),
    [
        ("http://127.0.0.1:8001", {}, None),
        ("http://localhost:8001", {}, None),
        ("http://10.0.0.1:8001", {}, "http://proxy:3128"),
        ("http://127.0.0.1:8001", {"proxy-url": "http://own:1"}, "http://own:1"),
    ],
)
def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    cluster: dict[str, str],
    proxy: str | None,
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    found = find_access(kubeconfig(tmp_path, url, {"token": "t"}, cluster=cluster))
    assert found.configuration.proxy == proxy
