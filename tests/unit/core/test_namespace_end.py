"""A namespace that does not end: what keeps it is told, without numbers, and stops nothing."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.instants import told
from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Plan, Situation
from reconciler.model.refs import Json
from reconciler.service.live_records import object_of
from tests.unit.core.making import NOW, a_situation, a_workload, pods

ARENA = a_workload(replicas=2)
SCHEMAS = Schemas({})
DELETED_AT = "2027-01-15T07:59:00Z"
"""A minute before NOW."""
REMAIN = {
    "type": "NamespaceFinalizersRemaining",
    "status": "True",
    "message": "Some content in the namespace has finalizers remaining: "
    "example.com/slow in 3 resource instances, example.com/late in 1 resource instances",
}
LEFT = {
    "type": "NamespaceContentRemaining",
    "status": "True",
    "message": "Some resources are remaining: gates.example.com has 4 resource instances",
}
DONE = {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "all well"}


def ending(workload: Any = ARENA, at: str = DELETED_AT, **changes: Any) -> Situation:
    there = a_situation(ARENA, pods(2))
    (space,) = (item for item in there.live.objects if item.ref.kind == "Namespace")
    metadata = {**space.body["metadata"], "deletionTimestamp": at, "uid": "space"}
    body: Json = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {**metadata, "finalizers": changes.get("finalizers", [])},
        "status": {"conditions": changes.get("conditions", [])},
    }
    objects = (
        *(item for item in there.live.objects if item.ref.kind != "Namespace"),
        replace(object_of(body), instance="main"),
    )
    there = replace(there, live=replace(there.live, objects=objects))
    return there if workload else replace(there, desired=None, deleting=True)


def stuck(made: Plan) -> list[Hold]:
    return [hold for hold in made.holds if hold.kind is HoldKind.STUCK]


@pytest.mark.parametrize("workload", [ARENA, None], ids=["wanted", "left Git"])
def test_what_keeps_it_is_named(workload: Any) -> None:
    there = ending(workload, finalizers=["example.com/billing"], conditions=[REMAIN, LEFT, DONE])
    (hold,) = stuck(plan(there, SCHEMAS, NOW))
    assert hold.reason.startswith(
        f"namespace arena is being deleted since {told(NOW - 60)} and does not end: it has the "
        'finalizer "example.com/billing"; Some content in the namespace has finalizers remaining: '
        "example.com/slow, example.com/late; Some resources are remaining: gates.example.com. "
    )
    assert ("is made anew when it is gone" in hold.reason) is (workload is not None)


def test_fewer_that_are_left_are_no_other_reason() -> None:
    fewer = {**REMAIN, "message": REMAIN["message"].replace("in 3", "in 2")}
    one, other = (stuck(plan(ending(conditions=[each]), SCHEMAS, NOW)) for each in (REMAIN, fewer))
    assert one == other


def test_an_ordinary_end_is_not_told_yet() -> None:
    made = plan(ending(at="2027-01-15T07:59:50Z", finalizers=["a.example/b"]), SCHEMAS, NOW)
    assert not stuck(made)
    assert made.wake_in_seconds == 20.0


@pytest.mark.parametrize(
    ("ahead", "is_told"),
    [
        pytest.param("2027-01-15T08:00:30Z", False, id="a cluster's clock that is a little ahead"),
        pytest.param("2027-01-15T08:01:00Z", False, id="by a minute"),
        pytest.param("2027-01-15T09:00:00Z", True, id="one by which nothing can be said"),
    ],
)
def test_an_end_that_is_dated_ahead_has_only_begun(ahead: str, is_told: bool) -> None:
    made = plan(ending(at=ahead, finalizers=["a.example/b"]), SCHEMAS, NOW)
    assert bool(stuck(made)) is is_told
    assert (made.wake_in_seconds is None) is is_told


def test_what_strangers_wrote_there_is_short_plain_and_masked() -> None:
    said = {**LEFT, "message": "password=hunter2hunter2 \x1b[31m" + "x" * 5000}
    there = ending(finalizers=["\x1b[31m" * 50] * 9, conditions=[said])
    (hold,) = stuck(plan(there, SCHEMAS, NOW))
    assert hold.reason.isprintable()
    assert len(hold.reason) < 900
    assert "hunter2" not in hold.reason


def test_it_changes_nothing_of_what_is_done() -> None:
    there = ending(finalizers=["a.example/b"])
    before, after = (plan(there, SCHEMAS, now) for now in (NOW - 59, NOW))
    assert stuck(after)
    assert replace(before, wake_in_seconds=None) == replace(after, holds=())
