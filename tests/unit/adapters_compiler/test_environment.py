from typing import Any

import pytest

from reconciler.adapters.compiler.environment import (
    FILTERS,
    TESTS,
    TemplateEnvironment,
    overlaid,
)

OVERLAYS: list[Any] = [
    pytest.param({"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}, id="what lies above wins"),
    pytest.param({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}, id="maps go together"),
    pytest.param({"a": [1]}, {"a": [2]}, {"a": [2]}, id="lists do not"),
    pytest.param({"a": {"x": 1}}, {"a": None}, {"a": None}, id="null above is a value"),
    pytest.param({"a": None}, {"a": {"x": 1}}, {"a": {"x": 1}}, id="a map lies over null"),
    pytest.param(None, {"a": 1}, {"a": 1}, id="nothing below"),
    pytest.param({"a": 1}, None, {"a": 1}, id="nothing above"),
]


@pytest.mark.parametrize(("below", "above", "together"), OVERLAYS)
def test_overlaid(below: Any, above: Any, together: Any) -> None:
    assert overlaid(below, above) == together


def test_neither_layer_is_changed() -> None:
    below: Any = {"a": {"x": 1}}
    above: Any = {"a": {"y": 2}}
    overlaid(below, above)
    assert (below, above) == ({"a": {"x": 1}}, {"a": {"y": 2}})


def test_nothing_is_reachable_but_what_is_listed() -> None:
    environment = TemplateEnvironment()
    assert environment.globals == {}
    assert set(environment.filters) == {*FILTERS, "overlaid"}
    assert set(environment.tests) == set(TESTS)
    assert environment.loader is None


def test_values_stand_beside_the_text_and_constants_too() -> None:
    environment = TemplateEnvironment()
    text = environment.compiled("a: {{ x }}\nb: {{ 1 + 1 }}\n").render(x="q: r")
    assert text == 'a: "\ue0000\ue000"\nb: "\ue0001\ue000"\n'
    assert environment.values == ["q: r", 2]
