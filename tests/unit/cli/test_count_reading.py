"""What `explain` decides from: the record, without what the loop alone remembers."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from reconciler import registry
from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.cli.count_reading import read_story, without_memory
from reconciler.cli.explain_count import CountStory, count_json, count_lines
from reconciler.core import deciding
from reconciler.core.deciding import Decided
from reconciler.model.decisions import Demand, Past
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.outbox import Outbox
from reconciler.model.plans import Desired
from reconciler.model.records import Accepted, Condition, StateRecord
from reconciler.model.scaling import Activity, Look
from reconciler.model.specs import Budgets, WriteBack
from reconciler.service.lookout import Sighting
from tests.unit.core.making import NOW, autoscaling
from tests.unit.core.policies.looks import a_load
from tests.unit.service_faces.hall import Hall


def story_of(**changes: Any) -> CountStory | None:
    """Return what `explain` reads of a workload without rooms, with five in Git."""
    hall, conditions = Hall(), changes.pop("conditions", ())
    scaling, seen = changes.pop("scaling", Scaling()), changes.pop("seen", None)
    workload = replace(hall.workload, **{"autoscaling": autoscaling(2, 60), **changes})
    accepted = Accepted("{}", 5, "c" * 40, "arena.yaml", 2)
    desired = Desired(workload, (), "", {}, "")
    record = StateRecord(accepted=accepted, conditions=conditions, scaling=scaling)
    situation = replace(hall.lane.situation(hall.key), desired=desired, record=record)
    here = MemoryRepository(MemoryHost())
    return asyncio.run(read_story(hall.lane, situation, here, seen, Budgets(), NOW))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({}, "", id="one that acts"),
        pytest.param(
            {"autoscaling": replace(autoscaling(2, 60), enabled=False)},
            "autoscaling.enabled is false",
            id="switched off: its advice is shown",
        ),
        pytest.param({"suspend": True}, "suspended by", id="suspended"),
    ],
)
def test_what_a_policy_would_do_is_shown_and_whether_it_may(
    changes: dict[str, Any], why: str
) -> None:
    story = story_of(**changes)
    assert story is not None
    assert story.decision.steps
    assert story.off.startswith(why)
    assert bool(story.off) is bool(why)


def test_of_a_suspension_the_line_is_told_that_the_loop_told_and_no_other() -> None:
    told = "suspended by schedulers/arena.yaml:8: nothing is written"
    conditions = (Condition("Stalled", True, HoldKind.SUSPENDED, told, NOW),)
    story, alone = story_of(suspend=True, conditions=conditions), story_of(suspend=True)
    assert story is not None
    assert alone is not None
    assert story.off == f"{told}, and no policy decides"
    assert alone.off == told.replace("by ", "by the spec at ").replace(":8", ":1") + (
        ", and no policy decides"
    )


def test_outside_a_checkout_no_line_is_told_as_that_of_the_number() -> None:
    story = story_of()
    assert story is not None
    assert next(count_lines(story, NOW)) == (
        "in Git",
        "5, for the spec at arena.yaml:2: the line of the number itself is told in a checkout of "
        "its repository",
    )
    assert count_json(story, NOW)["source"] is None
    apart = replace(story, back=WriteBack(branch="counts"))
    assert next(count_lines(apart, NOW))[1].endswith("with its branch counts")


def test_a_workload_without_a_policy_has_no_story() -> None:
    assert story_of(autoscaling=None) is None


BUSY = Scaling(past=Past(demand=Demand(NOW - 60, serving=9, players=9)))
"""A minute ago nine rooms served players, and now three do: six matches ended."""


def explained(scaling: Scaling) -> Decided:
    load = a_load(ready=11, occupied=3, replicas=14)
    look = Look(NOW, autoscaling(2, 60).bounds, load, Activity(since=NOW))
    return deciding.decide(autoscaling(2, 60), 14, scaling, look, registry.policies(), Budgets())


def test_matches_that_ended_unseen_are_no_reason_to_doubt_the_rooms() -> None:
    assert "did not end" in explained(BUSY).decision.hold, "nobody told of their ends"
    assert explained(without_memory(BUSY)).decision.hold == ""


@pytest.mark.parametrize("ahead", [-3600.0, 3600.0])
def test_what_was_decided_by_a_wrong_clock_is_told_by_that_of_the_api_server(ahead: float) -> None:
    step = Step(NOW + ahead - 20, 5, 8, "fixedBuffer", "5 more")
    outbox = Outbox("ab" * 20, NOW - 30, pushes=1)
    seen = Sighting("a", NOW - 2, 15.0, NOW - 2, 0.0, "", outbox, ahead_seconds=ahead)
    scaling = Scaling(intent=Intent(5, 8, (step,)), last=step)
    story = story_of(seen=seen, scaling=scaling)
    assert story is not None
    assert list(count_lines(story, NOW))[1:3] == [
        ("decided", "8 since 20 s, by fixedBuffer: 5 more"),
        ("", "to be committed in 40 s, with what is decided until then"),
    ]
