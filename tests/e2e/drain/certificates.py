"""The certificates between the API server and the eviction server.

Owns making them: one authority, a server's for loopback, and the client's that the API server shows
to whoever asks for one. Leaves to :mod:`.server` who gets which file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import trustme

SERVER = "127.0.0.1"
CLIENT = "kube-apiserver"


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM: the authority, and certificate with key of both ends."""

    ca: Path
    server_certificate: Path
    server_key: Path
    client_certificate: Path
    client_key: Path

    def admission_configuration(self) -> Path:
        """What ``--admission-control-config-file`` wants, so that webhooks see the client's."""
        folder = self.ca.parent
        user = {
            "client-certificate": str(self.client_certificate),
            "client-key": str(self.client_key),
        }
        kubeconfig = {
            "apiVersion": "v1",
            "kind": "Config",
            "users": [{"name": "*", "user": user}],
        }
        file = folder / "webhooks.kubeconfig"
        file.write_text(json.dumps(kubeconfig))
        content = {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "AdmissionConfiguration",
            "plugins": [
                {
                    "name": "ValidatingAdmissionWebhook",
                    "configuration": {
                        "apiVersion": "apiserver.config.k8s.io/v1",
                        "kind": "WebhookAdmissionConfiguration",
                        "kubeConfigFile": str(file),
                    },
                }
            ],
        }
        target = folder / "admission.json"
        target.write_text(json.dumps(content))
        return target


def make_certificates(folder: Path) -> Certificates:
    """Make all of them, new ones, in a folder that isn't there yet."""
    folder.mkdir()
    authority = trustme.CA()
    made = Certificates(
        folder / "ca.crt",
        folder / "server.crt",
        folder / "server.key",
        folder / "client.crt",
        folder / "client.key",
    )
    authority.cert_pem.write_to_path(str(made.ca))
    _issue(authority, SERVER, made.server_certificate, made.server_key)
    _issue(authority, CLIENT, made.client_certificate, made.client_key)
    return made


def _issue(authority: trustme.CA, whom: str, certificate: Path, key: Path) -> None:
    issued = authority.issue_cert(whom)
    for blob in issued.cert_chain_pems:
        blob.write_to_path(str(certificate), append=True)
    issued.private_key_pem.write_to_path(str(key))
