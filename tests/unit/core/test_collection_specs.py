"""A collection of the Azure game servers becomes the Fleet that says the same."""

import re
from typing import Any

import pytest

from reconciler.core.collection_specs import NoCollection, fleet_of, text_of
from reconciler.core.schema_check import check
from reconciler.core.yaml_strict import parse_file
from reconciler.model.refs import Json
from tests.unit.core.reading import kit

POD: Json = {
    "containers": [
        {
            "name": "openarena",
            "image": "registry.example/openarena:1",
            "ports": [{"name": "game", "containerPort": 27960, "protocol": "UDP"}],
            "env": [{"name": "MOTD", "value": "yes: no\n\n  two # lines"}],
        }
    ]
}
SIMPLE: Json = {"metadata": {"name": "openarena"}, "spec": {"replicas": 5, "template": POD}}
DETAILS: Json = {
    "enabled": True,
    "minimumReplicas": 5,
    "maximumReplicas": 10,
    "scaleInThreshold": 60,
    "scaleOutThreshold": 80,
    "coolDownInMinutes": 5,
    "maxPlayersPerServer": 10,
    "lastScaleOperationDateTime": "",
}
FULL: Json = {
    "metadata": {"name": "openarena", "namespace": "default"},
    "spec": {
        **SIMPLE["spec"],
        "portsToExpose": [27960],
        "dgsFailBehavior": "Delete",
        "dgsMaxFailures": 2,
        "dgsActivePlayersAutoScalerDetails": DETAILS,
    },
}


def scaled_by(changes: Json) -> Json:
    """Return what makes another autoscaler of a collection."""
    details = DETAILS | changes
    return {"spec": {**SIMPLE["spec"], "dgsActivePlayersAutoScalerDetails": details}}


@pytest.mark.parametrize(
    "collection",
    [pytest.param(SIMPLE, id="all that is needed"), pytest.param(FULL, id="every field")],
)
def test_what_is_written_is_read_back_as_it_was_and_is_a_valid_fleet(collection: Json) -> None:
    document = fleet_of(collection)
    text = text_of(document)
    (read,) = parse_file("fleets/openarena.yaml", text.encode()).documents
    assert read.value == document
    assert check(kit().kinds["Fleet"], document) == []
    assert "\n\n  replicas: 5\n\n" in text, "set apart: a person's edit beside it is no conflict"
    assert "&" not in text, "who edits one cool-down does not edit the other"


@pytest.mark.parametrize(
    "text",
    ["1e5", "1.5e3", "8e12345", "-2e3", "010", "yes", "null", "", "9" * 50, "a\u2028b", "a\x85b",
     "a\u2029", "\x7f", "\x1b", "<<", "=", "a\r\nb", "1e5\n", " ", "# a", "- a", "a: b"],
    ids=ascii,
)  # fmt: skip
def test_a_text_is_read_back_as_the_text_that_it_was(text: str) -> None:
    template = {"containers": [{"name": "a", "env": [{"name": "A", "value": text}], text: text}]}
    document = fleet_of({"metadata": SIMPLE["metadata"], "spec": {"template": template}})
    parsed = parse_file("fleets/openarena.yaml", text_of(document).encode())
    assert parsed.unreadable is None
    assert [(each.value, each.findings) for each in parsed.documents] == [(document, [])]


def test_every_field_has_its_own_in_a_fleet() -> None:
    spec = fleet_of(FULL)["spec"]
    assert spec["template"] == {"spec": POD}
    assert spec["portsToExpose"] == [27960]
    assert spec["failure"] == {"action": "Delete", "maxFailures": 2}
    assert spec["autoscaling"] == {
        "enabled": True,
        "min": 5,
        "max": 10,
        "policy": {
            "activePlayers": {
                "maxPlayersPerServer": 10,
                "scaleInThreshold": 60,
                "scaleOutThreshold": 80,
            }
        },
        "scaleUp": {"cooldownSeconds": 300},
        "scaleDown": {"cooldownSeconds": 300},
    }


@pytest.mark.parametrize(
    ("most", "failure"),
    [
        pytest.param(0, {"maxFailures": 0}, id="the first one is for people, as there"),
        pytest.param(None, None, id="nobody wrote a limit"),
    ],
)
def test_a_limit_of_no_failures_is_one(most: int | None, failure: Json | None) -> None:
    collection = {**SIMPLE, "spec": {**SIMPLE["spec"], "dgsMaxFailures": most}}
    assert fleet_of(collection)["spec"].get("failure") == failure


def test_names_of_fields_are_taken_in_any_case_as_the_original_did() -> None:
    loud = {
        "Metadata": {"Name": "openarena"},
        "SPEC": {"Replicas": 2, "TEMPLATE": POD},
    }
    assert fleet_of(loud)["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"replicas": 9, "portsToExpose": [7777]},
            "a collection has no replicas, portsToExpose; it knows apiVersion, kind, metadata, "
            "spec, status",
        ),
        ({"Spec": {"replicas": 9}}, "the collection has the same name twice"),
        ({"metadata": {"name": "openarena", "namespace": []}}, "metadata.namespace: it is no text"),
    ],
)
def test_nothing_beside_the_spec_is_lost(more: Json, said: str) -> None:
    with pytest.raises(NoCollection, match=re.escape(said)):
        fleet_of({**SIMPLE, **more})


def test_the_autoscaler_of_earlier_releases_is_the_same_by_another_name() -> None:
    older = {**SIMPLE, "spec": {**SIMPLE["spec"], "podAutoScalerDetails": DETAILS}}
    assert fleet_of(older)["spec"]["autoscaling"] == fleet_of(FULL)["spec"]["autoscaling"]


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        pytest.param(
            {"dgsFailBehaviour": "Remove", "startMap": "dm4ish"},
            "a collection has no spec.dgsFailBehaviour, spec.startMap; spec knows replicas, "
            "portsToExpose, template, dgsFailBehavior, dgsMaxFailures, "
            "dgsActivePlayersAutoScalerDetails, podAutoScalerDetails",
            id="misspelled, and of an early release",
        ),
        pytest.param(
            {"dgsActivePlayersAutoScalerDetails": DETAILS | {"cooldown": 5}},
            "a collection has no spec.dgsActivePlayersAutoScalerDetails.cooldown; "
            "spec.dgsActivePlayersAutoScalerDetails knows enabled, minimumReplicas, "
            "maximumReplicas, coolDownInMinutes, maxPlayersPerServer, scaleInThreshold, "
            "scaleOutThreshold, lastScaleOperationDateTime",
            id="of its autoscaler",
        ),
        pytest.param(
            {"podAutoScalerDetails": {"minReplicas": 5}},
            "a collection has no spec.podAutoScalerDetails.minReplicas; ",
            id="of its autoscaler by the older name",
        ),
        pytest.param(
            {"podAutoScalerDetails": DETAILS, "dgsActivePlayersAutoScalerDetails": DETAILS},
            "spec.dgsActivePlayersAutoScalerDetails and spec.podAutoScalerDetails are one thing",
            id="two autoscalers",
        ),
        pytest.param(
            {"Replicas": 2},
            "spec has the same name twice, in upper and in lower case",
            id="one field in two ways",
        ),
    ],
)
def test_no_field_is_lost_without_a_word(spec: Json, named: str) -> None:
    with pytest.raises(NoCollection) as refused:
        fleet_of({**SIMPLE, "spec": SIMPLE["spec"] | spec})
    assert str(refused.value).startswith(named)


def test_what_clients_and_the_api_server_add_is_no_mistake() -> None:
    written = {
        "apiVersion": "azuregaming.com/v1alpha1",
        "kind": "DedicatedGameServerCollection",
        "metadata": {
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "creationTimestamp": "2019-01-03T10:00:00Z",
            "generation": 4,
            "managedFields": [{"manager": "kubectl"}],
            "name": "openarena",
            "namespace": "default",
            "resourceVersion": "77",
            "selfLink": "/apis/azuregaming.com/v1alpha1/namespaces/default/x",
            "uid": "5a3c",
        },
        "spec": SIMPLE["spec"],
        "status": {"dgsHealth": "Healthy", "dgsTimesFailed": 1, "podsState": "Running"},
    }
    assert fleet_of(written) == fleet_of(SIMPLE)


def test_a_namespace_that_is_asked_for_is_the_fleets() -> None:
    asked = {**SIMPLE, "metadata": {"name": "openarena", "Namespace": "games"}}
    document = fleet_of(asked)
    assert document["spec"]["namespace"] == "games"
    assert check(kit().kinds["Fleet"], document) == []
    assert "namespace" not in fleet_of(FULL)["spec"], "theirs was `default`, whatever was asked"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({"metadata": {}}, "metadata.name: it is missing", id="no name"),
        pytest.param({"metadata": {"name": "../x"}}, "metadata.name", id="a name that is a path"),
        pytest.param({"metadata": {"name": 7}}, "metadata.name", id="a name that is a number"),
        pytest.param(
            {"metadata": {"name": "x", "namespace": "../x"}},
            "metadata.namespace",
            id="a namespace that is a path",
        ),
        pytest.param(
            {"metadata": {"name": "x", "namespace": 7}},
            "metadata.namespace",
            id="a namespace that is a number",
        ),
        pytest.param(
            {"metadata": {"name": "x", "Name": "y"}}, "metadata has the same", id="two names"
        ),
        pytest.param(
            {"spec": {"replicas": -1, "template": {}}}, "spec.replicas", id="a count below 0"
        ),
        pytest.param({"spec": {"replicas": True, "template": {}}}, "spec.replicas", id="no count"),
        pytest.param({"spec": {"replicas": 1}}, "spec.template", id="no pod"),
        pytest.param({"spec": None}, "spec.template", id="no spec"),
        pytest.param(scaled_by({"enabled": "false"}), "enabled is neither", id="a switch in words"),
        pytest.param(scaled_by({"enabled": None}), "enabled is neither", id="no switch"),
        pytest.param(
            scaled_by({"coolDownInMinutes": "5"}), "coolDownInMinutes", id="a cool-down in words"
        ),
        pytest.param(
            scaled_by({"coolDownInMinutes": -5}), "coolDownInMinutes", id="a cool-down below 0"
        ),
        pytest.param(
            {"spec": {**SIMPLE["spec"], "dgsActivePlayersAutoScalerDetails": [DETAILS]}},
            "AutoScalerDetails is no object",
            id="a list of autoscalers",
        ),
    ],
)
def test_what_is_no_collection_is_refused_with_the_field(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(NoCollection, match=why):
        fleet_of(SIMPLE | changes)
