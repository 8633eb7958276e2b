"""Who may talk to the control plane: two users with tokens, their kubeconfigs, and what is audited.

Owns the files by which the API server knows its users and by which clients know it. Leaves service
accounts' tokens to the API server, which makes them on request.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path

ADMIN, CONTROLLER = "admin", "controller"
"""The two users: the tests themselves, and what stands in for Metacontroller."""
AUDITED_NAMESPACE = "node-rotation-system"


class Credentials:
    """All credentials of one control plane, kept in its directory ``folder``.

    ``ca`` is the API server's own certificate, which it makes itself when it starts; so is
    ``service_account_key``, its key, which signs the service accounts' tokens as well.
    """

    def __init__(self, folder: Path, url: str) -> None:
        """Make the tokens; files are written when they are asked for."""
        self._folder = folder
        self._url = url
        self._tokens = {name: secrets.token_urlsafe(24) for name in (ADMIN, CONTROLLER)}
        self.certificates = folder / "certificates"
        self.ca = self.certificates / "apiserver.crt"
        self.service_account_key = self.certificates / "apiserver.key"

    def token(self, user: str) -> str:
        """The bearer token of a user."""
        return self._tokens[user]

    def token_file(self, user: str) -> Path:
        """A file that holds nothing but the token of a user."""
        return self._write(f"{user}.token", self._tokens[user])

    def users_file(self) -> Path:
        """What ``--token-auth-file`` wants: both users are administrators."""
        lines = (f"{token},{name},{name},system:masters\n" for name, token in self._tokens.items())
        return self._write("users.csv", "".join(lines))

    def kubeconfig(self, user: str) -> Path:
        """A kubeconfig of one of the two users."""
        return self.kubeconfig_of(user, self._tokens[user])

    def kubeconfig_of(self, name: str, token: str, server: str | None = None) -> Path:
        """A kubeconfig called ``name``, for ``server`` or else the API server itself."""
        cluster = {"server": server or self._url}
        if server is None:
            cluster["certificate-authority"] = str(self.ca)
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": "e2e", "user": {"token": token}}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
            "current-context": "e2e",
        }
        return self._write(f"{name}.kubeconfig", json.dumps(content))

    def audit_policy(self) -> Path:
        """Record each call of our own service accounts (not its body), and nothing else."""
        ours = f"system:serviceaccounts:{AUDITED_NAMESPACE}"
        content = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata", "userGroups": [ours]}, {"level": "None"}],
        }
        return self._write("audit-policy.json", json.dumps(content))

    def _write(self, name: str, content: str) -> Path:
        path = self._folder / name
        path.write_text(content)
        path.chmod(0o600)
        return path
