"""What stops somebody acts at once, also in a commit whose removals wait for an approval."""

import json
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import brakes, record_codec
from reconciler.core.compile import canonical, workload_from_json
from reconciler.model.holds import HoldKind
from reconciler.model.records import HeldRemoval
from reconciler.model.specs import Source, Workload
from tests.unit.core.making import a_key, accepted

POLICY = {"min": 1, "max": 30, "policy": {"fixedBuffer": {"amount": 3}}}
OFF = {**POLICY, "enabled": False}
SUSPEND = {"reason": "the database moves"}
SOONER, UNTIL = ({"until": f"2027-01-{day}T06:00:00+01:00"} for day in (20, 21))
HELD = HeldRemoval(HoldKind.OVER_BUDGET, "local Scheduler arena/arena to=2", "too many")


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
        ({"suspend": SUSPEND}, {"suspend": True}, {}, ""),
        ({"suspend": True}, {"suspend": UNTIL}, {}, ""),
        ({"suspend": {}}, {"suspend": UNTIL}, {}, ""),
        ({}, {"suspend": {}}, {"suspend": {}}, "it is suspended"),
        ({"suspend": SOONER}, {"suspend": UNTIL}, {"suspend": UNTIL}, "it is suspended"),
        ({"suspend": UNTIL}, {"suspend": SOONER}, {}, ""),
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
    record, head = accepted(spec(**before)), spec(2, **held)
    assert record.accepted is not None
    assert brakes.told(head, record.accepted) == told
    after = brakes.braked(record, HELD, head)
    assert after.accepted is not None
    known, found = (
        json.loads(each.spec_json)["spec"] for each in (record.accepted, after.accepted)
    )
    assert found == known | changed
    assert after.accepted.replicas == record.accepted.replicas
    # The next head is judged beside what was accepted, and pulls its own.
    again = brakes.released(record_codec.load_state(record_codec.dump_state(after), "a record"))
    assert again == replace(record, held=HELD)
    assert brakes.braked(again, HELD, head) == after
    assert brakes.all_released({a_key(): after}, {a_key()}) == {a_key(): again}
    assert brakes.all_released({a_key(): after}, set())[a_key()] is after


def test_where_no_brake_is_pulled_nothing_is_made_anew() -> None:
    records = {a_key(): accepted(spec()), a_key("lobby"): replace(accepted(spec()), held=HELD)}
    assert brakes.all_released(records, records) is records
