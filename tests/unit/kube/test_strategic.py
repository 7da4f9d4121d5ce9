import pytest

from reconciler.kube.json_types import Json, copied
from reconciler.kube.strategic import PatchFailed, strategic_patch
from tests.unit.kube.definitions import config_map, pod, schema_of


def _patched_spec(live: Json, patch: Json) -> Json:
    doc = pod(**live)
    before = copied(doc), copied(patch)
    result = strategic_patch(doc, {"spec": patch}, schema_of(doc))
    assert (doc, patch) == before
    spec: Json = result["spec"]
    return spec


def _names(items: list[Json]) -> list[str]:
    return [item["name"] for item in items]


@pytest.mark.parametrize(
    ("live", "patch", "patched"),
    [
        pytest.param(
            [{"name": "c", "image": "i:1"}],
            [{"name": "c", "image": "i:2"}],
            [{"name": "c", "image": "i:2"}],
            id="an item is found by its key",
        ),
        pytest.param(
            [{"name": "a"}, {"name": "b"}],
            [{"name": "a", "$patch": "delete"}],
            [{"name": "b"}],
            id="an item is deleted",
        ),
        pytest.param(
            [{"name": "a", "image": "i"}],
            [{"name": "a", "image": None}],
            [{"name": "a"}],
            id="null deletes a field of an item",
        ),
        pytest.param(
            [{"name": "a", "image": "i"}],
            [{"name": "a", "args": ["x"], "$patch": "replace"}, {"name": "b"}],
            [{"name": "b"}],
            id="replace drops the list, and itself",
        ),
        pytest.param(
            [{"name": "a", "args": ["x", "y"]}],
            [{"name": "a", "args": ["z"]}],
            [{"name": "a", "args": ["z"]}],
            id="an atomic list is replaced",
        ),
        pytest.param(
            [{"name": "a", "ports": [{"containerPort": 80, "name": "x"}]}],
            [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 7}, {"containerPort": 81}]}],
            [
                {
                    "name": "a",
                    "ports": [
                        {"containerPort": 80, "name": "x", "hostPort": 7},
                        {"containerPort": 81},
                    ],
                }
            ],
            id="lists in items merge too",
        ),
    ],
)
def test_keyed_lists_merge(live: list[Json], patch: list[Json], patched: list[Json]) -> None:
    assert _patched_spec({"containers": live}, {"containers": patch})["containers"] == patched


@pytest.mark.parametrize(
    ("live", "patch", "order", "result"),
    [
        pytest.param("ab", "c", None, "cab", id="new items go before what follows"),
        pytest.param("abc", "b", None, "abc", id="one item stays where it was"),
        pytest.param("abc", "cb", None, "acb", id="the patch is an order"),
        pytest.param("abc", "", "cba", "cba", id="an order alone"),
        pytest.param("abc", "d", "ad", "adbc", id="a new item goes where the order says"),
        pytest.param("abc", "", "ca", "bca", id="unnamed items stay before what followed them"),
    ],
)
def test_the_order_after_a_merge(live: str, patch: str, order: str | None, result: str) -> None:
    asked: Json = {"containers": [{"name": name, "image": "i"} for name in patch]}
    if order is not None:
        asked["$setElementOrder/containers"] = [{"name": name} for name in order]
    spec = _patched_spec({"containers": [{"name": name} for name in live]}, asked)
    assert "".join(_names(spec["containers"])) == result
    assert not [name for name in spec if name.startswith("$")]


def test_a_new_item_takes_the_place_of_a_deleted_one_as_in_the_api_server() -> None:
    spec = _patched_spec(
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {
            "containers": [{"name": "a", "$patch": "delete"}, {"name": "c"}],
            "$setElementOrder/containers": [{"name": "c"}],
        },
    )
    assert _names(spec["containers"]) == ["b", "c"]


def test_primitive_lists_merge_and_lose_by_name() -> None:
    live = config_map(finalizers=["a/x", "a/y"])
    schema = schema_of(live)
    added = strategic_patch(live, {"metadata": {"finalizers": ["a/z", "a/x"]}}, schema)
    assert added["metadata"]["finalizers"] == ["a/z", "a/x", "a/y"]
    lost = strategic_patch(
        live, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/x", "a/q"]}}, schema
    )
    assert lost["metadata"]["finalizers"] == ["a/y"]


def test_maps_merge_and_can_be_replaced_or_deleted() -> None:
    live = config_map({"a": "1", "b": "2"})
    schema = schema_of(live)

    def patched(data: Json | None) -> Json:
        result: Json = strategic_patch(live, {"data": data}, schema)
        return result

    assert patched({"a": None, "c": "3"})["data"] == {"b": "2", "c": "3"}
    assert patched({"$patch": "replace", "c": "3"})["data"] == {"c": "3"}
    assert patched({"$patch": "delete"})["data"] == {}
    assert "data" not in patched(None)


def test_retain_keys_drops_the_other_member_of_a_union() -> None:
    spec = _patched_spec(
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {
            "volumes": [
                {"name": "v", "secret": {"secretName": "s"}, "$retainKeys": ["name", "secret"]}
            ]
        },
    )
    assert spec["volumes"] == [{"name": "v", "secret": {"secretName": "s"}}]


def test_what_is_new_carries_no_directives() -> None:
    spec = _patched_spec(
        {},
        {
            "nodeSelector": {"$patch": "delete"},
            "securityContext": {"runAsUser": 1, "fsGroup": None, "$retainKeys": ["runAsUser"]},
            "volumes": [{"name": "v", "$patch": "delete"}, {"name": "w"}],
        },
    )
    assert spec == {"securityContext": {"runAsUser": 1}, "volumes": [{"name": "w"}]}


def test_cordon_and_uncordon() -> None:
    node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}}
    cordoned = strategic_patch(node, {"spec": {"unschedulable": True}}, schema_of(node))
    assert cordoned["spec"] == {"unschedulable": True}
    assert strategic_patch(cordoned, {"spec": {"unschedulable": None}}, schema_of(node)) == node


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        pytest.param(
            {"containers": [{"image": "i"}]}, "declared merge key: name", id="an item without a key"
        ),
        pytest.param(
            {"containers": [{"name": "a", "$patch": "mix"}]}, "unknown patch type", id="in an item"
        ),
        pytest.param({"securityContext": {"$patch": "mix"}}, "unknown patch type", id="in a map"),
        pytest.param(
            {"securityContext": {"fsGroup": 1, "$retainKeys": []}}, "must name every", id="retained"
        ),
        pytest.param(
            {"containers": [{"name": "b"}], "$setElementOrder/containers": [{"name": "a"}]},
            "lacks 'b' of the patch",
            id="an order that lacks an item",
        ),
        pytest.param(
            {
                "containers": [{"name": "b"}, {"name": "a"}],
                "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
            },
            "lacks 'a' of the patch, or in that place",
            id="an order that contradicts the patch",
        ),
        pytest.param({"$setElementOrder/containers": "a"}, "must be a list", id="no list"),
    ],
)
def test_a_patch_without_sense_is_refused(patch: Json, said: str) -> None:
    live = {"containers": [{"name": "a"}], "securityContext": {"runAsUser": 1}}
    with pytest.raises(PatchFailed, match=said):
        _patched_spec(live, patch)
