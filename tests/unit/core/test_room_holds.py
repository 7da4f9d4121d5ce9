"""Many rooms that fail at once: removals wait, and healing brings that to an end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import pytest

from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod, Phase, Seen
from reconciler.model.plans import Plan
from reconciler.model.rooms import Ears, Health, Heard, Mark
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
