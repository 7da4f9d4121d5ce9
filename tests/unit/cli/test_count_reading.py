"""What `explain` decides from: the record, without what the loop alone remembers."""

from reconciler import registry
from reconciler.cli.count_reading import without_memory
from reconciler.core import deciding
from reconciler.core.deciding import Decided
from reconciler.model.decisions import Demand, Past
from reconciler.model.intents import Scaling
from reconciler.model.scaling import Activity, Look
from reconciler.model.specs import Budgets
from tests.unit.core.making import NOW, autoscaling
from tests.unit.core.policies.looks import a_load

BUSY = Scaling(past=Past(demand=Demand(NOW - 60, serving=9, players=9)))
"""A minute ago nine rooms served players, and now three do: six matches ended."""


def explained(scaling: Scaling) -> Decided:
    load = a_load(ready=11, occupied=3, replicas=14)
    look = Look(NOW, autoscaling(2, 60).bounds, load, Activity(since=NOW))
    return deciding.decide(autoscaling(2, 60), 14, scaling, look, registry.policies(), Budgets())


def test_matches_that_ended_unseen_are_no_reason_to_doubt_the_rooms() -> None:
    assert "did not end" in explained(BUSY).decision.hold, "nobody told of their ends"
    assert explained(without_memory(BUSY)).decision.hold == ""
