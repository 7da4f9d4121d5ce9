"""Any rooms, whatever was heard of them: nobody who may be playing goes, and plans come to an end.

What is protected is said here anew, in its plainest form, and not asked of the code under test.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.live import LivePod, Phase, Seen
from reconciler.model.plans import Plan
from reconciler.model.records import Ordinals, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import BUSY_MARKS, Ears, Health, Heard, Mark, Said, Why
from reconciler.model.shares import Share
from reconciler.model.specs import Departure, FailurePolicy, Rollout, Workload
from tests.unit.core.making import NOW, REPORTS, a_heard, a_room, a_situation, a_workload

SCHEMAS = Schemas({})
BEFORE = REPORTS.replace("new", "old")
QUIET_SECONDS = 5.0
ROUNDS = 80

ages = st.sampled_from((0.0, 1.0, 4.0, 6.0, 90.0, 400.0, 1e6))
counts = st.sampled_from((0, 0, 0, 1, 3))


@st.composite
def heards(draw: st.DrawFn) -> Heard:
    """Return anything that a room may have said."""
    return Heard(
        at=NOW - draw(ages),
        periodic=draw(st.booleans()),
        said=draw(st.sampled_from((None, Said.READY, *Said))),
        matches=draw(counts),
        players=draw(counts),
        health=draw(st.sampled_from((None, None, *Health))),
        silent=draw(st.booleans()),
        said_since=NOW - draw(ages),
        confirmed_at=draw(st.sampled_from((0.0, 1.0))) and NOW - draw(ages),
        tells=draw(st.sampled_from((True, True, False))),
    )


@st.composite
def rooms(draw: st.DrawFn) -> tuple[LivePod, Heard | None]:
    """Return any room, with what it said last."""
    phase = draw(st.sampled_from((*[Phase.RUNNING] * 6, *[Phase.PENDING] * 3, *Phase)))
    mark = draw(st.sampled_from(list(Mark)))
    leaving = draw(st.sampled_from((Why.STAYS, Why.STAYS, *Why)))
    ready = phase is Phase.RUNNING and draw(st.booleans())
    node = "node-1" if phase is not Phase.PENDING or draw(st.booleans()) else ""
    # A pod is Pending until each of its containers was started: one may run long before.
    may_run = bool(node) and phase in (Phase.RUNNING, Phase.PENDING)
    running = ready or (may_run and draw(st.booleans()))
    changes: dict[str, Any] = {
        "phase": phase,
        "ready": ready,
        "running": running,
        "lapsed": phase is Phase.RUNNING and running and not ready and draw(st.booleans()),
        "waiting": draw(st.sampled_from(("", "", "CrashLoopBackOff", "ImagePullBackOff"))),
        "terminating": draw(st.sampled_from((False,) * 5 + (True,))),
        "node": node,
        "revision": draw(st.sampled_from((*[REPORTS] * 4, *[BEFORE] * 4, ""))),
        "mark": mark,
        "leaving": leaving,
        "seen": Seen(
            starting=NOW - draw(ages),
            draining=NOW - draw(ages) if mark is Mark.DRAINING else 0.0,
            left=NOW - draw(ages) if leaving else 0.0,
        ),
    }
    return a_room(0, **changes), draw(st.none() | heards())


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Return a workload whose rooms report; a limit to patience is the user's own, and not here."""
    made = a_workload(
        replicas=draw(st.integers(0, 6)),
        reports="required",
        revision=REPORTS,
        rollout=Rollout(Share(draw(st.integers(0, 3))), Share(draw(st.integers(0, 2)))),
        departure=Departure(QUIET_SECONDS, draw(st.sampled_from((None, None, 60.0)))),
        failure=FailurePolicy(
            draw(st.sampled_from(("remove", "delete"))), draw(st.sampled_from((None, 0, 2)))
        ),
    )
    kind = draw(st.sampled_from(("Scheduler", "Fleet")))
    return replace(made, key=WorkloadKey(kind, made.key.namespace, made.key.name))


companies = st.lists(rooms(), max_size=10)


def numbered(found: list[tuple[LivePod, Heard | None]]) -> dict[LivePod, Heard | None]:
    """Give each room a name of its own."""
    return {
        replace(
            pod, uid=f"uid-{n}", name=f"arena-{n}", ordinal=n, resource_version=str(n + 100)
        ): heard
        for n, (pod, heard) in enumerate(found)
    }


def plan(
    workload: Workload, there: dict[LivePod, Heard | None], deaf: str = "", **changes: Any
) -> Plan:
    heard = {pod.uid: what for pod, what in there.items() if what is not None}
    ears = Ears(heard, deaf=deaf, since=NOW - 1e7)
    situation = a_situation(workload, list(there), **{"ears": ears, **changes})
    return planning.plan(situation, SCHEMAS, NOW)


def why_kept(pod: LivePod, heard: Heard | None, deaf: bool) -> str:
    """Why a room whose containers run may hold players who must not lose it, "" for nobody."""
    if pod.mark is Mark.ALLOCATED and not pod.node and not pod.terminating:
        return "it is allocated, and no node has taken it yet"
    if not pod.running or pod.terminating:
        return ""
    if heard is not None and heard.said is Said.TERMINATED and not heard.silent:
        return ""  # by its own words it is over
    if heard is not None and heard.tells and heard.busy:
        return "it said that players are there"
    ends = heard is not None and heard.said in (Said.TERMINATING, Said.TERMINATED)
    if pod.mark is Mark.ALLOCATED or (pod.mark is Mark.BUSY and not ends):
        return "it is allocated, or was busy a moment ago"
    if pod.mark in BUSY_MARKS and (heard is None or not heard.tells or heard.silent):
        return "it was busy, and has not said otherwise"
    was_up = pod.ready or pod.lapsed
    if heard is None and was_up and pod.mark not in (Mark.FAILED, Mark.DRAINING):
        return "it is ready, or was, and nobody knows"
    if heard is None and pod.mark is Mark.IDLE:
        return "it has spoken, and nobody knows how it is now"
    unsure = heard is not None and heard.silent and heard.health is not Health.FAILED and deaf
    return "it is we who do not hear" if unsure and pod.ready and pod.mark is Mark.IDLE else ""


@settings(deadline=None, max_examples=60)
@given(workloads(), companies, st.sampled_from(("", "ours")))
def test_nobody_who_may_be_playing_is_drained_or_deleted(
    workload: Workload, found: list[tuple[LivePod, Heard | None]], deaf: str
) -> None:
    there = numbered(found)
    made = plan(workload, there, deaf)
    by_uid = {pod.uid: heard for pod, heard in there.items()}
    for item in made.removals:
        if item.cause is Cause.DEADLINE:
            assert workload.departure.drain_deadline_seconds is not None
            assert NOW - item.pod.seen.left >= workload.departure.drain_deadline_seconds
            continue
        wrong = why_kept(item.pod, by_uid[item.pod.uid], bool(deaf))
        assert not wrong, f"{item.reason}: {wrong}"
    for mark in made.marks:
        if mark.mark is Mark.DRAINING and mark.pod.mark is not Mark.DRAINING:
            wrong = why_kept(mark.pod, by_uid[mark.pod.uid], bool(deaf))
            assert not wrong, f"{mark.reason}: {wrong}"


def speaks(pod: LivePod, heard: Heard | None) -> bool:
    """Whether a room that starts has spoken: the kubelet tells late that its container runs."""
    if heard is None or heard.silent or heard.said is Said.TERMINATED:
        return False
    return pod.phase is Phase.PENDING and bool(pod.node)


@settings(deadline=None, max_examples=60)
@given(workloads(), companies)
def test_a_running_room_is_deleted_behind_its_fence(
    workload: Workload, found: list[tuple[LivePod, Heard | None]]
) -> None:
    there = numbered(found)
    made = plan(workload, there)
    for item in made.removals:
        pod = item.pod
        if not (pod.running or speaks(pod, there[pod])) or item.cause is Cause.DEADLINE:
            continue
        assert pod.mark is Mark.DRAINING, item.reason
        assert NOW - pod.seen.draining >= QUIET_SECONDS, item.reason


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(workloads(), companies)
def test_plans_end_once_everybody_has_gone_home(
    workload: Workload, found: list[tuple[LivePod, Heard | None]]
) -> None:
    there, known, record = numbered(found), Ordinals(100), StateRecord()
    for number in range(ROUNDS):
        made = plan(workload, there, ordinals=known, record=record)
        # Of the first look nothing may follow: its busy rooms have not gone home yet.
        if number and made.idle and not any(pod.terminating for pod in there):
            break
        there = _after(made, there)
        known = made.creates.ordinals if made.creates else made.strike or known
        # The window in which failures count passes between two looks.
    counted = [pod for pod in there if pod.mark is not Mark.FAILED and not pod.terminating]
    assert [pod.revision for pod in counted] == [REPORTS] * workload.replicas, made


def _after(made: Plan, there: dict[LivePod, Heard | None]) -> dict[LivePod, Heard | None]:
    """Carry out a plan, and let the rooms live until all is quiet: each says that it is empty."""
    gone = {item.pod.uid for item in made.removals}
    told = {item.pod.uid: item for item in made.marks}
    after: dict[LivePod, Heard | None] = {}
    for pod in there:
        if pod.uid in gone or pod.terminating:
            continue
        if pod.uid in told:
            pod = replace(pod, mark=told[pod.uid].mark, leaving=told[pod.uid].leaving)
        after |= _lives(pod)
    for seat in made.creates.seats if made.creates else ():
        after |= _lives(a_room(seat.ordinal))
    return after


def _lives(pod: LivePod) -> dict[LivePod, Heard | None]:
    left = NOW - 10.0 if pod.leaving else 0.0
    draining = NOW - 10.0 if pod.mark is Mark.DRAINING else 0.0
    mark = pod.mark if pod.mark in (Mark.DRAINING, Mark.FAILED) else Mark.IDLE
    pod = replace(
        pod,
        phase=Phase.RUNNING,
        ready=True,
        running=True,
        lapsed=False,
        waiting="",
        node="node-1",
        mark=mark,
        seen=Seen(draining=draining, left=left),
    )
    return {pod: a_heard(confirmed_at=NOW - 5)}
