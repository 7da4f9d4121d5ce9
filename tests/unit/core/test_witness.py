"""No room of a workload is heard: which of them makes place for one whose word tells."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from reconciler.model.changes import Cause
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod, Seen
from reconciler.model.plans import Plan
from reconciler.model.rooms import Ears, Heard, Why
from reconciler.model.specs import Departure, FailurePolicy, Timeouts, Workload
from tests.unit.core.leaving import (
    BUSY,
    EMPTY,
    KEEP,
    busy,
    draining,
    idle,
    plan,
    removed,
    reporting,
    told,
)
from tests.unit.core.making import NOW, a_heard, a_room

CUT_OFF = "no room of it is heard any more"
SILENT = a_heard(silent=True)


def cut_off(workload: Workload, there: Mapping[LivePod, Heard | None]) -> Plan:
    heard = {pod.uid: what for pod, what in there.items() if what is not None}
    return plan(workload, there, ears=Ears(heard, since=NOW - 1000, deaf_here=CUT_OFF))


def test_where_no_room_of_a_workload_is_heard_one_is_made_beside_them_and_none_goes() -> None:
    made = cut_off(reporting(replicas=2), {idle(0): SILENT, idle(1): SILENT})
    assert told(made) == [(0, "tell", Why.FAILED)]
    assert not made.removals
    assert [(hold.kind, hold.reason) for hold in made.holds] == [(HoldKind.DEAF, CUT_OFF)]
    leaving = idle(0, leaving=Why.FAILED, seen=Seen(left=NOW))
    then = cut_off(reporting(replicas=2), {leaving: SILENT, idle(1): SILENT})
    assert (then.marks, then.removals) == ((), ())
    assert then.creates is not None
    assert len(then.creates.seats) == 1


@pytest.mark.parametrize(
    "third",
    [
        pytest.param(a_room(2, guard=KEEP), id="it was never heard"),
        pytest.param(a_room(2, ready=False, guard=KEEP), id="it starts"),
    ],
)
def test_who_may_still_speak_for_the_others_is_waited_for(third: LivePod) -> None:
    leaving = idle(0, leaving=Why.FAILED, seen=Seen(left=NOW))
    for first in (leaving, busy(0)):
        made = cut_off(reporting(replicas=3), {first: SILENT, idle(1): SILENT, third: None})
        assert "tell" not in [item.verb for item in made.marks]
        assert not made.removals


def test_a_room_that_hung_goes_once_the_one_made_beside_it_is_heard() -> None:
    leaving = idle(0, leaving=Why.FAILED, seen=Seen(left=NOW))
    workload = reporting(replicas=1, failure=FailurePolicy("delete"))
    waits = plan(workload, {leaving: EMPTY, idle(1): EMPTY})
    assert told(waits) == [(0, "drain", Why.FAILED)], "it is heard again: it goes when empty"
    there = {leaving: SILENT, idle(1): EMPTY}
    assert told(plan(workload, there)) == [(0, "drain", Why.FAILED)]
    over = {draining(0, Why.FAILED): SILENT, idle(1): EMPTY}
    assert removed(plan(workload, over)) == [(0, Cause.HEALING)]


@pytest.mark.parametrize(
    ("timeouts", "departure", "says"),
    [
        pytest.param(Timeouts(), Departure(), [], id="it stays for ever"),
        pytest.param(
            Timeouts(silent_busy_seconds=60.0),
            Departure(),
            [(0, "tell", Why.FAILED)],
            id="it would be given up some day",
        ),
        pytest.param(
            Timeouts(silent_busy_seconds=60.0),
            Departure(drain_deadline_seconds=60.0),
            [],
            id="to be told would begin its deadline",
        ),
    ],
)
def test_a_full_room_of_a_workload_that_is_not_heard_stays(
    timeouts: Timeouts, departure: Departure, says: list[tuple[int, str, Why]]
) -> None:
    full = replace(BUSY, silent=True, at=NOW - 900)
    workload = reporting(replicas=1, timeouts=timeouts, departure=departure)
    made = cut_off(workload, {busy(0): full})
    assert (told(made), made.removals) == (says, ())


def test_no_room_is_made_beside_those_that_are_more_than_wanted() -> None:
    made = cut_off(reporting(replicas=0), {idle(0): SILENT})
    assert (told(made), made.removals, made.creates) == ([], (), None)
