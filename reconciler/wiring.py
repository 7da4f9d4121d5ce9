"""Settings to the pieces of the world: the only place that names adapters (DESIGN §2).

Adapters are imported where they are made: a command pays for what it uses.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.model.errors import Misconfigured
from reconciler.model.specs import Permissions
from reconciler.settings import Settings

if TYPE_CHECKING:
    from reconciler.adapters.compiler.compiler import WorkerCompiler
    from reconciler.adapters.git.checkout import LocalCheckout
    from reconciler.adapters.git.mirror import Mirror
    from reconciler.adapters.kubernetes.client import KubernetesCluster
    from reconciler.adapters.kubernetes.transport import OnRequest


def permissions_of(settings: Settings) -> Permissions:
    """Return what repositories may do under these settings."""
    reserved = frozenset({*settings.reserved_namespaces, settings.namespace})
    if settings.pod_security == "privileged":
        return Permissions(pod_security="privileged", reserved_namespaces=reserved)
    return Permissions(pod_security="baseline", reserved_namespaces=reserved)


def make_compiler() -> WorkerCompiler:
    """Return a compiler over the packaged templates; its zygote starts at once.

    Raises Misconfigured, Unavailable.
    """
    from reconciler import assets
    from reconciler.adapters.compiler.compiler import WorkerCompiler
    from reconciler.adapters.compiler.zygote import Zygote

    zygote = Zygote()
    zygote.start()
    return WorkerCompiler(zygote, assets.templates())


def make_checkout(path: str) -> LocalCheckout:
    """Return the repository, or plain directory, at or above a path of the user's."""
    from reconciler.adapters.git.checkout import LocalCheckout

    return LocalCheckout(path)


def make_mirror(settings: Settings, environment: Mapping[str, str] = os.environ) -> Mirror:
    """Return the mirror of the tracked branch. Raises Misconfigured."""
    from reconciler.adapters.git.mirror import Mirror
    from reconciler.adapters.git.source import Source

    if not settings.repo:
        raise Misconfigured("no repository is named: pass --repo or set GAMEKEEPER_REPO")
    source = Source(
        url=settings.repo,
        branch=settings.branch,
        username=settings.git_username,
        token_file=settings.git_token_file,
        ssh_key_file=settings.git_ssh_key_file,
        known_hosts_file=settings.git_known_hosts_file,
        plain_http=settings.git_plain_http,
        fetch_deadline_seconds=settings.git_timeout_seconds,
    )
    return Mirror(source, settings.cache_dir or str(_cache(environment)))


def make_cluster(settings: Settings, on_request: OnRequest | None = None) -> KubernetesCluster:
    """Return the cluster that the connection flags name. Raises Misconfigured."""
    from reconciler.adapters.kubernetes.client import open_cluster
    from reconciler.adapters.kubernetes.connect import connect
    from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
    from reconciler.adapters.kubernetes.transport import Limits

    if not settings.instance:
        raise Misconfigured("no instance is named: pass --instance or set GAMEKEEPER_INSTANCE")
    flags = ConnectionFlags(
        kubeconfig=settings.kubeconfig,
        context=settings.context,
        cluster=settings.cluster,
        user=settings.user,
        server=settings.server,
        token=settings.token,
        certificate_authority=settings.certificate_authority,
        client_certificate=settings.client_certificate,
        client_key=settings.client_key,
        insecure_skip_tls_verify=settings.insecure_skip_tls_verify,
    )
    limits = Limits(
        qps=settings.qps,
        burst=settings.burst,
        request_timeout_seconds=settings.request_timeout_seconds,
    )
    return open_cluster(
        connect(flags),
        settings.instance,
        name=settings.cluster_name,
        limits=limits,
        on_request=on_request,
    )


def _cache(environment: Mapping[str, str]) -> Path:
    home = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gamekeeper"
