"""What server-side apply says of lists whose items it cannot name: as the real API server does."""

from typing import Any

import pytest

from reconciler.kube.typecheck import type_problems
from reconciler.sandbox.typed import scalar_problems
from tests.unit.kube.definitions import schema_of

POD = schema_of({"apiVersion": "v1", "kind": "Pod"})
AT = ".metadata.finalizers"
KEYLESS = "associative list without keys has an element that's"
TEXT = "expected string, got &value.valueUnstructured"


@pytest.mark.parametrize(
    ("finalizers", "told"),
    [
        pytest.param([-1], [f"{AT}[=-1]: {TEXT}{{Value:-1}}"], id="a number is named by its value"),
        pytest.param([True], [f"{AT}[=true]: {TEXT}{{Value:true}}"], id="so is a truth"),
        pytest.param(["a/b", "c/d"], [], id="texts are right"),
        pytest.param(
            [5, 5],
            [
                f"{AT}[=5]: {TEXT}{{Value:5}}",
                f"{AT}: duplicate entries for key [=5]",
                f"{AT}[=5]: {TEXT}{{Value:5}}",
            ],
            id="what comes twice is told before what is wrong with it",
        ),
        pytest.param(
            ["a/b", None, 5],
            [f"{AT}: element 1: {KEYLESS} an explicit null"],
            id="at a null it gives up",
        ),
        pytest.param(
            [5, {"x": "y"}, 6],
            [
                f"{AT}[=5]: {TEXT}{{Value:5}}",
                f"{AT}: element 1: {KEYLESS} a map type",
            ],
            id="and at a map",
        ),
        pytest.param(
            ["a/b", ["x"]],
            [f"{AT}: element 1: not supported: associative list with lists as elements"],
            id="and at a list",
        ),
    ],
)  # fmt: skip
def test_items_of_a_set_are_named_by_their_values(finalizers: list[Any], told: list[str]) -> None:
    assert list(scalar_problems({"metadata": {"finalizers": finalizers}}, POD)) == told


def test_an_item_without_a_name_is_told_with_its_place() -> None:
    containers = [{"name": "a"}, "text", {"name": 5}]
    assert type_problems({"spec": {"containers": containers}}, POD) == [
        ".spec.containers: element 1: associative list with keys may not have non-map elements"
    ]
