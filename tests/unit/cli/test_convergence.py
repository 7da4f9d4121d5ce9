from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from reconciler.cli.convergence import TRIES, Convergence, Course
from reconciler.loop.lane import Lane
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Counts, Plan
from reconciler.model.reports import Outcome, Report, Settled
from reconciler.service.cluster_lane import ClusterLane
from reconciler.wiring.clock import SystemClock
from tests.unit.core.making import a_key

KEY = a_key()
CALM = Plan(KEY, Counts(desired=3, ready=3))
FAILED = Outcome(KEY, "create", "room arena-1", "", "create room arena-1: quota")
FOREIGN = Hold(HoldKind.FOREIGN, KEY, "somebody's")


def course(plan: Plan | None, **changes: object) -> Course:
    made = Course(plan)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("one", "as_wanted", "is_over"),
    [
        pytest.param(course(None), False, False, id="not planned yet"),
        pytest.param(course(CALM), True, True, id="every room ready and nothing to write"),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=2))), False, False, id="a room not ready"
        ),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=3, old=1))), False, False, id="an old room"
        ),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=3, terminating=2))),
            True,
            True,
            id="rooms on their way out are waited for by nobody",
        ),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=3, leaving=1), wake_in_seconds=4.0)),
            False,
            False,
            id="a room that is to go and is left alone first",
        ),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=3, leaving=1, busy=1))),
            True,
            True,
            id="a room that leaves when its players do",
        ),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=1, unready=2, unheard=2))),
            True,
            True,
            id="rooms that only the loop hears",
        ),
        pytest.param(
            course(replace(CALM, counts=Counts(3, ready=3, old=1, unheard=1))),
            False,
            True,
            id="an old room that only the loop hears",
        ),
        pytest.param(course(replace(CALM, forget=True)), False, False, id="something to write"),
        pytest.param(course(None, gone=True), True, True, id="gone as wanted"),
        pytest.param(course(CALM, error="create: no", failures=1), False, False, id="failed once"),
        pytest.param(course(CALM, error="create: no", failures=TRIES), False, True, id="given up"),
        pytest.param(course(CALM, holds=(FOREIGN,)), False, True, id="held by a stranger"),
        pytest.param(
            course(
                replace(CALM, counts=Counts(3), holds=(Hold(HoldKind.SUSPENDED, KEY, "asleep"),))
            ),
            True,
            True,
            id="suspended",
        ),
    ],
)
def test_a_course_is_over_when_nothing_more_comes(
    one: Course, as_wanted: bool, is_over: bool
) -> None:
    assert (one.as_wanted, one.is_over) == (as_wanted, is_over)


def test_steps_are_counted_by_what_they_did() -> None:
    convergence = Convergence()
    convergence.courses[KEY] = Course()
    steps = (
        Outcome(KEY, "apply", "Namespace arena", ""),
        Outcome(KEY, "create", "room arena-1", ""),
        Outcome(KEY, "create", "room arena-2", ""),
        Outcome(KEY, "create", "room arena-3", "", "create room arena-3: quota"),
    )
    convergence.settled(Report("local", "c1", (Settled(CALM, steps),)))
    seen = convergence.courses[KEY]
    assert dict(seen.done) == {("object", "applied"): 1, ("room", "created"): 2}
    assert (seen.failures, seen.error) == (1, "create room arena-3: quota")
    convergence.settled(Report("local", "c1", (Settled(CALM),)))
    assert (seen.failures, seen.error) == (0, "")


@pytest.mark.parametrize(
    ("item", "again"),
    [
        pytest.param(Settled(CALM), True, id="its records have moved on"),
        pytest.param(Settled(CALM, holds=(FOREIGN,)), False, id="held: the same again would come"),
        pytest.param(
            Settled(CALM, (Outcome(KEY, "create", "room a-1", "", "create: no"),)),
            False,
            id="failed: the lane backs off",
        ),
    ],
)
async def test_a_settled_workload_is_planned_again_where_more_may_come(
    item: Settled, again: bool
) -> None:
    convergence = Convergence()
    convergence.courses[KEY] = Course()
    never_run = cast(Lane, SimpleNamespace(server_now=None))
    lane = ClusterLane(never_run, SystemClock(), convergence, leading=lambda: True)
    convergence._lane = lane
    convergence.settled(Report("local", "c1", (item,)))
    lane.wakes.nudge()
    assert await lane.wakes.take() == ({KEY} if again else set())


def test_a_defect_ends_the_wait_and_is_named() -> None:
    convergence = Convergence()
    convergence.courses[KEY] = Course(CALM)
    convergence.crashed("local", KEY, KeyError("x"))
    assert convergence.courses[KEY].is_over
    assert "KeyError" in convergence.courses[KEY].error


def test_who_goes_and_waits_for_what_may_be_made_yet_is_waited_for() -> None:
    """Until it is planned without that wait: by the clock alone it would end a moment too soon."""
    wanted = SimpleNamespace(deleting={KEY})
    view = SimpleNamespace(elapsed=lambda: 159.0)
    lane = SimpleNamespace(unanswered_at={KEY: 100.0}, wanted=wanted, view=view)
    going = Convergence()
    going.courses = {KEY: Course()}
    going._lane = cast(ClusterLane, SimpleNamespace(lane=lane))
    for wake_in_seconds, is_over in ((1.0, False), (None, True)):
        going.planned("local", Plan(KEY, Counts(), wake_in_seconds=wake_in_seconds))
        assert going.courses[KEY].is_over is is_over
    view.elapsed = lambda: 160.0
    going.planned("local", Plan(KEY, Counts(), wake_in_seconds=5.0))
    assert going.courses[KEY].is_over, "who shares its namespace is not waited for"
