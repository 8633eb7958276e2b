"""The API server as the tests use it: kubectl where a user would, plain requests elsewhere.

Owns reads, small writes and watches of the test itself, all as administrator. The software under
test never goes through here.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import requests

from hooks.sandbox.streams import cut_off

Object: TypeAlias = dict[str, Any]
MERGE_PATCH = "application/merge-patch+json"
PATIENCE = 30
"""How often a call is made again that the API server is too busy for."""
GROUPS = {
    "Pod": "/api/v1/pods",
    "Node": "/api/v1/nodes",
    "Event": "/api/v1/events",
    "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "NodeClaim": "/apis/karpenter.sh/v1/nodeclaims",
    "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets",
}
"""The kinds that the tests read and watch, with the path of the whole collection."""


class Api:
    """An API server, as one user. ``kubectl`` is called with ``kubeconfig``."""

    def __init__(self, url: str, ca: Path, token: str, kubectl: Path, kubeconfig: Path) -> None:
        """No connection is made before the first call."""
        self._url = url
        self._ca = ca
        self._headers = {"Authorization": f"Bearer {token}"}
        self._kubectl = [str(kubectl), f"--kubeconfig={kubeconfig}"]

    def kubectl(self, *arguments: str, given: str = "") -> str:
        """What kubectl prints; raises :class:`subprocess.CalledProcessError` with its complaint."""
        done = subprocess.run(
            [*self._kubectl, *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode != 0:
            raise subprocess.CalledProcessError(
                done.returncode, ["kubectl", *arguments], output=done.stdout, stderr=done.stderr
            )
        return done.stdout

    def apply(self, path: Path) -> None:
        """``kubectl apply -f``; waits until CustomResourceDefinitions in it are served."""
        self.kubectl("apply", "--server-side", "-f", str(path))
        self._await_definitions()

    def apply_kustomization(self, path: Path) -> None:
        """``kubectl apply -k``, as the README tells a user to."""
        self.kubectl("apply", "-k", str(path))
        self._await_definitions()

    def apply_objects(self, *objects: Object) -> None:
        """``kubectl apply`` of objects given as values."""
        self.kubectl(
            "apply",
            "--server-side",
            "-f",
            "-",
            given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}),
        )

    def differences(self, *objects: Object) -> str:
        """What ``kubectl diff`` of these objects prints; empty when the cluster has all of it."""
        given = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        command = [*self._kubectl, "diff", "--server-side", "-f", "-"]
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, timeout=120
        )
        # Status 1 means that there is a difference, and only above that an error.
        if done.returncode > 1:
            raise subprocess.CalledProcessError(done.returncode, command, stderr=done.stderr)
        return done.stdout

    def find(self, kind: str, **selectors: str) -> list[Object]:
        """All objects of a kind in every namespace; ``labelSelector`` and ``fieldSelector`` as usual."""
        items: list[Object] = self._send("GET", GROUPS[kind], selectors).json()["items"]
        return items

    def get(self, kind: str, name: str, namespace: str = "") -> Object:
        """One object; raises ``requests.HTTPError`` when it isn't there."""
        found: Object = self._send("GET", _path(kind, name, namespace)).json()
        return found

    def patch(self, kind: str, name: str, change: Object, namespace: str = "") -> Object:
        """Merge ``change`` into one object."""
        headers = {"Content-Type": MERGE_PATCH}
        patched: Object = self._send(
            "PATCH", _path(kind, name, namespace), body=change, headers=headers
        ).json()
        return patched

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete one object, which may be gone already."""
        self._send("DELETE", _path(kind, name, namespace), missing_is_fine=True)

    def snapshot(self, kind: str) -> tuple[list[Object], str]:
        """All objects of a kind, and the resourceVersion from which a watch goes on."""
        answer = self._send("GET", GROUPS[kind]).json()
        return answer["items"], answer["metadata"]["resourceVersion"]

    def watch(self, kind: str, version: str, seconds: int) -> Watch:
        """The watch events after ``version``, at most for ``seconds``."""
        query = {
            "watch": "1",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
            "allowWatchBookmarks": "1",
        }
        session = self._session()
        url = self._url + GROUPS[kind]
        try:
            answer = session.get(url, params=query, stream=True, timeout=(10, seconds + 30))
            answer.raise_for_status()
        except requests.RequestException:
            session.close()
            raise
        return Watch(session, answer)

    def _await_definitions(self) -> None:
        if self.kubectl("get", "crd", "--output=name").strip():
            self.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")

    def _session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.verify = str(self._ca)
        session.headers.update(self._headers)
        return session

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Object | None = None,
        headers: Mapping[str, str] | None = None,
        missing_is_fine: bool = False,
    ) -> requests.Response:
        url = self._url + path
        with self._session() as session:
            send = partial(
                session.request, method, url, params=query, json=body, headers=headers, timeout=30
            )
            answer = send()
            for _ in range(PATIENCE):
                if answer.status_code != requests.codes.too_many_requests:
                    break
                # A kind that was only just defined is refused like this for some seconds.
                time.sleep(1)
                answer = send()
        if not (missing_is_fine and answer.status_code == requests.codes.not_found):
            answer.raise_for_status()
        return answer


class Watch:
    """An open watch: iterate over its events; ``close`` ends that, from any thread."""

    def __init__(self, session: requests.Session, answer: requests.Response) -> None:
        """Take over the answer to a watch request, and the session it came by."""
        self._session = session
        self._answer = answer

    def __iter__(self) -> Iterator[Object]:
        """Each event as soon as it has arrived; raises ``requests.RequestException`` when cut."""
        with self._session, self._answer:
            # A chunk is what has arrived, however little.
            for line in self._answer.iter_lines(chunk_size=None):
                if line:
                    yield json.loads(line)

    def close(self) -> None:
        """End it at once, also while the iteration waits for the next event.

        Shutting the TLS socket itself down would make its reader take the encrypted bytes for text.
        """
        cut_off(self._answer)


def _path(kind: str, name: str, namespace: str) -> str:
    base, _, plural = GROUPS[kind].rpartition("/")
    return (
        f"{base}/namespaces/{namespace}/{plural}/{name}" if namespace else f"{base}/{plural}/{name}"
    )


def wait_until(what: str, holds: Callable[[], bool], seconds: float, every: float = 0.25) -> None:
    """Ask ``every`` so many seconds until ``holds()``; raises :class:`TimeoutError` with ``what``."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            message = f"not within {seconds:.0f} s: {what}"
            raise TimeoutError(message)
        time.sleep(every)
