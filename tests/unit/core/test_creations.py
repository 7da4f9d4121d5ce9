"""Which rooms are made now, and by whose word."""

from dataclasses import replace

import pytest

from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.specs import Source
from tests.unit.core.making import NOW, a_situation, a_workload, accepted


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param(7, "schedulers/arena.yaml:7 says", id="the head's"),
        pytest.param(1, "Git said", id="on record: the newest head is held"),
    ],
)
def test_what_git_says_beside_a_policy_is_told_with_its_line_where_that_is_known(
    line: int, says: str
) -> None:
    workload = a_workload(replicas=8, replicas_source=Source("schedulers/arena.yaml", line))
    scaling = Scaling(intent=Intent(5, 8, (Step(NOW, 5, 8, "buffer", "3 busy"),)))
    record = replace(accepted(workload), scaling=scaling)
    made = planning.plan(a_situation(workload, record=record), Schemas({}), NOW)
    assert made.creates is not None
    assert made.creates.reason == f"8 wanted by buffer (3 busy), where {says} 5, 0 there"
