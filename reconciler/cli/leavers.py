"""Rooms that are asked to leave: what is written on their pods, and the wait for their end.

It is the same patch that the loop writes: it fails where the room was another, or turned busy or
idle, since it was read, and is then made anew.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reconciler.cli.deadlines import ends_in_seconds
from reconciler.cli.progress import Progress
from reconciler.cli.room_reading import Around, SeenRoom
from reconciler.core import flips, kept_reports, room_patch
from reconciler.core.reporting import covers_heard, drains_unheard
from reconciler.model.errors import Conflict, PortError
from reconciler.model.live import LivePod
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.rooms import BUSY_MARKS, Mark, Why
from reconciler.model.specs import Workload
from reconciler.ports import Cluster
from reconciler.service.live_records import pod_of

TRIES = 5
LOOK_SECONDS = 1.0


class Course(StrEnum):
    """What becomes of a room that was asked. The values stand in JSON: never rename one."""

    DRAINING = "draining"
    """Nobody is sent there any more, and it is deleted once it is known to be empty since."""
    WHEN_EMPTY = "when-empty"
    """It is busy, or not known to be empty, and stays to the end."""
    STAYS = "stays"
    """It was taken back, or nobody had asked."""
    LEAVES = "leaves"
    """It was to be taken back, and it leaves for another reason than a request."""
    GONE = "gone"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Asked:
    """One room that was asked. `pod` is as it was left, `error` says what failed, "" if nothing.

    `outdated` is whether it is known to be of an old revision: a roll-out takes it some day.
    `ends_in_seconds` is when it goes whoever plays there, None for never.
    """

    pod: LivePod
    course: Course
    error: str = ""
    outdated: bool = False
    ends_in_seconds: float | None = None

    @property
    def name(self) -> str:
        """Its name with its namespace."""
        return f"{self.pod.namespace}/{self.pod.name}"

    @property
    def done(self) -> bool:
        """Whether what was asked for stands."""
        return self.course not in (Course.FAILED, Course.LEAVES)

    @property
    def busy(self) -> bool:
        """Whether players are in it, as far as its pod tells."""
        return self.pod.mark in BUSY_MARKS


async def ask(
    cluster: Cluster,
    rooms: Sequence[SeenRoom],
    around: Around,
    *,
    leaves: bool,
    now: Callable[[], float],
) -> list[Asked]:
    """Ask rooms to leave, or take that back; what fails for one does not stop the others.

    `now` is Unix seconds by the API server's clock: a drain deadline is counted from it.
    """
    asked = (_ask(cluster, room, around, leaves, now) for room in rooms)
    return list(await asyncio.gather(*asked))


async def _ask(
    cluster: Cluster, room: SeenRoom, around: Around, leaves: bool, now: Callable[[], float]
) -> Asked:
    pod, spec = room.pod, around.specs.get(room.key)
    ref = ObjectRef("v1", "Pod", pod.namespace, pod.name)
    problem = ""
    try:
        for _ in range(TRIES):
            if pod.terminating:
                return Asked(pod, Course.GONE)
            patch = _patch(pod, spec, leaves, now())
            if not patch:
                if leaves:
                    ends = ends_in_seconds(pod, spec, now())
                    return Asked(pod, _course(pod), ends_in_seconds=ends)
                course = _course_back(pod, around.left_git(room.key))
                return Asked(pod, course, outdated=room.current is False)
            try:
                answer = await cluster.json_patch(ref, patch)
            except Conflict as error:
                problem = str(error)
                answer = await cluster.get(ref)
            if answer is None or answer["metadata"]["uid"] != pod.uid:
                return Asked(pod, Course.GONE)
            pod = pod_of(answer)
    except PortError as error:
        problem = str(error)
    return Asked(pod, Course.FAILED, problem)


def _patch(pod: LivePod, spec: Workload | None, leaves: bool, now: float) -> list[Json]:
    if spec is not None:
        return flips.leave_patch(pod, kept_reports.heard_of(pod.kept_report), spec, leaves, now)
    # Whether it reports is not known here: the loop, which knows it, draws the consequences.
    wish, mark = Why.REQUEST if leaves else Why.STAYS, pod.mark
    if mark is Mark.DRAINING and not leaves:
        # Left there it would be the mark of somebody who asks by hand that it leave.
        mark = Mark.NONE if drains_unheard(pod) else Mark.IDLE
    heeds = flips.heeds_request(pod, own=False) if leaves else pod.leaving is Why.REQUEST
    if pod.leaving is wish or not heeds:
        return []
    patch = room_patch.operations(pod, mark, wish, now)
    return [*patch, *room_patch.record(pod, covers_heard(pod, mark))]


def _course(pod: LivePod) -> Course:
    """Return what becomes of a room that was asked to leave."""
    return Course.DRAINING if pod.mark is Mark.DRAINING else Course.WHEN_EMPTY


def _course_back(pod: LivePod, left_git: bool) -> Course:
    """Return what becomes of a room whose request was taken back."""
    if left_git:
        return Course.LEAVES
    kept = pod.mark is Mark.FAILED and pod.leaving is not Why.REQUEST
    return Course.STAYS if kept or pod.leaving is Why.STAYS else Course.LEAVES


async def gone_by(
    cluster: Cluster, asked: Sequence[Asked], timeout_seconds: float, progress: Progress
) -> tuple[list[Asked], list[Asked]]:
    """Wait for rooms to go; return those that are left when time is up, and those that stay.

    A timeout of 0 waits for ever. Raises the cluster's errors.
    """
    left = [each for each in asked if each.course in (Course.DRAINING, Course.WHEN_EMPTY)]
    stay: list[Asked] = []
    deadline = time.monotonic() + timeout_seconds
    while left:
        found = await asyncio.gather(*(_look(cluster, each) for each in left))
        stay += [each for each in found if each is not None and each.pod.leaving is Why.STAYS]
        left = [each for each in found if each is not None and each.pod.leaving is not Why.STAYS]
        busy = sum(each.busy for each in left)
        progress.text = f"{len(left)} of {len(asked)} rooms are there, {busy} of them busy"
        if left and timeout_seconds and time.monotonic() > deadline:
            break
        if left:
            await asyncio.sleep(LOOK_SECONDS)
    return left, stay


async def _look(cluster: Cluster, asked: Asked) -> Asked | None:
    """Return a room as it is, None where it is gone."""
    found = await cluster.get(ObjectRef("v1", "Pod", asked.pod.namespace, asked.pod.name))
    if found is None or found["metadata"]["uid"] != asked.pod.uid:
        return None
    return Asked(pod_of(found), asked.course)
