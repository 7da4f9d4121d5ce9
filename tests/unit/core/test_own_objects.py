"""A repository adds to the objects of ours what we leave open, and takes nothing of them away."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.object_check import check_object, completed
from reconciler.core.own_objects import ADDED, laid_under
from reconciler.model.additional import OWN
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Permissions
from tests.unit.core.reading import kit

ARENA = WorkloadKey("Scheduler", "arena", "arena")
ALL = Permissions(kinds=tuple(OWN))
BUDGET: Json = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "arena", "namespace": "arena", "labels": {"gamekeeper.dev/kind": "x"}},
    "spec": {"minAvailable": 3, "selector": {"matchLabels": {"a": "b"}}},
}


def body(kind: str, *, name: str = "arena", more: Json | None = None, **metadata: Any) -> Json:
    head = {"apiVersion": OWN[kind], "kind": kind, "metadata": {"name": name, **metadata}}
    return {**head, **(more or {})}


def told(written: Json, key: WorkloadKey = ARENA) -> list[str]:
    found = check_object(written, key, ALL, kit(), "1.36")
    return [f"{'.'.join(map(str, each.path))}: {each.message}" for each in found]


def test_every_kind_of_ours_can_be_added_to() -> None:
    assert ADDED.keys() == OWN.keys()
    for kind in OWN:
        assert not told(body(kind, labels={"team": "blue"}, annotations={"a.example/b": "c"}))
    assert not told(body("ServiceAccount", more={"imagePullSecrets": [{"name": "registry"}]}))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        pytest.param(
            body("PodDisruptionBudget", more={"spec": {"minAvailable": 0}}),
            "spec: is Gamekeeper's own",
            id="a budget that keeps no room",
        ),
        pytest.param(
            body(
                "PodDisruptionBudget",
                more={"spec": {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}},
            ),
            "spec: is Gamekeeper's own",
            id="which rooms it keeps",
        ),
        pytest.param(
            body("PodDisruptionBudget", name="lobby"), 'name: must be "arena"', id="another budget"
        ),
        pytest.param(
            body("ServiceAccount", more={"automountServiceAccountToken": True}),
            "is Gamekeeper's own: only labels, annotations, imagePullSecrets may",
            id="a token for every room",
        ),
        pytest.param(
            body("ServiceAccount", more={"secrets": [{"name": "a"}]}),
            "secrets: is Gamekeeper's own",
            id="secrets that rooms may mount",
        ),
        pytest.param(
            body("Namespace", more={"spec": {"finalizers": ["a.b/c"]}}),
            "spec: is Gamekeeper's own",
            id="a finalizer",
        ),
        pytest.param(
            body("Namespace", labels={"pod-security.kubernetes.io/enforce": "restricted"}),
            "is what the cluster judges pods by",
            id="a level of Pod Security",
        ),
        pytest.param(
            body("Namespace", labels={"kubernetes.io/metadata.name": "kube-system"}),
            "is what the cluster judges pods by",
            id="another namespace's label",
        ),
        pytest.param(
            body("Namespace", labels={"gamekeeper.dev/instance": "other"}),
            "are Gamekeeper's own",
            id="a label of ours",
        ),
    ],
)
def test_what_is_ours_is_not_to_be_said(written: Json, said: str) -> None:
    assert said in "\n".join(told(written))


def test_a_namespace_that_fleets_may_share_is_no_ones_of_them() -> None:
    fleet = WorkloadKey("Fleet", "arena", "arena")
    assert "shared by Fleets" in "\n".join(told(body("Namespace"), fleet))
    assert not told(body("PodDisruptionBudget"), fleet)


def test_what_is_completed_has_a_namespace_where_its_kind_has_one() -> None:
    assert "namespace" not in completed(body("Namespace"), "arena", {})["metadata"]
    assert completed(body("ServiceAccount"), "arena", {})["metadata"]["namespace"] == "arena"


_TEXTS = st.dictionaries(st.sampled_from("abcd"), st.text(max_size=2), max_size=4)


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
def test_whatever_is_added_all_that_ours_says_stands(
    labels: Json, notes: Json, own_labels: Json, own_notes: Json
) -> None:
    metadata = {**BUDGET["metadata"], "labels": own_labels}
    ours = {**BUDGET, "metadata": {**metadata, "annotations": own_notes} if own_notes else metadata}
    added = body("PodDisruptionBudget", more={"spec": {"minAvailable": 0}}, labels=labels)
    added["metadata"]["annotations"] = notes
    made = laid_under(ours, added)
    assert {**made, "metadata": None} == {**ours, "metadata": None}
    assert made["metadata"].get("labels", {}) == {**labels, **own_labels}
    assert made["metadata"].get("annotations", {}) == {**notes, **own_notes}
