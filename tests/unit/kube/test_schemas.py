import pytest

from reconciler.kube.schemas import UNTYPED, Schema
from tests.unit.kube.definitions import schemas


def _at(kind: str, *path: str) -> Schema:
    api_version, _, name = kind.rpartition("/")
    node = schemas().for_kind(api_version, name)
    for step in path:
        assert node is not None
        node = node.items() if step == "[]" else node.field(step)
    assert node is not None
    return node


def test_kinds_are_found_by_version_and_name() -> None:
    assert _at("v1/Pod").name == "io.k8s.api.core.v1.Pod"
    assert _at("apps/v1/Deployment").name == "io.k8s.api.apps.v1.Deployment"
    assert schemas().for_kind("v1", "Deployment") is None
    assert schemas().for_kind("v1", "Room") is None
    assert ("v1", "Pod") in set(schemas().kinds())


def test_a_definition_is_built_once() -> None:
    assert _at("v1/Pod", "spec") is _at("v1/PodTemplate", "template", "spec")
    assert _at("v1/Pod", "spec", "containers", "[]") is schemas().definition(
        "io.k8s.api.core.v1.Container"
    )


@pytest.mark.parametrize(
    ("path", "list_type", "keys", "merge_key"),
    [
        pytest.param(("spec", "containers"), "map", ("name",), "name", id="one key for both"),
        pytest.param(
            ("spec", "containers", "[]", "ports"),
            "map",
            ("containerPort", "protocol"),
            "containerPort",
            id="two ways to merge have two keys",
        ),
        pytest.param(("spec", "tolerations"), "atomic", (), None, id="an atomic list"),
        pytest.param(("metadata", "finalizers"), "set", (), None, id="a set"),
        pytest.param(("metadata", "ownerReferences"), "map", ("uid",), "uid", id="owners"),
    ],
)
def test_lists_say_how_they_merge(
    path: tuple[str, ...], list_type: str, keys: tuple[str, ...], merge_key: str | None
) -> None:
    schema = _at("v1/Pod", *path)
    assert schema.type == "array"
    assert (schema.list_type, schema.list_map_keys) == (list_type, keys)
    assert schema.patch_merge_key == merge_key


def test_maps_and_structs_say_how_they_merge() -> None:
    assert _at("v1/Pod", "spec", "nodeSelector").map_type == "atomic"
    assert _at("v1/Pod", "metadata", "labels").map_type == "granular"
    assert _at("v1/Pod", "spec", "volumes").patch_strategy == ("merge", "retainKeys")


def test_a_field_that_may_not_be_there_has_no_type() -> None:
    assert _at("v1/Pod").field("bogus") is None
    assert "spec" in _at("v1/Pod").properties


def test_entries_of_maps_have_the_type_of_the_map() -> None:
    assert _at("v1/Pod", "metadata", "labels", "anything").type == "string"
    limits = _at("v1/Pod", "spec", "containers", "[]", "resources", "limits")
    assert not limits.properties
    assert _at("v1/Pod", "spec", "overhead", "cpu").format == "quantity"


def test_what_is_not_declared_may_hold_anything() -> None:
    free = _at("v1/Pod", "metadata", "managedFields", "[]", "fieldsV1", "f:spec")
    assert free.untyped
    assert UNTYPED.field("a") is UNTYPED
    assert UNTYPED.items() is UNTYPED


def test_keys_of_ports_have_their_default() -> None:
    assert _at("v1/Pod", "spec", "containers", "[]", "ports", "[]").key_defaults == {
        "protocol": "TCP"
    }
    assert _at("v1/Service", "spec", "ports", "[]").key_defaults == {"protocol": "TCP"}
    assert _at("v1/Pod", "spec", "containers", "[]").key_defaults == {}


def test_fields_that_the_server_never_leaves_out_are_known() -> None:
    assert set(_at("v1/Pod").zeros) == {"metadata", "spec", "status"}
    assert _at("v1/Pod", "spec").zeros == {"containers": None}
    assert _at("v1/Event").zeros["reportingComponent"] == ""
    assert _at("v1/ConfigMap").zeros == {"metadata": {}}


def test_every_kind_can_be_walked_to_its_leaves() -> None:
    seen: set[int] = set()
    waiting = [schemas().for_kind(*kind) for kind in schemas().kinds()]
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        waiting.extend(node.field(name) for name in node.properties)
        waiting.append(node.items() if node.type == "array" else node.field("\0"))
    assert len(seen) > 1000
