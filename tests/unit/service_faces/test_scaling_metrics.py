"""What Prometheus reads of scaling: what waits, what was decided, and what became of commits."""

import asyncio
import json
from dataclasses import replace

import pytest

from reconciler.loop.landing import Landed
from reconciler.model.decisions import GIVEN_UP, NO_PAST, Decision
from reconciler.model.edits import Edit, Refusal
from reconciler.model.errors import Denied, RecordChanged, Unavailable, Unreadable
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.pauses import Pause
from reconciler.model.scaling import Direction
from tests.unit.service_faces.hall import Hall

ALIAS = "the number is an alias"


def read(hall: Hall, name: str, **labels: str) -> float | None:
    return hall.registry.get_sample_value(f"gamekeeper_{name}", labels)


def refusal(hall: Hall, reason: str = ALIAS) -> Landed:
    return Landed(refused=(Refusal(Edit(hall.key, ("spec", "replicas"), 5), 7, reason),))


def decision(went: Direction | None, reason: str = "why") -> Decision:
    return Decision(5, reason, replace(NO_PAST, went=went))


async def keep(hall: Hall, scaling: Scaling) -> None:
    await hall.lane.store.change_state(hall.key, lambda record: replace(record, scaling=scaling))


def test_what_waits_is_shown_with_the_age_of_the_oldest_while_we_lead() -> None:
    hall = Hall()
    hall.world.create(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gamekeeper"}},
    )
    now = hall.world.time.now()
    steps = (Step(now - 40, 5, 8, "p", "why"), Step(now - 3, 8, 9, "p", "why"))
    asyncio.run(keep(hall, Scaling(intent=Intent(5, 9, steps))))
    hall.scaling.sweep()
    assert (read(hall, "intents"), read(hall, "intent_age_seconds")) == (1, 40.0)
    asyncio.run(keep(hall, Scaling(intent=Intent(8, 9, steps, told_at=now - 40))))
    hall.scaling.sweep()
    assert read(hall, "intent_age_seconds") == 3.0, "what a commit told waits no more"
    hall.leads = False
    hall.scaling.sweep()
    assert (read(hall, "intents"), read(hall, "intent_age_seconds")) == (0, 0.0)


def test_where_git_is_not_written_nothing_is_on_its_way_there() -> None:
    hall = Hall()
    hall.world.create(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gamekeeper"}},
    )
    step = Step(hall.world.time.now() - 40, 5, 8, "p", "why")
    asyncio.run(keep(hall, Scaling(intent=Intent(5, 8, (step,)))))
    config = {"apiVersion": "gamekeeper.dev/v1", "kind": "Config"}
    written = json.dumps(config | {"spec": {"writeBack": {"mode": "off"}}})
    asyncio.run(
        hall.lane.store.change_repository(lambda newest: replace(newest, config_json=written))
    )
    hall.scaling.sweep()
    assert (read(hall, "intents"), read(hall, "intent_age_seconds")) == (0, 0.0)


def test_policies_that_stand_still_count_by_reason() -> None:
    hall = Hall()
    hall.lane.pauses[hall.key] = Pause("HumanHold", "by hand", 0.0, 0.0)
    hall.scaling.sweep()
    assert read(hall, "policies_paused", reason="HumanHold") == 1
    assert read(hall, "policies_paused", reason="PolicyHold") == 0
    hall.lane.pauses[hall.key] = None
    hall.scaling.sweep()
    assert read(hall, "policies_paused", reason="HumanHold") == 0


@pytest.mark.parametrize(
    ("found", "way"),
    [
        pytest.param(decision("up"), "up", id="more rooms"),
        pytest.param(decision("down"), "down", id="fewer"),
        pytest.param(decision("up", GIVEN_UP), "given-up", id="back to what Git says"),
    ],
)
def test_decisions_count_by_direction(found: Decision, way: str) -> None:
    hall = Hall()
    hall.scaling.decided(hall.key, found)
    for direction in ("up", "down", "given-up"):
        assert read(hall, "decisions_total", direction=direction) == (direction == way)


def test_how_soon_counts_follow_is_a_histogram_by_stage() -> None:
    hall = Hall()
    assert read(hall, "decision_seconds_count", stage="requested") == 0, "there from the start"
    for seconds in (0.04, 0.2, 3.0):
        hall.scaling.reacted("requested", seconds)
    assert read(hall, "decision_seconds_bucket", stage="requested", le="0.25") == 2
    assert read(hall, "decision_seconds_count", stage="requested") == 3
    assert read(hall, "decision_seconds_sum", stage="requested") == pytest.approx(3.24)
    assert read(hall, "decision_seconds_count", stage="decided") == 0


def test_commits_races_and_failures_are_counted() -> None:
    hall = Hall()
    hall.scaling.landed(Landed("ab" * 20))
    hall.scaling.raced()
    hall.scaling.unlanded(Unavailable("down"))
    hall.scaling.unlanded(Denied("protected"))
    hall.scaling.unlanded(Denied("protected"))
    hall.scaling.unlanded(Unreadable("a record is damaged"))
    hall.scaling.unrecorded(RecordChanged("by a hand"))
    assert (read(hall, "commits_total"), read(hall, "commit_races_total")) == (1, 1)
    assert read(hall, "commits_unrecorded_total") == 1
    happened = {"Unavailable": 1, "Denied": 2, "Unreadable": 1}
    before_it_happens = {"Unanswered": 0, "Misconfigured": 0, "Conflict": 0, "RecordChanged": 0}
    for reason, count in (happened | before_it_happens).items():
        assert read(hall, "commit_failures_total", reason=reason) == count, reason


def test_an_edit_that_is_refused_again_and_again_counts_once_for_each_reason() -> None:
    hall = Hall()
    for landed in (refusal(hall), refusal(hall), refusal(hall, "another"), Landed("ab" * 20)):
        hall.scaling.landed(landed)
    assert read(hall, "edits_refused_total") == 2


def test_no_label_names_a_workload() -> None:
    hall = Hall()
    hall.scaling.decided(hall.key, decision("up"))
    hall.scaling.landed(refusal(hall))
    samples = [sample for family in hall.scaling.collect() for sample in family.samples]
    assert {label for sample in samples for label in sample.labels} == {
        "reason",
        "direction",
        "stage",
        "le",
    }
