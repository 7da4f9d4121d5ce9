"""Many rooms that fail at once: removals wait, and healing brings that to an end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod, Phase, Seen
from reconciler.model.plans import Plan
from reconciler.model.rooms import NO_EARS, Ears, Health, Heard, Mark, Why
from reconciler.model.specs import FailurePolicy, Workload
from tests.unit.core.making import NOW, REPORTS, a_heard, a_room, a_situation, a_workload

SCHEMAS = Schemas({})
WANTED = 10
FAILED = a_heard(health=Health.FAILED, periodic=False)
WELL = a_heard(confirmed_at=NOW - 5)
LET_GO = ("true", "false")
HELD = [HoldKind.FAILING]


def workload(replicas: int = WANTED, action: Literal["remove", "delete"] = "delete") -> Workload:
    return a_workload(
        replicas=replicas, reports="required", revision=REPORTS, failure=FailurePolicy(action, 100)
    )


def plan(wanted: Workload, there: Mapping[LivePod, Heard | None], complete: bool = True) -> Plan:
    heard = {pod.uid: what for pod, what in there.items() if what is not None}
    ears = Ears(heard, since=NOW - 1000)
    situation = a_situation(wanted, list(there), ears=ears, complete=complete)
    return planning.plan(situation, SCHEMAS, NOW)


def failed(number: int) -> dict[LivePod, Heard | None]:
    """Rooms that run and say themselves that they failed."""
    return dict.fromkeys((a_room(n, mark=Mark.IDLE, guard=LET_GO) for n in range(number)), FAILED)


def others(number: int, **changes: object) -> dict[LivePod, Heard | None]:
    """Those that came in their place."""
    pods = (
        a_room(100 + n, **{"mark": Mark.IDLE, "guard": LET_GO, **changes}) for n in range(number)
    )
    return dict.fromkeys(pods, WELL)


def kinds(made: Plan) -> list[HoldKind]:
    return [hold.kind for hold in made.holds]


def going(made: Plan) -> int:
    """How many failed rooms are brought on their way."""
    return sum(mark.pod.ordinal < 100 and mark.mark is not Mark.IDLE for mark in made.marks)


def test_who_failed_and_runs_waits_for_who_takes_its_place() -> None:
    made = plan(workload(), failed(10))
    assert (kinds(made), going(made)) == (HELD, 0)
    assert made.creates is not None
    assert len(made.creates.seats) == 10


@pytest.mark.parametrize(
    ("up", "gone"),
    [(0, 0), (1, 1), (9, 9), (10, 10)],
)
def test_as_many_go_as_others_stand_in_their_place(up: int, gone: int) -> None:
    starting = {"phase": Phase.PENDING, "ready": False, "mark": Mark.NONE}
    there = {**failed(10), **others(up)}
    there.update(dict.fromkeys(a_room(200 + n, **starting) for n in range(10 - up)))
    made = plan(workload(), there)
    assert (kinds(made), going(made)) == (HELD, gone)
    assert made.creates is None


def test_who_failed_makes_place_where_no_node_takes_another_one() -> None:
    nowhere = {"phase": Phase.PENDING, "ready": False, "node": "", "unschedulable": "0/4 nodes"}
    there = failed(10) | dict.fromkeys(a_room(200 + n, seen=Seen(), **nowhere) for n in range(10))
    assert going(plan(workload(), there)) == 10


def test_the_freeze_ends_with_the_last_of_them() -> None:
    marked = {
        replace(pod, mark=Mark.DRAINING, seen=Seen(draining=NOW - 9)): what
        for pod, what in failed(10).items()
    }
    made = plan(workload(), {**marked, **others(10)})
    assert len(made.removals) == 10
    assert kinds(plan(workload(), others(10))) == []


def test_a_scale_in_waits_all_the_same() -> None:
    made = plan(workload(replicas=4), {**failed(5), **others(6)})
    assert kinds(made) == HELD
    assert {mark.pod.ordinal < 100 for mark in made.marks} == {True}
    assert not made.removals


def test_who_is_kept_for_a_post_mortem_is_kept_once_another_stands_there() -> None:
    made = plan(workload(action="remove"), {**failed(10), **others(10)})
    assert [mark.mark for mark in made.marks] == [Mark.FAILED] * 10


def test_nobody_who_runs_goes_while_the_cluster_is_not_read_completely() -> None:
    made = plan(workload(), {**failed(10), **others(10)}, complete=False)
    assert going(made) == 0


@pytest.mark.parametrize(
    ("kinds", "flag", "version"),
    [
        pytest.param(("ResourceQuota",), True, False, id="one that an operator allows"),
        pytest.param(("PodDisruptionBudget",), False, True, id="one of ours"),
        pytest.param(("PodDisruptionBudget", "Role"), True, True, id="one of each"),
    ],
)
def test_a_kind_that_is_missing_is_laid_to_the_flag_only_where_that_names_it(
    kinds: tuple[str, ...], flag: bool, version: bool
) -> None:
    there = replace(a_situation(a_workload(replicas=0), []), unserved=kinds)
    (hold,) = (
        each for each in planning.plan(there, SCHEMAS, NOW).holds if each.kind is HoldKind.UNSERVED
    )
    assert hold.reason.startswith(f"the API server has no {', '.join(kinds)}: nothing is deleted")
    assert ("--allow-kinds" in hold.reason) is flag
    assert ("--runtime-config" in hold.reason) is version


MUTE = workload(1)
FIRST_WORD_SECONDS = MUTE.timeouts.initialize_seconds + MUTE.timeouts.ping_seconds


def mute(seconds: float, ears: Ears, **room: Any) -> Plan:
    """Plan for a room that is up for so long, and never spoke."""
    seen = Seen(starting=NOW - seconds)
    pod = a_room(0, mark=Mark.NONE, revision=REPORTS, seen=seen, node="node", **room)
    return planning.plan(a_situation(MUTE, [pod], ears=ears), SCHEMAS, NOW)


@pytest.mark.parametrize("leaving", [Why.STAYS, Why.ROLLOUT])
def test_a_room_that_never_spoke_is_told_of_and_stays(leaving: Why) -> None:
    late = mute(FIRST_WORD_SECONDS + 1, Ears(since=NOW - 1000), leaving=leaving)
    (hold,) = late.holds
    assert hold.kind is HoldKind.NEVER_HEARD
    assert f"({FIRST_WORD_SECONDS:.0f} s) and were never heard: they may be full" in hold.reason
    assert not late.removals


def test_it_has_its_time_to_say_a_first_word_and_so_has_who_begins_to_listen() -> None:
    young = mute(FIRST_WORD_SECONDS - 7, Ears(since=NOW - 1000))
    assert young.holds == ()
    assert young.wake_in_seconds == pytest.approx(7.0)
    begun = mute(1000.0, Ears(since=NOW - FIRST_WORD_SECONDS + 9))
    assert begun.holds == ()
    assert begun.wake_in_seconds == pytest.approx(9.0)


def test_who_listens_anew_for_another_reason_goes_on_telling_of_it() -> None:
    ears = Ears(since=NOW - 1000, again_on={"": NOW - 1})
    assert [hold.kind for hold in mute(1000.0, ears).holds] == [HoldKind.NEVER_HEARD]


@pytest.mark.parametrize(
    "ears",
    [
        pytest.param(NO_EARS, id="nobody listens"),
        pytest.param(Ears(since=NOW - 1000, deaf="6 of 6 are silent"), id="nobody is heard"),
        pytest.param(Ears(since=NOW - 1000, deaf_here="none is heard"), id="none of them is"),
        pytest.param(Ears(since=NOW - 1000, deaf_on={"node": "cut off"}), id="none of its node"),
    ],
)
def test_where_it_is_rather_we_who_do_not_hear_that_alone_is_told(ears: Ears) -> None:
    assert HoldKind.NEVER_HEARD not in [hold.kind for hold in mute(1000.0, ears).holds]
