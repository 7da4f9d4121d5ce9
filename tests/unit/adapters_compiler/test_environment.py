from typing import Any

import pytest
from jinja2 import nodes

from reconciler import assets
from reconciler.adapters.compiler import rendering
from reconciler.adapters.compiler.environment import (
    FILTERS,
    TESTS,
    NotAllowed,
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


def test_what_nests_deeper_than_python_compiles_is_told_at_its_innermost_line() -> None:
    loops = [f"{{% for a{n} in b %}}" for n in range(30)]
    source = "\n".join([*loops, "c", *["{% endfor %}"] * 30])
    with pytest.raises(NotAllowed, match="nests too deep") as told:
        TemplateEnvironment().compiled(source)
    assert told.value.lineno == 31


def test_an_expression_is_not_computed_before_there_are_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[nodes.Node] = []
    monkeypatch.setattr(nodes.Getattr, "as_const", lambda self, *_: tried.append(self))
    TemplateEnvironment().compiled("{{ " + "a" + ".b" * 20 + " }}")
    assert not tried, "each part would be tried once for every part around it"


def test_our_own_templates_are_compiled_once_and_a_strangers_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = assets.templates()
    rendering.warm(ours.values())
    read: list[str] = []
    parse = TemplateEnvironment.parse

    def parsed(self: TemplateEnvironment, source: str) -> nodes.Template:
        read.append(source)
        return parse(self, source)

    monkeypatch.setattr(TemplateEnvironment, "parse", parsed)
    for name, source in ours.items():
        assert TemplateEnvironment().compiled(source, name).name == name
    assert not read
    for _ in range(2):
        with pytest.raises(NotAllowed, match="includes another file"):
            TemplateEnvironment().compiled("{% include 'x' %}")
        assert TemplateEnvironment().compiled(f"{{{{ x }}}}{ours['pod.yaml.j2']}")
    assert len(read) == 4
