"""Settings to the pieces of the world: the only place that names adapters (DESIGN §2).

Adapters are imported where they are made: a command pays for what it uses.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.kube.names import label_problem
from reconciler.model.errors import Misconfigured
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.specs import LOOSEST, Budgets, Permissions
from reconciler.settings import Settings

if TYPE_CHECKING:
    from reconciler.adapters.compiler.compiler import WorkerCompiler
    from reconciler.adapters.git.checkout import LocalCheckout
    from reconciler.adapters.git.mirror import Mirror
    from reconciler.adapters.kubernetes.client import KubernetesCluster
    from reconciler.adapters.kubernetes.transport import OnRequest
    from reconciler.loop.head import HeadLane
    from reconciler.loop.lane import Lane
    from reconciler.ports import Repository
    from reconciler.sandbox.http import SandboxServer
    from reconciler.service.app import Leadership
    from reconciler.service.views import ClusterView


def permissions_of(settings: Settings) -> Permissions:
    """Return what repositories may do under these settings."""
    reserved = frozenset({*settings.reserved_namespaces, settings.namespace})
    if settings.pod_security == "privileged":
        return Permissions(pod_security="privileged", reserved_namespaces=reserved)
    return Permissions(pod_security="baseline", reserved_namespaces=reserved)


def ceiling_of(settings: Settings) -> Budgets:
    """Return the operator's budgets, which no repository can allow itself more than.

    The larger of rooms and per cent counts, so one that is set alone takes the other away. With
    a ceiling removals are summed up over at least the default window, else a repository would
    walk around it in small steps.
    """
    workload_rooms, workload_percent = _ceiling(
        settings.ceiling_workload_rooms, settings.ceiling_workload_percent
    )
    total_rooms, total_percent = _ceiling(
        settings.ceiling_total_rooms, settings.ceiling_total_percent
    )
    ceiling = Budgets(
        workload_rooms, workload_percent, total_rooms, total_percent, LOOSEST.window_seconds
    )
    if ceiling == LOOSEST:
        return ceiling
    return replace(ceiling, window_seconds=Budgets().window_seconds)


def _ceiling(rooms: int, percent: float) -> tuple[int, float]:
    has_rooms, has_percent = rooms < LOOSEST.workload_rooms, percent < LOOSEST.workload_percent
    if has_rooms and not has_percent:
        return rooms, 0.0
    return (0, percent) if has_percent and not has_rooms else (rooms, percent)


def repository_of(settings: Settings) -> str:
    """Return the URL of the repository; a path of this machine as an absolute one."""
    here = os.path.abspath(settings.repo) if settings.repo else ""
    return here if os.path.isdir(here) else settings.repo


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
        url=repository_of(settings),
        branch=settings.branch,
        username=settings.git_username,
        token_file=settings.git_token_file,
        ssh_key_file=settings.git_ssh_key_file,
        known_hosts_file=settings.git_known_hosts_file,
        certificate_authority_file=settings.git_certificate_authority_file,
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
    problem = label_problem(settings.instance)
    if problem:
        raise Misconfigured(f"--instance {settings.instance!r} cannot be a label: {problem}")
    names = [each.name for each in fields(ConnectionFlags)]
    flags = ConnectionFlags(**{name: getattr(settings, name) for name in names})
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


CONTENT_KINDS = (
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "ReplicaSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)
"""What keeps a namespace from being removed, unless a setting names other kinds."""


@dataclass(frozen=True, slots=True)
class OneCluster:
    """A cluster as commands use it: read it once, plan, settle."""

    cluster: KubernetesCluster
    view: ClusterView
    lane: Lane


def make_one_cluster(
    settings: Settings,
    dirty: Callable[[Iterable[WorkloadKey]], None] = lambda keys: None,
    record_changed: Callable[[ObjectRef], None] | None = None,
    on_request: OnRequest | None = None,
    may_write: Callable[[], bool] = lambda: True,
) -> OneCluster:
    """Return the cluster with its view and lane; nothing is asked of it yet.

    The lane writes only while `may_write` says so. Raises Misconfigured.
    """
    from reconciler import assets
    from reconciler.kube.schemas import Schemas
    from reconciler.loop.lane import Lane
    from reconciler.loop.store import RecordStore
    from reconciler.service.fence import Fenced
    from reconciler.service.views import ClusterView

    cluster = make_cluster(settings, on_request)
    view = ClusterView(cluster, settings.instance, SystemClock(), dirty, record_changed)
    newest = assets.kubernetes_versions()[-1]
    fenced = Fenced(cluster, may_write)
    lane = Lane(
        name=settings.cluster_name,
        instance=settings.instance,
        cluster=fenced,
        view=view,
        store=RecordStore(fenced, settings.namespace, settings.instance),
        schemas=Schemas(assets.kubernetes_definitions(newest)),
        content_kinds=_content_kinds(settings) or CONTENT_KINDS,
        slots=asyncio.Semaphore(settings.creates_in_flight),
    )
    return OneCluster(cluster, view, lane)


def make_sandbox(node_count: int, host: str, port: int) -> SandboxServer:
    """Return a sandbox over HTTP, not yet served; port 0 picks a free one."""
    from reconciler import assets
    from reconciler.sandbox.behaviour import nodes
    from reconciler.sandbox.cluster import Sandbox
    from reconciler.sandbox.http import SandboxServer

    definitions = assets.kubernetes_definitions("1.36")
    return SandboxServer(Sandbox(definitions, nodes=nodes(node_count)), host, port)


def make_head_lane(
    settings: Settings, home: Lane, compiler: WorkerCompiler, repository: Repository | None = None
) -> HeadLane:
    """Return the lane of the tracked branch, or of a `repository`. Raises Misconfigured."""
    from reconciler.loop.head import HeadLane

    return HeadLane(
        url=repository_of(settings),
        branch=settings.branch,
        repository=repository or make_mirror(settings),
        compiler=compiler,
        permissions=permissions_of(settings),
        ceiling=ceiling_of(settings),
        home=home,
        approval_signers=settings.approval_signers,
    )


def make_leadership(
    settings: Settings,
    cluster: KubernetesCluster,
    changed: Callable[[], None],
    notes: Callable[[], Mapping[str, str]] = dict,
) -> Leadership:
    """Return the Lease of the instance, or with `--no-lease` a promise to be alone.

    `notes` are the annotations that whoever leads writes on it.

    The Lease goes a way of its own: else a Retry-After for a crowd of creates would lose it.
    """
    from reconciler.service.lease import Lease, NoLease

    identity = f"{socket.gethostname()}-{os.getpid()}"
    if not settings.lease:
        return NoLease(identity)
    apart, ref = cluster.apart(), lease_ref(settings)
    return Lease(apart, ref, identity, SystemClock(), changed=changed, notes=notes)


def lease_ref(settings: Settings) -> ObjectRef:
    """Return where the Lease of the instance stands."""
    from reconciler.service.lease import API_VERSION

    return ObjectRef(API_VERSION, "Lease", settings.namespace, f"gamekeeper-{settings.instance}")


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Unix seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


def _content_kinds(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Read `v1/Service` and `apps/v1/Deployment`. Raises Misconfigured."""
    found = []
    for text in settings.namespace_content_kinds:
        api_version, _, kind = text.rpartition("/")
        if not api_version or not kind:
            raise Misconfigured(
                f"{text!r} is no kind: write it as v1/Service or apps/v1/Deployment"
            )
        found.append((api_version, kind))
    return tuple(found)
