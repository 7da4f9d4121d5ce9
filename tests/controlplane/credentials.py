"""Keys, tokens and kubeconfigs of a control plane."""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import subprocess
from pathlib import Path

from tests.controlplane.api import Api
from tests.controlplane.programs import ControlPlaneAbsent

ADMIN = "controlplane-admin"
ONE_HOUR_SECONDS = 3600


def write_signing_key(path: Path) -> None:
    """Write the private key that signs service account tokens.

    Raises:
        ControlPlaneAbsent: ssh-keygen is not installed.
    """
    if shutil.which("ssh-keygen") is None:
        raise ControlPlaneAbsent("ssh-keygen is not on PATH: install Debian package openssh-client")
    argv = ["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "", "-f", str(path)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def write_admin_token(path: Path) -> str:
    """Write the static token file with one member of system:masters and return its token."""
    token = secrets.token_hex(16)
    path.write_text(f"{token},{ADMIN},{ADMIN},system:masters\n", encoding="utf-8")
    path.chmod(0o600)
    return token


def write_kubeconfig(path: Path, *, url: str, authority: bytes, token: str) -> None:
    """Write a self-contained kubeconfig (as JSON, which is YAML) for one token."""
    name = "controlplane"
    cluster = {
        "server": url,
        "certificate-authority-data": base64.b64encode(authority).decode(),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    path.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    path.chmod(0o600)


def token_for(api: Api, service_account: str, *, seconds: int = ONE_HOUR_SECONDS) -> str:
    """Ask the API server for a token of the service account `namespace/name`.

    Raises:
        ValueError: the text is not `namespace/name`.
        Refused: there is no such service account.
    """
    namespace, slash, name = service_account.partition("/")
    if not (namespace and slash and name):
        raise ValueError(f"a service account is given as namespace/name, not {service_account!r}")
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": seconds},
    }
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    return str(api.demand("POST", path, body)["status"]["token"])
