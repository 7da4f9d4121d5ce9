"""What stops somebody acts at once, also in a commit whose removals wait for an approval."""

import json
from typing import Any

import pytest

from reconciler.core import brakes
from reconciler.core.compile import canonical, workload_from_json
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.specs import Source, Workload
from tests.unit.core.making import a_key, accepted

POLICY = {"min": 1, "max": 30, "policy": {"fixedBuffer": {"amount": 3}}}
OFF = {**POLICY, "enabled": False}
SUSPEND = {"reason": "the database moves"}


def spec(replicas: int = 20, **more: Any) -> Workload:
    container = {"name": "game", "image": "registry.example/game:1"}
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": "arena"},
        "spec": {
            "game": "arena",
            "replicas": replicas,
            "reports": "none",
            "template": {"spec": {"containers": [container]}},
            **more,
        },
    }
    return workload_from_json(canonical(document), Source("schedulers/arena.yaml", 1))


@pytest.mark.parametrize(
    ("before", "held", "changed", "told"),
    [
        ({}, {}, {}, ""),
        ({"autoscaling": POLICY}, {"autoscaling": POLICY}, {}, ""),
        ({"autoscaling": POLICY}, {"autoscaling": OFF}, {"autoscaling": OFF}, "its policy is off"),
        ({"autoscaling": POLICY}, {}, {"autoscaling": OFF}, "its policy is off"),
        # So again at the next look, which has the one that was switched off as accepted.
        ({"autoscaling": OFF}, {}, {}, "its policy is off"),
        ({}, {"autoscaling": POLICY}, {}, ""),
        ({}, {"suspend": SUSPEND}, {"suspend": SUSPEND}, "it is suspended"),
        (
            {"autoscaling": POLICY},
            {"suspend": True},
            {"autoscaling": OFF, "suspend": True},
            "it is suspended and its policy is off",
        ),
    ],
)
def test_what_acts_of_a_spec_that_is_held(
    before: dict[str, Any], held: dict[str, Any], changed: dict[str, Any], told: str
) -> None:
    acting, fewer = accepted(spec(**before)).accepted, spec(2, **held)
    assert acting is not None
    after = brakes.braked(acting, fewer)
    known, found = json.loads(acting.spec_json)["spec"], json.loads(after.spec_json)["spec"]
    assert found == known | changed
    assert after.replicas == acting.replicas
    said = brakes.told(Hold(HoldKind.OVER_BUDGET, a_key(), "too many"), fewer, acting).reason
    assert said == "too many" + (f" (that {told} acts at once)" if told else "")
