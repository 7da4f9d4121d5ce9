import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import BadObject
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import Json
from tests.unit.kube.definitions import config_map, pod, schema_of

_elements = st.one_of(
    st.sampled_from(("a", "b", "spec")).map(fieldpaths.field),
    st.sampled_from(("c1", "c2")).map(lambda name: fieldpaths.key({"name": name})),
    st.sampled_from((1, True, "x", None)).map(fieldpaths.value),
)
paths = st.lists(_elements, min_size=1, max_size=4).map(tuple)
field_sets = st.frozensets(paths, max_size=6).map(FieldSet)


def _fields(obj: Json, *, with_parents: bool) -> Json:
    found = FieldSet.from_object(obj, schema_of(obj), with_parents=with_parents)
    return found.to_fields_v1()


def test_an_apply_owns_leaves_and_an_update_owns_containers_too() -> None:
    obj = config_map({"k": "v"}, labels={"a": "1"})
    type_fields: Json = {"f:apiVersion": {}, "f:kind": {}}
    assert _fields(obj, with_parents=False) == {
        **type_fields,
        "f:data": {"f:k": {}},
        "f:metadata": {"f:labels": {"f:a": {}}, "f:name": {}},
    }
    assert _fields(obj, with_parents=True) == {
        **type_fields,
        "f:data": {".": {}, "f:k": {}},
        "f:metadata": {".": {}, "f:labels": {".": {}, "f:a": {}}, "f:name": {}},
    }


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        pytest.param(
            {"containers": [{"name": "c", "image": "i"}]},
            {"f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}}},
            id="an item of a keyed list is owned itself",
        ),
        pytest.param(
            {"imagePullSecrets": [{"name": "s"}]},
            {"f:imagePullSecrets": {'k:{"name":"s"}': {}}},
            id="an atomic item is one leaf",
        ),
        pytest.param({"nodeSelector": {"a": "1"}}, {"f:nodeSelector": {}}, id="an atomic map"),
        pytest.param({"tolerations": [{"key": "a"}]}, {"f:tolerations": {}}, id="an atomic list"),
        pytest.param(
            {"securityContext": {}}, {"f:securityContext": {}}, id="an empty map is a leaf"
        ),
        pytest.param({"containers": []}, {}, id="an empty keyed list owns nothing"),
        pytest.param({"nodeName": None}, {"f:nodeName": {}}, id="null is a leaf"),
        pytest.param(
            {"overhead": {"cpu": "1"}}, {"f:overhead": {"f:cpu": {}}}, id="an entry of a map"
        ),
    ],
)
def test_what_an_apply_owns(spec: Json, fields: Json) -> None:
    assert _fields(pod(**spec), with_parents=False).get("f:spec", {}) == fields


def test_ports_are_told_apart_by_protocol_and_tcp_is_the_default() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    fields = _fields(pod({"name": "c", "ports": ports}), with_parents=False)
    assert fields["f:spec"]["f:containers"]['k:{"name":"c"}']["f:ports"] == {
        'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}},
        'k:{"containerPort":80,"protocol":"UDP"}': {
            ".": {},
            "f:containerPort": {},
            "f:protocol": {},
        },
    }


def test_items_of_a_set_are_named_by_value() -> None:
    fields = _fields(config_map(finalizers=["a/x"]), with_parents=False)
    assert fields["f:metadata"]["f:finalizers"] == {'v:"a/x"': {}}


def test_an_item_without_its_key_has_an_empty_one() -> None:
    fields = _fields(pod({"image": "i"}), with_parents=False)
    assert fields["f:spec"]["f:containers"] == {'k:{"name":""}': {".": {}, "f:image": {}}}


def test_an_item_that_is_no_object_cannot_be_named() -> None:
    with pytest.raises(BadObject, match="may not have non-map elements"):
        _fields({**pod({}), "spec": {"containers": ["text"]}}, with_parents=False)


@given(field_sets)
def test_a_set_survives_its_written_form(fields: FieldSet) -> None:
    assert FieldSet.from_fields_v1(fields.to_fields_v1()) == fields


@given(field_sets, field_sets)
def test_sets_follow_the_laws_of_sets(left: FieldSet, right: FieldSet) -> None:
    both = left.intersection(right)
    assert both.union(left.difference(right)) == left
    assert not both.difference(right)
    assert len(left.union(right)) == len(left) + len(right) - len(both)
    assert all(left.contains(path) and right.contains(path) for path in both)


@given(field_sets)
def test_leaves_hold_nothing_and_cover_every_path(fields: FieldSet) -> None:
    leaves = fields.leaves()
    assert all(leaves.contains(path) or not leaves.contains(path[:0]) for path in fields)
    for path in fields:
        assert any(leaf[: len(path)] == path for leaf in leaves)
    for leaf in leaves:
        assert not any(path != leaf and path[: len(leaf)] == leaf for path in fields)


@given(field_sets, paths)
def test_a_root_is_left_out_with_all_inside(fields: FieldSet, root: fieldpaths.Path) -> None:
    left = fields.without_under([root])
    assert all(path[: len(root)] != root for path in left)
    assert all(path[: len(root)] == root for path in fields.difference(left))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(("f:data", "f:a"), ".data.a", id="fields"),
        pytest.param(
            ("f:spec", "f:containers", 'k:{"name":"c"}', "f:image"),
            '.spec.containers[name="c"].image',
            id="an item by its key",
        ),
        pytest.param(
            ("f:ports", 'k:{"containerPort":80,"protocol":"TCP"}'),
            '.ports[containerPort=80,protocol="TCP"]',
            id="an item by two keys",
        ),
        pytest.param(("f:finalizers", 'v:"a/x"'), '.finalizers[="a/x"]', id="an item by value"),
        pytest.param(("f:args", "i:2"), ".args[2]", id="an item by its index"),
    ],
)
def test_a_path_is_written_as_conflicts_print_it(path: fieldpaths.Path, text: str) -> None:
    assert fieldpaths.text(path) == text


def test_paths_are_listed_level_by_level() -> None:
    listed = FieldSet.of(("f:b", "f:a"), ("f:c",), ("f:a", "f:z"), ("f:a", "f:b", "f:c"), ("f:b",))
    assert [fieldpaths.text(path) for path in listed] == [".b", ".c", ".a.z", ".a.b.c", ".b.a"]


def test_declared_fields_on_the_way_are_added_and_entries_of_maps_are_not() -> None:
    container = ("f:spec", "f:containers", 'k:{"name":"c"}')
    fields = FieldSet.of((*container, "f:image"), ("f:metadata", "f:labels", "f:a"))
    named = fields.with_named_fields(schema_of(pod()))
    assert named.difference(fields) == FieldSet.of(
        ("f:spec",), container[:2], ("f:metadata",), ("f:metadata", "f:labels")
    )
