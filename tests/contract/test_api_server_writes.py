"""What an API server does with what is written: defaults, owners, patches, dry runs, no-ops."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.api_server_world import (
    APPLY,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Json,
    Speaker,
    config_map,
    pod,
)


def _owners(value: Json) -> list[tuple[str, str, str]]:
    entries = value["metadata"].get("managedFields", ())
    return [(one["manager"], one["operation"], one.get("subresource", "")) for one in entries]


def test_a_pod_gets_its_defaults(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/pods", pod("a"))
    spec, container = made["spec"], made["spec"]["containers"][0]
    assert {
        name: spec[name]
        for name in (
            "restartPolicy",
            "terminationGracePeriodSeconds",
            "dnsPolicy",
            "securityContext",
            "enableServiceLinks",
            "priority",
            "preemptionPolicy",
            "serviceAccountName",
        )
    } == {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "enableServiceLinks": True,
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "serviceAccountName": "default",
    }
    assert [one["tolerationSeconds"] for one in spec["tolerations"]] == [300, 300]
    assert (container["imagePullPolicy"], container["resources"]) == ("IfNotPresent", {})
    assert made["metadata"]["generation"] == 1
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_the_token_of_the_account_is_mounted_unless_declined(api: Speaker, space: str) -> None:
    mounted = api.make(f"{space}/pods", pod("a"))["spec"]
    assert [one["projected"]["defaultMode"] for one in mounted["volumes"]] == [420]
    declined = api.make(f"{space}/pods", pod("b", automountServiceAccountToken=False))["spec"]
    assert "volumes" not in declined


def test_defaults_are_owned_and_what_admission_adds_is_not(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/pods", pod("a"))
    (entry,) = made["metadata"]["managedFields"]
    owned = entry["fieldsV1"]["f:spec"]
    assert (entry["manager"], entry["operation"]) == ("contract", "Update")
    assert "f:restartPolicy" in owned
    assert not {"f:tolerations", "f:volumes", "f:serviceAccountName"} & set(owned)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        pytest.param("0.5", "500m", id="a fraction becomes thousandths"),
        pytest.param(2, "2", id="a number becomes text"),
        pytest.param("1000m", "1", id="whole thousandths become one"),
    ],
)
def test_quantities_are_stored_in_their_shortest_form(
    api: Speaker, space: str, given: Any, stored: str
) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": given}}}
    made = api.make(f"{space}/pods", pod("a", containers=[container]))
    assert made["spec"]["containers"][0]["resources"]["requests"]["cpu"] == stored


def test_a_negative_grace_is_a_second(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/pods", pod("a", terminationGracePeriodSeconds=-5))
    assert made["spec"]["terminationGracePeriodSeconds"] == 1
    again = {"spec": {"terminationGracePeriodSeconds": -1}}
    assert api.ask("PATCH", f"{space}/pods/a", again, MERGE).metadata == made["metadata"]


def test_a_dry_run_answers_and_stores_nothing(api: Speaker, space: str) -> None:
    reply = api.ask("POST", f"{space}/pods?dryRun=All", pod("a"))
    assert reply.status == 201
    assert "uid" in reply.metadata
    assert "resourceVersion" not in reply.metadata
    assert api.ask("GET", f"{space}/pods/a").status == 404


def test_a_dry_run_does_not_ask_what_only_the_storage_asks(api: Speaker, space: str) -> None:
    claimed = {"metadata": {"name": "m", "resourceVersion": "1"}}
    reply = api.ask("POST", f"{space}/configmaps?dryRun=All", claimed)
    assert (reply.status, reply.metadata["resourceVersion"]) == (201, "1")
    api.make(f"{space}/configmaps", config_map("m"))
    assert api.ask("POST", f"{space}/configmaps?dryRun=All", claimed).status == 409


def test_a_json_patch_of_null_changes_nothing(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/configmaps", config_map("m"))
    reply = api.ask("PATCH", f"{space}/configmaps/m", b"null", JSON_PATCH)
    assert (reply.status, reply.metadata) == (200, made["metadata"])


def test_an_applied_null_amount_is_none(api: Speaker) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "empty"}}
    wanted = {**node, "status": {"capacity": {"cpu": None}}}
    made = api.ask("PATCH", "/api/v1/nodes/empty?fieldManager=m&dryRun=All", wanted, APPLY).body
    assert made["status"]["capacity"] == {"cpu": "0"}


def test_an_applied_null_is_part_of_a_key(api: Speaker, space: str) -> None:
    port = {"containerPort": 7000, "protocol": None}
    wanted = pod("p", containers=[{"name": "c", "image": "i", "ports": [port]}])
    reply = api.ask("PATCH", f"{space}/pods/p?fieldManager=m", wanted, APPLY)
    (entry,) = reply.metadata["managedFields"]
    owned = entry["fieldsV1"]["f:spec"]["f:containers"]['k:{"name":"c"}']["f:ports"]
    assert list(owned) == ['k:{"containerPort":7000,"protocol":null}']


def test_a_write_that_changes_nothing_is_no_write(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/configmaps", config_map("m", a="1"))
    path, revision = f"{space}/configmaps/m", made["metadata"]["resourceVersion"]
    for media in (MERGE, STRATEGIC):
        reply = api.ask("PATCH", path, {"data": {"a": "1"}}, media)
        assert reply.metadata["resourceVersion"] == revision
    applied = api.ask("PATCH", f"{path}?fieldManager=m", config_map("m", a="1"), APPLY)
    again = api.ask("PATCH", f"{path}?fieldManager=m", config_map("m", a="1"), APPLY)
    assert applied.metadata["resourceVersion"] != revision
    assert again.metadata == applied.metadata


def test_only_a_change_of_the_spec_counts_as_a_generation(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    path = f"{space}/pods/a"
    labelled = api.ask("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, MERGE)
    status = api.ask("PATCH", f"{path}/status", {"status": {"message": "hi"}}, MERGE)
    image = {"spec": {"containers": [{"name": "c", "image": "game:2"}]}}
    changed = api.ask("PATCH", path, image, STRATEGIC)
    generations = [one.metadata["generation"] for one in (labelled, status, changed)]
    assert generations == [1, 1, 2]


def test_status_has_its_own_door(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    path = f"{space}/pods/a"
    patch = {
        "status": {"message": "m"},
        "metadata": {"labels": {"l": "1"}},
        "spec": {"priority": 9},
    }
    through = api.ask("PATCH", f"{path}/status", patch, MERGE).body
    assert (through["status"]["message"], through["metadata"]["labels"]["l"]) == ("m", "1")
    assert through["spec"]["priority"] == 0
    assert ("contract", "Update", "status") in _owners(through)
    past = api.ask("PATCH", path, {"status": {"message": "other"}}, MERGE).body
    assert past["status"]["message"] == "m"


@pytest.mark.parametrize(
    ("media", "patch", "left"),
    [
        pytest.param(MERGE, {"data": {"a": None, "c": "3"}}, {"b": "2", "c": "3"}, id="merge"),
        pytest.param(STRATEGIC, {"data": {"$patch": "replace", "c": "3"}}, {"c": "3"}, id="SMP"),
        pytest.param(
            JSON_PATCH,
            [{"op": "remove", "path": "/data/a"}, {"op": "add", "path": "/data/c", "value": "3"}],
            {"b": "2", "c": "3"},
            id="JSON patch",
        ),
    ],
)
def test_each_patch_does_as_its_type_says(
    api: Speaker, space: str, media: str, patch: object, left: Json
) -> None:
    api.make(f"{space}/configmaps", config_map("m", a="1", b="2"))
    assert api.ask("PATCH", f"{space}/configmaps/m", patch, media).body["data"] == left


def test_an_applier_meets_who_owns_the_field(api: Speaker, space: str) -> None:
    path = f"{space}/configmaps/s"
    made = api.ask("PATCH", f"{path}?fieldManager=m1", config_map("s", a="1", b="1"), APPLY)
    assert made.status == 201
    refused = api.ask("PATCH", f"{path}?fieldManager=m2", config_map("s", a="2"), APPLY)
    assert (refused.status, refused.message) == (
        409,
        'Apply failed with 1 conflict: conflict with "m1": .data.a',
    )
    shared = api.ask("PATCH", f"{path}?fieldManager=m2", config_map("s", a="1"), APPLY)
    assert sorted(_owners(shared.body)) == [("m1", "Apply", ""), ("m2", "Apply", "")]
    forced = api.ask("PATCH", f"{path}?fieldManager=m2&force=true", config_map("s", a="2"), APPLY)
    assert forced.body["data"] == {"a": "2", "b": "1"}
    dropped = api.ask("PATCH", f"{path}?fieldManager=m1", config_map("s"), APPLY)
    assert dropped.body["data"] == {"a": "2"}
    assert _owners(dropped.body) == [("m2", "Apply", "")]


def test_an_update_takes_fields_from_an_applier(api: Speaker, space: str) -> None:
    path = f"{space}/configmaps/s"
    api.ask("PATCH", f"{path}?fieldManager=m1", config_map("s", a="1", b="1"), APPLY)
    taken = api.ask("PATCH", path, {"data": {"a": "9"}}, MERGE).body
    fields = {one["manager"]: one["fieldsV1"] for one in taken["metadata"]["managedFields"]}
    assert fields == {"m1": {"f:data": {"f:b": {}}}, "contract": {"f:data": {"f:a": {}}}}


def test_finalizers_of_a_namespace_stay_and_lose_the_owner_that_a_put_left_out(
    api: Speaker,
) -> None:
    path = api.namespace()
    name = path.rsplit("/", 1)[1]
    wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    wanted["spec"] = {"finalizers": ["kubernetes"]}
    applied = api.ask("PATCH", f"{path}?fieldManager=m1", wanted, APPLY).body
    assert ("m1", "Apply", "") in _owners(applied)
    put = api.ask("PUT", path, {"metadata": {"name": name}}).body
    assert put["spec"] == {"finalizers": ["kubernetes"]}
    assert _owners(put) == [("contract", "Update", "")]


def test_forgotten_owners_come_back_as_before_first_apply(api: Speaker, space: str) -> None:
    api.make(f"{space}/configmaps", config_map("m", a="1"))
    path = f"{space}/configmaps/m"
    bare = api.ask("PATCH", path, {"metadata": {"managedFields": [{}]}}, MERGE)
    assert "managedFields" not in bare.metadata
    refused = api.ask("PATCH", f"{path}?fieldManager=z", config_map("m", a="7"), APPLY)
    assert refused.message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a'
    )


def test_an_applied_pod_keeps_its_identity(api: Speaker, space: str) -> None:
    path = f"{space}/pods/p?fieldManager=m"
    first, again = (api.ask("PATCH", path, pod("p"), APPLY) for _ in range(2))
    assert (first.status, again.status) == (201, 200)
    assert first.body == again.body


def test_yaml_may_be_applied(api: Speaker, space: str) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s\ndata:\n  key: '1'\n"
    reply = api.ask("PATCH", f"{space}/configmaps/s?fieldManager=m", text, APPLY)
    assert reply.body["data"] == {"key": "1"}


def test_texts_of_a_secret_are_encoded(api: Speaker, space: str) -> None:
    body = {"metadata": {"name": "s"}, "stringData": {"a": "b"}, "data": {"c": "ZA=="}}
    made = api.make(f"{space}/secrets", body)
    assert (made["data"], made["type"]) == ({"a": "Yg==", "c": "ZA=="}, "Opaque")
    assert "stringData" not in made


def test_an_immutable_config_map_stays(api: Speaker, space: str) -> None:
    api.make(f"{space}/configmaps", {**config_map("m", a="1"), "immutable": True})
    reply = api.ask("PATCH", f"{space}/configmaps/m", {"data": {"a": "2"}}, MERGE)
    assert reply.message == (
        'ConfigMap "m" is invalid: data: Forbidden: field is immutable when `immutable` is set'
    )


def test_a_lease_is_replaced_at_a_known_revision_only(api: Speaker) -> None:
    space = api.namespace().replace("/api/v1", "/apis/coordination.k8s.io/v1")
    made = api.make(f"{space}/leases", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}})
    blind = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "b"}}
    assert api.ask("PUT", f"{space}/leases/l", blind).status == 422
    made["spec"]["holderIdentity"] = "b"
    assert api.ask("PUT", f"{space}/leases/l", made).status == 200
    assert api.ask("PUT", f"{space}/leases/l", made).status == 409


def test_a_generated_name_begins_as_asked(api: Speaker, space: str) -> None:
    made = api.make(f"{space}/configmaps", {"metadata": {"generateName": "room-"}})
    name = made["metadata"]["name"]
    assert name.startswith("room-")
    assert len(name) == len("room-") + 5


def test_a_namespace_is_labelled_with_its_name(api: Speaker, space: str) -> None:
    found = api.ask("GET", space).body
    name = space.rsplit("/", 1)[1]
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}
    assert (found["spec"], found["status"]) == (
        {"finalizers": ["kubernetes"]},
        {"phase": "Active"},
    )


def test_a_pod_is_bound_once(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("b"))
    binding = {"metadata": {"name": "b"}, "target": {"kind": "Node", "name": "nowhere"}}
    assert api.ask("POST", f"{space}/pods/b/binding", binding).status == 201
    again = api.ask("POST", f"{space}/pods/b/binding", binding)
    assert (again.status, again.message) == (
        409,
        'Operation cannot be fulfilled on pods/binding "b": pod b is already assigned to node '
        '"nowhere"',
    )
    bound = api.ask("GET", f"{space}/pods/b").body
    assert (bound["spec"]["nodeName"], bound["metadata"]["generation"]) == ("nowhere", 1)
