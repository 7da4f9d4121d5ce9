"""What of the objects that differ is applied, what is asked about, and what is told."""

from dataclasses import replace

import pytest

from reconciler.core.drift import Drift, sort_out
from reconciler.model.holds import HoldKind
from reconciler.model.labels import INSTANCE
from reconciler.model.live import LiveObject
from reconciler.model.plan_objects import ApplyObject, DesiredObject
from reconciler.model.records import Applied, StateRecord
from reconciler.model.refs import ObjectRef
from tests.unit.core.making import a_situation, a_workload, live_objects

WARNING = a_workload(drift="warn")
MAPS = ObjectRef("v1", "ConfigMap", "arena", "maps")
BUDGET = ObjectRef("policy/v1", "PodDisruptionBudget", "arena", "arena")
THERE = live_objects(WARNING)[0]


def differing(
    ref: ObjectRef = MAPS, path: str = ".data.a", version: str = "7", digest: str = "new"
) -> ApplyObject:
    return ApplyObject(ref, {}, digest, version, (path,), "it differs")


def sorted_out(
    *proposed: ApplyObject,
    known: str = "new",
    drifted: tuple[str, str] = ("", ""),
    mode: str = "warn",
) -> Drift:
    workload = WARNING if mode == "warn" else a_workload(drift=mode)
    record = StateRecord(applied=(Applied(BUDGET, known), Applied(MAPS, known)))
    situation = replace(a_situation(workload), record=record, drifted=frozenset({drifted}))
    desired = (DesiredObject(MAPS, {}, "new"), DesiredObject(BUDGET, {}, "new"))
    live: dict[ObjectRef, LiveObject] = {ref: replace(THERE, ref=ref) for ref in (MAPS, BUDGET)}
    return sort_out(proposed, situation, workload, desired, live)


@pytest.mark.parametrize(
    ("item", "known"),
    [
        pytest.param(differing(), "old", id="Git changed it"),
        pytest.param(differing(version=""), "new", id="it is missing"),
        pytest.param(differing(BUDGET, ".spec.minAvailable"), "new", id="it protects rooms"),
        pytest.param(differing(path=f".metadata.labels.{INSTANCE}"), "new", id="it marks as ours"),
    ],
)
def test_is_applied_though_drift_is_told(item: ApplyObject, known: str) -> None:
    found = sorted_out(item, known=known, drifted=("new", "7"))

    assert (found.apply, found.suspects, found.holds) == ((item,), (), ())


def test_what_only_seems_to_differ_is_asked_about_first() -> None:
    found = sorted_out(differing(), drifted=("new", "6"))

    assert (found.apply, found.suspects, found.holds) == ((), (differing(),), ())


def test_what_a_dry_run_found_to_differ_is_told() -> None:
    found = sorted_out(differing(), drifted=("new", "7"))

    (hold,) = found.holds
    assert (found.apply, found.suspects, hold.kind) == ((), (), HoldKind.DRIFTED)
    assert "ConfigMap arena/maps in .data.a" in hold.reason


def test_what_is_as_git_says_goes_on_record_and_a_budget_never_does() -> None:
    found = sorted_out(known="old")
    assert found.applied == (Applied(BUDGET, "old"), Applied(MAPS, "new"))
    assert sorted_out(differing(), known="new").applied is None


def test_where_drift_is_healed_everything_is_applied_and_nothing_remembered() -> None:
    found = sorted_out(differing(), drifted=("new", "7"), mode="heal")
    assert found == Drift((differing(),), applied=())
