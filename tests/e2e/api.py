"""The API server as the tests use it: kubectl where a user would, plain requests elsewhere.

Owns reads, small writes and watches of the test itself, all as administrator. The software under
test never goes through here.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import requests

from hooks.sandbox.conductor.streams import cut_off

Object: TypeAlias = dict[str, Any]
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATIENCE = 30
"""How often a call is made again that the API server is too busy for."""
GROUPS = {
    "Pod": "/api/v1/pods",
    "Node": "/api/v1/nodes",
    "Event": "/api/v1/events",
    "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "NodeClaim": "/apis/karpenter.sh/v1/nodeclaims",
    "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets",
    "RotationPolicy": "/apis/noderotation.io/v1alpha1/rotationpolicies",
}
"""The kinds whose history is kept, with the path of the whole collection."""
PATHS = {
    **GROUPS,
    "ResourceQuota": "/api/v1/resourcequotas",
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
    "Service": "/api/v1/services",
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/serviceaccounts",
    "KWOKNodeClass": "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses",
    "DecoratorController": "/apis/metacontroller.k8s.io/v1alpha1/decoratorcontrollers",
}
"""All kinds that the tests read or write without kubectl."""


class Api:
    """An API server, as one user. ``kubectl`` is called with ``kubeconfig``."""

    def __init__(self, url: str, ca: Path, token: str, kubectl: Path, kubeconfig: Path) -> None:
        """No connection is made before the first call."""
        self._url = url
        self._ca = ca
        self._headers = {"Authorization": f"Bearer {token}"}
        self._kubectl = [str(kubectl), f"--kubeconfig={kubeconfig}"]
        self._local = threading.local()

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

    def apply_objects(self, *objects: Object) -> None:
        """``kubectl apply --server-side`` of objects given as values."""
        known = all(one["kind"] in PATHS for one in objects)
        if known:
            # Without kubectl, whose every start costs more than all that it does here.
            for one in objects:
                self._apply_object(one)
            return
        self.kubectl(
            "apply",
            "--server-side",
            "-f",
            "-",
            given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}),
        )
        self._await_definitions()

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
        items: list[Object] = self._send("GET", PATHS[kind], selectors).json()["items"]
        return items

    def find_one(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """One object; None when it isn't there."""
        answer = self._send("GET", _path(kind, name, namespace), missing_is_fine=True)
        found: Object | None = answer.json() if answer.ok else None
        return found

    def get(self, kind: str, name: str, namespace: str = "") -> Object:
        """One object; raises ``requests.HTTPError`` when it isn't there."""
        found: Object = self._send("GET", _path(kind, name, namespace)).json()
        return found

    def patch(
        self, kind: str, name: str, change: Object, namespace: str = "", subresource: str = ""
    ) -> Object:
        """Merge ``change`` into one object."""
        headers = {"Content-Type": MERGE_PATCH}
        path = _path(kind, name, namespace) + (f"/{subresource}" if subresource else "")
        patched: Object = self._send("PATCH", path, body=change, headers=headers).json()
        return patched

    def delete(
        self, kind: str, name: str, namespace: str = "", *, foreground: bool = False
    ) -> None:
        """Delete one object, which may be gone already; ``foreground``: what it owns goes first."""
        options = {"propagationPolicy": "Foreground" if foreground else "Background"}
        self._send("DELETE", _path(kind, name, namespace), options, missing_is_fine=True)

    def evict(
        self, pod: str, namespace: str, options: Object | None = None, *, dry_run: bool = False
    ) -> requests.Response:
        """Ask once for the eviction of a Pod, and return the answer, whatever it is.

        ``options`` are its deleteOptions; ``dry_run`` is the one of the request itself.
        """
        body: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": namespace},
        }
        if options is not None:
            body["deleteOptions"] = options
        url = f"{self._url}{_path('Pod', pod, namespace)}/eviction"
        query = {"dryRun": "All"} if dry_run else {}
        return self._session().post(url, params=query, json=body, timeout=30)

    def _apply_object(self, one: Object) -> None:
        metadata = one["metadata"]
        path = _path(one["kind"], metadata["name"], metadata.get("namespace", ""))
        query = {"fieldManager": "e2e", "force": "true"}
        self._send("PATCH", path, query, body=one, headers={"Content-Type": APPLY_PATCH})

    def snapshot(self, kind: str) -> tuple[list[Object], str]:
        """All objects of a kind, and the resourceVersion from which a watch goes on."""
        answer = self._send("GET", PATHS[kind]).json()
        return answer["items"], answer["metadata"]["resourceVersion"]

    def watch(self, kind: str, version: str, seconds: int) -> Watch:
        """The watch events after ``version``, at most for ``seconds``."""
        query = {
            "watch": "1",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
            "allowWatchBookmarks": "1",
        }
        session = self._connect()
        url = self._url + PATHS[kind]
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
        """The thread's own, whose connection stays open: who waits asks often, and TLS begins slowly."""
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = self._connect()
        return session

    def _connect(self) -> requests.Session:
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
        send = partial(
            self._session().request,
            method,
            url,
            params=query,
            json=body,
            headers=headers,
            timeout=30,
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
    base, _, plural = PATHS[kind].rpartition("/")
    return (
        f"{base}/namespaces/{namespace}/{plural}/{name}" if namespace else f"{base}/{plural}/{name}"
    )
