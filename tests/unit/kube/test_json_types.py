from typing import Any

import pytest

from reconciler.kube.json_types import copied, same


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        pytest.param({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, True, id="deep equality"),
        pytest.param(1, 1.0, True, id="one number"),
        pytest.param(1, True, False, id="true is not 1"),
        pytest.param([0], [False], False, id="false is not 0"),
        pytest.param({"a": None}, {}, False, id="null is not absent"),
        pytest.param([1, 2], [2, 1], False, id="lists have an order"),
        pytest.param([1], [1, 1], False, id="lists have a length"),
        pytest.param({}, [], False, id="a map is no list"),
        pytest.param("1", 1, False, id="text is no number"),
    ],
)
def test_json_equality(left: Any, right: Any, is_same: bool) -> None:
    assert same(left, right) is is_same
    assert same(right, left) is is_same


def test_a_copy_may_be_changed_freely() -> None:
    original = {"a": [{"b": 1}]}
    copy = copied(original)
    copy["a"][0]["b"] = 2
    assert original == {"a": [{"b": 1}]}
