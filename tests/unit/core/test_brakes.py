"""What stops somebody acts at once, also in a commit whose removals wait for an approval."""

import json
from typing import Any

import pytest

from reconciler.core import brakes
from reconciler.core.compile import canonical, workload_from_json
from reconciler.model.specs import Source, Workload
from tests.unit.core.making import accepted

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
        ({"autoscaling": OFF}, {}, {}, ""),
        ({"suspend": SUSPEND}, {"suspend": SUSPEND}, {}, ""),
        ({"suspend": SUSPEND}, {"suspend": True}, {"suspend": True}, "it is suspended"),
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
    assert brakes.told(fewer, acting) == (f" (that {told} acts at once)" if told else "")
    # The next look finds them in what is accepted.
    assert brakes.braked(after, fewer) is after
    assert not brakes.told(fewer, after)
