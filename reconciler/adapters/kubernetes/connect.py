"""From kubectl's flags and files, or from inside a cluster, to a URL, TLS and credentials."""

import os
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from reconciler.adapters.kubernetes import credentials, exec_plugin, kubeconfig, tls
from reconciler.adapters.kubernetes.credentials import Credentials, Fetched
from reconciler.adapters.kubernetes.kubeconfig import Chosen, ConnectionFlags
from reconciler.model.errors import Misconfigured

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach one API server; `origin` names where that was written, for messages."""

    url: str
    ssl: ssl.SSLContext | None
    credentials: Credentials
    origin: str
    proxy: str | None = None
    server_hostname: str | None = None


def connect(flags: ConnectionFlags, environ: Mapping[str, str] = os.environ) -> Connection:
    """Choose the connection as kubectl does; nothing is sent yet.

    Raises Misconfigured naming the file and what is wrong in it.
    """
    files = kubeconfig.files_of(flags, environ)
    if not files and not flags.server:
        return _in_cluster(environ)
    chosen = kubeconfig.choose(files, flags)
    url = str(chosen.cluster.get("server") or "").rstrip("/")
    if urlsplit(url).scheme not in ("http", "https"):
        raise Misconfigured(f"{chosen.origin} names no server with http:// or https://")
    context = tls.context_of(chosen) if url.startswith("https") else None
    return Connection(
        url,
        context,
        Credentials(_source(chosen, context, named=bool(flags.kubeconfig)), time.monotonic),
        chosen.origin,
        proxy=str(chosen.cluster.get("proxy-url") or "") or _proxy(url),
        server_hostname=chosen.cluster.get("tls-server-name") or None,
    )


def _in_cluster(environ: Mapping[str, str]) -> Connection:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise Misconfigured(
            "no cluster is named: pass --kubeconfig, set KUBECONFIG, or run inside a cluster"
        )
    address = f"[{host}]" if ":" in host else host
    return Connection(
        f"https://{address}:{port}",
        tls.trust({"certificate-authority": str(SERVICE_ACCOUNT / "ca.crt")}, "the pod we run in"),
        Credentials(credentials.from_token_file(str(SERVICE_ACCOUNT / "token")), time.monotonic),
        "the service account of the pod we run in",
    )


def _source(
    chosen: Chosen, context: ssl.SSLContext | None, *, named: bool
) -> Callable[[], Awaitable[Fetched]]:
    user = chosen.user
    if "exec" in user:
        if not named:
            raise Misconfigured(
                f"{chosen.origin} runs a program for its credentials: name that kubeconfig with "
                "--kubeconfig to allow it"
            )
        return exec_plugin.source(chosen, context)
    if "auth-provider" in user:
        raise Misconfigured(
            f"{chosen.origin} uses an auth-provider, which Kubernetes dropped: use an exec plugin"
        )
    if user.get("token"):
        return credentials.fixed(_as(user, credentials.bearer(user["token"])))
    if user.get("tokenFile"):
        return credentials.from_token_file(user["tokenFile"])
    if user.get("username"):
        pair = credentials.basic(user["username"], str(user.get("password") or ""))
        return credentials.fixed(_as(user, pair))
    return credentials.fixed(_as(user, {}))


def _as(user: Mapping[str, Any], headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "Impersonate-User": user["as"]} if user.get("as") else headers


def _proxy(url: str) -> str | None:
    parts = urlsplit(url)
    return None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
