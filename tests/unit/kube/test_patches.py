from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube.json_types import Json, copied, same
from reconciler.kube.patches import PatchFailed, json_patch, merge_patch

_scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(("a", "b", ""))
_names = st.sampled_from(("a", "b", "c/d", "~e"))
values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(_names, values, max_size=4)


@pytest.mark.parametrize(
    ("doc", "patch", "patched"),
    [
        pytest.param({"a": 1}, {"a": 2}, {"a": 2}, id="a value is replaced"),
        pytest.param({"a": 1}, {"b": 2}, {"a": 1, "b": 2}, id="a value is added"),
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="null deletes"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}, id="deep"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="lists are replaced whole"),
        pytest.param({"a": 1}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}, id="nulls of new maps"),
        pytest.param({"a": 1}, {"z": None}, {"a": 1}, id="what is absent stays absent"),
        pytest.param({"a": 1}, [1], [1], id="a patch that is no map replaces all"),
        pytest.param([1], {"a": 1}, {"a": 1}, id="a document that is no map is replaced"),
        pytest.param({"a": [{"b": None}]}, {}, {"a": [{"b": None}]}, id="nothing changes nothing"),
    ],
)
def test_a_merge_patch(doc: Any, patch: Any, patched: Any) -> None:
    before = copied(doc)
    assert merge_patch(doc, patch) == patched
    assert doc == before


@given(documents, documents)
def test_a_merge_patch_twice_is_a_merge_patch_once(doc: Json, patch: Json) -> None:
    once = merge_patch(doc, patch)
    assert same(merge_patch(once, patch), once)


@given(documents, documents)
def test_a_merge_patch_leaves_its_arguments_alone(doc: Json, patch: Json) -> None:
    before = copied(doc), copied(patch)
    result = merge_patch(doc, patch)
    result["new"] = 1
    for part in result.values():
        if isinstance(part, dict):
            part["new"] = 1
    assert same(doc, before[0])
    assert same(patch, before[1])


_DOC = {"a": {"b": 1}, "list": [1, 2, 3], "c/d": {"~": True}}


@pytest.mark.parametrize(
    ("operation", "patched"),
    [
        pytest.param({"op": "add", "path": "/x", "value": 9}, {**_DOC, "x": 9}, id="add a field"),
        pytest.param(
            {"op": "add", "path": "/list/1", "value": 9},
            {**_DOC, "list": [1, 9, 2, 3]},
            id="insert",
        ),
        pytest.param(
            {"op": "add", "path": "/list/3", "value": 9},
            {**_DOC, "list": [1, 2, 3, 9]},
            id="append",
        ),
        pytest.param(
            {"op": "add", "path": "/list/-", "value": 9}, {**_DOC, "list": [1, 2, 3, 9]}, id="dash"
        ),
        pytest.param({"op": "add", "path": "", "value": {}}, {}, id="the whole document"),
        pytest.param({"op": "remove", "path": "/c~1d/~0"}, {**_DOC, "c/d": {}}, id="escaped names"),
        pytest.param(
            {"op": "remove", "path": "/list/0"}, {**_DOC, "list": [2, 3]}, id="remove an item"
        ),
        pytest.param(
            {"op": "replace", "path": "/a/b", "value": 2}, {**_DOC, "a": {"b": 2}}, id="replace"
        ),
        pytest.param(
            {"op": "replace", "path": "/list/1", "value": 9}, {**_DOC, "list": [1, 9, 3]}, id="item"
        ),
        pytest.param(
            {"op": "replace", "path": "/a/z", "value": 2},
            {**_DOC, "a": {"b": 1, "z": 2}},
            id="replace sets a field that is absent, as the API server does",
        ),
        pytest.param(
            {"op": "move", "from": "/a/b", "path": "/list/0"},
            {**_DOC, "a": {}, "list": [1, 1, 2, 3]},
            id="move",
        ),
        pytest.param(
            {"op": "copy", "from": "/a", "path": "/e"}, {**_DOC, "e": {"b": 1}}, id="copy"
        ),
        pytest.param({"op": "test", "path": "/a", "value": {"b": 1}}, _DOC, id="a test that holds"),
        pytest.param(
            {"op": "test", "path": "/gone", "value": None}, _DOC, id="an absent field tests as null"
        ),
    ],
)
def test_a_json_patch_operation(operation: Json, patched: Json) -> None:
    before = copied(_DOC)
    assert json_patch(_DOC, [operation]) == patched
    assert before == _DOC


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param({"op": "test", "path": "/a/b", "value": 2}, id="a test that fails"),
        pytest.param({"op": "test", "path": "/a/b", "value": True}, id="true is not 1"),
        pytest.param({"op": "remove", "path": "/gone"}, id="nothing to remove"),
        pytest.param({"op": "remove", "path": ""}, id="the document itself"),
        pytest.param({"op": "remove", "path": "/list/3"}, id="beyond the end"),
        pytest.param({"op": "add", "path": "/list/4", "value": 1}, id="a gap in a list"),
        pytest.param({"op": "add", "path": "/list/01", "value": 1}, id="a leading zero"),
        pytest.param({"op": "add", "path": "/list/x", "value": 1}, id="a name in a list"),
        pytest.param({"op": "add", "path": "/gone/x", "value": 1}, id="no parent"),
        pytest.param({"op": "add", "path": "/a/b/c", "value": 1}, id="inside a number"),
        pytest.param({"op": "add", "path": "/x"}, id="no value"),
        pytest.param({"op": "add", "path": "x", "value": 1}, id="no pointer"),
        pytest.param({"op": "move", "from": "/a", "path": "/a/b"}, id="into itself"),
        pytest.param({"op": "move", "from": "/gone", "path": "/x"}, id="nothing to move"),
        pytest.param({"op": "merge", "path": "/a", "value": 1}, id="an unknown operation"),
        pytest.param({"path": "/a"}, id="no operation"),
    ],
)
def test_a_json_patch_that_fails_changes_nothing(operation: Json) -> None:
    before = copied(_DOC)
    with pytest.raises(PatchFailed, match="operation 2"):
        json_patch(_DOC, [{"op": "add", "path": "/x", "value": 1}, operation])
    assert before == _DOC


def test_a_label_is_swapped_only_if_it_is_what_was_seen() -> None:
    room = {"metadata": {"labels": {"gamekeeper.dev/state": "idle"}}}
    path = "/metadata/labels/gamekeeper.dev~1state"
    swap = [
        {"op": "test", "path": path, "value": "idle"},
        {"op": "replace", "path": path, "value": "draining"},
    ]
    drained = json_patch(room, swap)
    assert drained["metadata"]["labels"] == {"gamekeeper.dev/state": "draining"}
    with pytest.raises(PatchFailed, match="another one"):
        json_patch(drained, swap)


@given(documents, _names, values)
def test_what_was_added_tests_equal_and_can_be_removed(doc: Json, name: str, value: Any) -> None:
    path = "/" + name.replace("~", "~0").replace("/", "~1")
    added = json_patch(
        doc,
        [{"op": "add", "path": path, "value": value}, {"op": "test", "path": path, "value": value}],
    )
    assert same(added[name], value)
    without = {key: part for key, part in doc.items() if key != name}
    assert same(json_patch(added, [{"op": "remove", "path": path}]), without)
