"""From kubectl's flags and files, or from inside a cluster, to a URL, TLS and credentials."""

import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reconciler.adapters.kubernetes import identity, kubeconfig, proxies, tls
from reconciler.adapters.kubernetes.credentials import Credentials, from_token_file
from reconciler.adapters.kubernetes.exec_plugin import Plugin
from reconciler.adapters.kubernetes.kubeconfig import Chosen, ConnectionFlags
from reconciler.model.errors import Misconfigured

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach one API server; `origin` names where that was written, for messages.

    `impersonation` are the headers that ask to be seen as somebody else; one may come twice.
    """

    url: str
    ssl: ssl.SSLContext | None
    credentials: Credentials
    origin: str
    proxy: str | None = None
    server_hostname: str | None = None
    impersonation: tuple[tuple[str, str], ...] = ()


def connect(
    flags: ConnectionFlags,
    environ: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
) -> Connection:
    """Choose the connection as kubectl does; nothing is sent yet.

    Raises Misconfigured naming the file and what is wrong in it.
    """
    files = kubeconfig.files_of(flags, environ)
    if not files and not flags.server:
        return _in_cluster(environ, service_account)
    chosen = kubeconfig.choose(files, flags)
    url = _url(chosen)
    context = tls.context_of(chosen) if url.startswith("https") else None
    plugin = _plugin(chosen, context, named=bool(flags.kubeconfig))
    return Connection(
        url,
        context,
        Credentials(identity.source_of(chosen, plugin), time.monotonic),
        chosen.origin,
        proxies.proxy_of(url, chosen.cluster.get("proxy-url", ""), chosen.origin, environ),
        chosen.cluster.get("tls-server-name") or None,
        identity.impersonation_of(chosen),
    )


def _in_cluster(environ: Mapping[str, str], service_account: Path) -> Connection:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        listed = environ.get("KUBECONFIG")
        gone = f" (KUBECONFIG is {listed}, and no such file is there)" if listed else ""
        raise Misconfigured(
            f"no cluster is named{gone}: pass --kubeconfig, set KUBECONFIG, or run inside a cluster"
        )
    address = f"[{host}]" if ":" in host else host
    return Connection(
        f"https://{address}:{port}",
        tls.trust({"certificate-authority": str(service_account / "ca.crt")}, "the pod we run in"),
        Credentials(from_token_file(str(service_account / "token")), time.monotonic),
        "the service account of the pod we run in",
    )


def _url(chosen: Chosen) -> str:
    url = str(chosen.cluster.get("server", "")).rstrip("/")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured(
            f"{chosen.origin} names no server that can be asked: write http:// or https:// "
            "and its address"
        )
    return url


def _plugin(chosen: Chosen, context: ssl.SSLContext | None, *, named: bool) -> Plugin | None:
    if "exec" not in chosen.user:
        return None
    if not named:
        raise Misconfigured(
            f"{chosen.origin} runs a program for its credentials: name that kubeconfig with "
            "--kubeconfig to allow it"
        )
    return Plugin(chosen, context)
