"""What is there: a cluster of the connection flags, as commands and the service use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from reconciler.kube.names import label_problem
from reconciler.model.errors import Misconfigured
from reconciler.model.refs import WorkloadKey
from reconciler.settings import Settings
from reconciler.wiring.permits import content_kinds_of, copy_from_of, kinds_of

if TYPE_CHECKING:
    from reconciler.adapters.kubernetes.calls import OnRequest
    from reconciler.adapters.kubernetes.client import KubernetesCluster
    from reconciler.adapters.kubernetes.server_clock import ServerClock
    from reconciler.loop.lane import Lane
    from reconciler.ports import Clock
    from reconciler.sandbox.http import SandboxServer
    from reconciler.service.app import App
    from reconciler.service.doors.codes import RoomCodes
    from reconciler.service.room_metrics import RoomObserver
    from reconciler.service.rooms.desk import RoomDesk
    from reconciler.service.shelves import Ring
    from reconciler.service.views import ClusterView


def make_cluster(
    settings: Settings, on_request: OnRequest | None = None, clock: ServerClock | None = None
) -> KubernetesCluster:
    """Return the cluster that the connection flags name; it sets `clock`. Raises Misconfigured."""
    from reconciler.adapters.kubernetes.calls import Limits
    from reconciler.adapters.kubernetes.client import open_cluster
    from reconciler.adapters.kubernetes.connect import connect
    from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags

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
        clock=clock,
    )


def make_dated_cluster(settings: Settings) -> tuple[KubernetesCluster, Clock]:
    """Return the cluster, and the clock by which it is dated. Raises Misconfigured."""
    from reconciler.adapters.kubernetes.server_clock import ServerClock

    clock = ServerClock()
    return make_cluster(settings, clock=clock), clock


@dataclass(frozen=True, slots=True)
class OneCluster:
    """A cluster as commands use it: read it once, plan, settle. `codes` are those of its rooms."""

    cluster: KubernetesCluster
    view: ClusterView
    lane: Lane
    codes: RoomCodes
    clock: Clock
    """The API server's: machines' own are apart."""


def make_one_cluster(
    settings: Settings,
    dirty: Callable[[Iterable[WorkloadKey]], None] = lambda keys: None,
    record_changed: Ring | None = None,
    on_request: OnRequest | None = None,
    may_write: Callable[[], bool] = lambda: True,
) -> OneCluster:
    """Return the cluster with its view and lane; nothing is asked of it yet.

    The lane writes only while `may_write` says so. Raises Misconfigured.
    """
    from reconciler import assets
    from reconciler.adapters.kubernetes.server_clock import ServerClock
    from reconciler.kube.schemas import Schemas
    from reconciler.loop.lane import Lane
    from reconciler.loop.store import RecordStore
    from reconciler.service.doors.codes import RoomCodes
    from reconciler.service.views import ClusterView

    clock = ServerClock()
    cluster = make_cluster(settings, on_request, clock)
    kinds = kinds_of(settings)
    view = ClusterView(cluster, settings.instance, clock, dirty, record_changed, kinds=kinds)
    newest = assets.kubernetes_versions()[-1]
    fenced = cluster.fenced(may_write)
    codes = RoomCodes(fenced, settings.namespace)
    lane = Lane(
        name=settings.cluster_name,
        instance=settings.instance,
        cluster=fenced,
        view=view,
        store=RecordStore(fenced, settings.namespace, settings.instance),
        schemas=Schemas(assets.kubernetes_definitions(newest)),
        content_kinds=content_kinds_of(settings),
        kinds=kinds,
        copy_from=copy_from_of(settings),
        slots=asyncio.Semaphore(settings.creates_in_flight),
        rooms_url=rooms_url(settings),
        codes=codes,
        server_now=clock.now,
    )
    return OneCluster(cluster, view, lane, codes, clock)


def rooms_url(settings: Settings) -> str:
    """Return the address that rooms report to, to which games add a path. Raises Misconfigured."""
    url = settings.rooms_url.rstrip("/")
    if url and not url.startswith(("http://", "https://")):
        raise Misconfigured(
            f'--rooms-url "{settings.rooms_url}" is no address that a game can ask: '
            "write http://HOST:PORT"
        )
    return url or f"http://gamekeeper-rooms.{settings.namespace}.svc"


def make_desk(
    one: OneCluster, app: Callable[[], App], observer: RoomObserver, settings: Settings
) -> RoomDesk:
    """Return the desk of a cluster's rooms, and let its lane hear them; `app` is asked later.

    What rooms say is written on a way of its own: it may not wait behind a crowd of creates.
    """
    from reconciler.service.lease import Leading
    from reconciler.service.rooms.desk import RoomDesk

    desk = RoomDesk(
        one.lane,
        one.cluster.apart().fenced(lambda: app().may_write()),
        one.clock,
        Leading(lambda: app().may_act(), lambda: app().look_who_leads()),
        lambda key: app().touched((key,)),
        observer,
    )
    if not settings.lease:
        desk.share()
    one.lane.reports = desk.book
    one.view.room_changed = desk.room_changed
    return desk


def make_sandbox(node_count: int, host: str, port: int, reached_at: str = "") -> SandboxServer:
    """Return a sandbox over HTTP, not yet served; port 0 picks a free one.

    `reached_at` is the address at which players reach every node, "" where nothing runs.
    """
    from dataclasses import replace

    from reconciler import assets
    from reconciler.sandbox.behaviour import nodes
    from reconciler.sandbox.cluster import Sandbox
    from reconciler.sandbox.http import SandboxServer

    definitions = assets.kubernetes_definitions("1.36")
    shapes = [replace(node, external_address=reached_at) for node in nodes(node_count)]
    return SandboxServer(Sandbox(definitions, nodes=shapes), host, port)
