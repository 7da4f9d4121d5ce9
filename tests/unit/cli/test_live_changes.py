"""What `diff --live` prints of counts that were decided, and of rooms that nobody hears there."""

import json

import pytest

from reconciler.cli.live_changes import LiveChange, print_live
from reconciler.core.plan import plan as planned
from reconciler.kube.schemas import Schemas
from reconciler.loop.preview import Preview, asked_by_git
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.intents import Intent, Step
from reconciler.model.plans import Plan
from reconciler.model.rooms import Mark
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import NOW, REPORTS, a_key, a_room, a_situation, a_workload

STEPS = Step(1.0, 3, 5, "buffer", "5 busy"), Step(9.0, 5, 3, "buffer", "3 busy")


def printed(intent: Intent, output: str) -> str:
    screen = console()
    print_live(screen, LiveChange("c" * 40, (), (), (), {}, {a_key(): intent}), output, "")
    return text_of(screen.out)


def test_a_count_that_git_has_is_not_on_its_way_there() -> None:
    """It is kept as long as a push of another one may still arrive."""
    back, waits = Intent(3, 3, STEPS), Intent(3, 5, STEPS[:1])
    assert printed(back, "text") == "commit cccccccccccc\nNothing to do.\n"
    assert printed(back, "github") == ""
    assert json.loads(printed(back, "json"))["intents"] == []
    assert "decided: Scheduler/arena 3 -> 5, on its way into Git (buffer" in printed(waits, "text")


def plan_of(idle: int, busy: int, wanted: int) -> Plan:
    """Plan for rooms that report, as who hears none of them does."""
    workload = a_workload(replicas=wanted, reports="required", revision=REPORTS)
    marks = [Mark.IDLE] * idle + [Mark.BUSY] * busy
    rooms = [a_room(number, mark=mark, revision=REPORTS) for number, mark in enumerate(marks)]
    made = planned(a_situation(workload, rooms), Schemas({}), NOW)
    return Plan(a_key(), counts=made.counts)


@pytest.mark.parametrize(
    ("idle", "busy", "wanted", "spare"),
    [(5, 0, 2, 3), (2, 3, 2, 2), (0, 5, 2, 0), (1, 4, 2, 1), (2, 0, 2, 0), (1, 0, 3, 0)],
)
def test_rooms_beyond_the_count_that_only_the_loop_hears_are_told_of(
    idle: int, busy: int, wanted: int, spare: int
) -> None:
    item = Preview(plan_of(idle, busy, wanted), (), ())
    assert (item.spare, item.moving) == (spare, spare > 0)
    screen = console()
    print_live(screen, LiveChange("c" * 40, (item,), (), (), {}), "text", "")
    told = f"{spare} room{'s' * (spare > 1)} more than wanted: `gamekeeper run` hears them"
    assert (told in text_of(screen.out)) == (spare > 0)
    assert ("Nothing to do." in text_of(screen.out)) == (spare == 0)


def test_nobody_is_told_of_those_of_a_workload_that_is_suspended_or_of_a_decided_count() -> None:
    plan = plan_of(5, 0, 2)
    suspended = Hold(HoldKind.SUSPENDED, a_key(), "for now")
    assert not Preview(plan, (), (suspended,)).moving
    assert not asked_by_git(Preview(plan, (), ()), 6).moving, "Git asks for six"
    foreign = Hold(HoldKind.FOREIGN, a_key(), "a stranger's")
    assert Preview(plan, (), (foreign,)).spare == 0, "no room goes"


def test_programs_and_pull_requests_are_told_of_them_too() -> None:
    change = LiveChange("c" * 40, (Preview(plan_of(5, 0, 2), (), ()),), (), (), {})
    told = {}
    for output in ("json", "github"):
        screen = console()
        print_live(screen, change, output, "")
        told[output] = text_of(screen.out)
    assert json.loads(told["json"])["workloads"][0]["spare"] == 3
    assert "3 rooms more than wanted: `gamekeeper run` hears them" in told["github"]
