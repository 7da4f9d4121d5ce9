"""The whole service from its pieces: what `run` and `demo` start, and what they show of it."""

import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from reconciler.adapters.git.watch import local_path, watch_local
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.lost_records import ensure_namespace
from reconciler.loop.requests import request_ref
from reconciler.ports import Clock, Cluster
from reconciler.service.app import App, Leadership, Parts, Voice
from reconciler.service.doors.door import RoomDoor
from reconciler.service.events import Events
from reconciler.service.faces import Faces
from reconciler.service.health import Health, keep_beating
from reconciler.service.lookout import Lookout
from reconciler.service.metrics import Metrics
from reconciler.service.relay import Relay
from reconciler.service.room_census import RoomCensus
from reconciler.service.room_metrics import RoomMetrics
from reconciler.service.rooms.desk import RoomDesk
from reconciler.service.rooms.roster import Roster
from reconciler.service.rooms.unlistened import Unlistened
from reconciler.service.scalers import Scalers
from reconciler.service.scaling_metrics import ScalingMetrics
from reconciler.service.voice import LogVoice
from reconciler.service.voices import Voices
from reconciler.service.watch_metrics import WatchMetrics
from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock
from reconciler.wiring.clusters import OneCluster, make_desk, make_one_cluster
from reconciler.wiring.compilers import make_compiler
from reconciler.wiring.doors import make_door, make_label
from reconciler.wiring.leading import make_leadership
from reconciler.wiring.repositories import (
    make_head_lane,
    make_mirror,
    repository_of,
)
from reconciler.wiring.scaling import add_scaling, check_signing, hear_scaling
from reconciler.wiring.telling import Telling, make_telling


@dataclass(frozen=True, slots=True)
class Serving:
    """The service, ready to run.

    `desk` is what the rooms' listener asks, `door` keeps it; `rooms` and `scaling` count.
    """

    app: App
    leadership: Leadership
    health: Health
    metrics: Metrics
    settings: Settings
    desk: RoomDesk
    rooms: RoomMetrics
    scaling: ScalingMetrics
    door: RoomDoor
    telling: Telling

    def faces(self) -> Faces:
        """Return what the HTTP server shows."""
        return Faces(
            health=self.health,
            metrics=self.metrics,
            ready=self.app.not_ready,
            wake=self.app.look_soon,
            webhook_secret_file=self.settings.webhook_secret_file,
        )

    async def run(self) -> None:
        """Run until cancelled; then finish the writes in hand and leave."""
        beat = partial(keep_beating, self.health, self.metrics.lagged, time.monotonic)
        lane, registry = self.app.cluster_lane.lane, self.metrics.registry
        census = RoomCensus(lane, self.app.may_act, SystemClock(), registry)
        faces: list[Callable[[], Coroutine[Any, Any, None]]] = [beat]
        faces += [census.run, self.scaling.run, *self.telling.faces]
        await self.app.run(self.leadership, faces)


@asynccontextmanager
async def opened_app(settings: Settings) -> AsyncIterator[Serving]:
    """Make the whole service and close it in the end; its compiler starts first of all.

    Raises Misconfigured, Unavailable.
    """
    compiler = make_compiler()
    metrics, health = Metrics(), Health(time.monotonic)
    apps: list[App] = []
    one = make_one_cluster(
        settings,
        lambda keys: apps[0].touched(keys),
        lambda ref, gone: apps[0].record_changed(ref, gone),
        metrics.requests_to(settings.cluster_name),
        lambda: apps[0].may_write(),
    )
    read = make_mirror(settings)
    head = make_head_lane(settings, one.lane, compiler, read)
    events = Events(one.lane.cluster, settings.instance, clock := SystemClock())
    heard = hear_scaling(one.lane, lambda: apps[0].may_act(), events, metrics.registry)
    telling = make_telling(
        settings, one.cluster, heard.outbox, lambda: apps[0].may_act(), metrics.registry
    )
    lookout = Lookout(clock, telling.notes)
    voices = Voices([LogVoice(events), metrics, health, lookout, *telling.voices])
    parts = _parts(settings, one, head, voices, clock)
    mirror = add_scaling(parts, settings, heard.voice, read, lambda: apps[0].may_act())
    rooms = RoomMetrics(metrics.registry)
    desk = _listen(parts, one, settings, lambda: apps[0], rooms)
    apps.append(app := App(parts))
    _watch_over(app, metrics, health, settings.cluster_name)
    WatchMetrics(settings.cluster_name, one.view, metrics.registry)
    try:
        await check_signing(settings, mirror)
        changed = partial(_leadership_changed, app, telling, metrics)
        leadership = make_leadership(
            settings, one.cluster, changed, partial(lease_notes, lookout, parts.scalers)
        )
        door = make_door(settings, one)
        counted = rooms, heard.metrics
        yield Serving(app, leadership, health, metrics, settings, desk, *counted, door, telling)
    finally:
        for each in (mirror, head.repository, compiler, one.cluster):
            await each.close()


def lease_notes(lookout: Lookout, scalers: Scalers | None) -> Mapping[str, str]:
    """Return what stands on the Lease: what this process sees, and what its policies came to.

    None before the first look: policies go on by the record at once, and what whoever led before
    saw of Git stands until this process has looked.
    """
    seen = lookout.notes()
    return {**seen, **scalers.last_looks.notes()} if seen and scalers else seen


def _parts(
    settings: Settings, one: OneCluster, head: HeadLane, voice: Voice, clock: Clock
) -> Parts:
    return Parts(
        lane=one.lane,
        head=head,
        view=one.view,
        clock=clock,
        voice=voice,
        found=partial(ensure_namespace, one.cluster, settings.namespace),
        pass_on=_relay(settings, one.cluster, clock).ask,
        poll_seconds=settings.poll_seconds,
        resync_seconds=settings.resync_seconds,
        wakers=_wakers(settings),
    )


def _listen(
    parts: Parts, one: OneCluster, settings: Settings, app: Callable[[], App], rooms: RoomMetrics
) -> RoomDesk:
    """Let rooms be led to this process and be heard; return the desk that keeps them."""
    desk = make_desk(one, app, rooms, settings)
    # Where nobody can speak to us, silence tells nothing: nobody is listened for.
    if settings.rooms_listen:
        parts.desk = desk
    else:
        one.lane.reports = Unlistened(Roster(one.lane, parts.clock).workload)
    parts.label = make_label(settings, one, lambda: app().leading)
    return desk


def _leadership_changed(app: App, telling: Telling, metrics: Metrics) -> None:
    """Let what was remembered be read anew: whoever led before wrote, and told, since."""
    app.leadership_changed()
    telling.forget()
    metrics.leadership_changed()


def _watch_over(app: App, metrics: Metrics, health: Health, cluster: str) -> None:
    """Say what is to be heard of, how often, while this process leads."""
    metrics.follow_leader(lambda: app.leading)
    health.expect("repository", lambda: app.head_service.poll_seconds, app.may_act)
    health.expect(cluster, app.resync_seconds, app.may_act)


def _relay(settings: Settings, cluster: Cluster, clock: Clock) -> Relay:
    ref = request_ref(settings.namespace, settings.instance)
    return Relay(cluster, ref, settings.instance, clock)


def _wakers(settings: Settings) -> Sequence[Callable[[], AsyncIterator[None]]]:
    """Follow the references of a repository that is on this machine."""
    path = local_path(repository_of(settings))
    return [partial(watch_local, path)] if path else []
