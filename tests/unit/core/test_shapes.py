"""Our reading of JSON Schema is the library's; and our schemas say all that they must."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core.mistakes import Mistake
from reconciler.core.shape_check import check
from reconciler.core.shapes import Shapes
from reconciler.model.refs import Json
from tests.unit.core.reading import SPEC, kit, loaded, paths_of, put

ANNOTATIONS = {"$schema", "$id", "title", "description", "default", "examples"} | {
    "x-unit",
    "x-plain",
}
KEYWORDS = (
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "oneOf"}
    | {"minimum", "maximum", "minLength", "maxLength", "pattern"}
    | {"minItems", "maxItems", "uniqueItems"}
)


def nodes(schema: Json) -> Iterator[Json]:
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from nodes(inner)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from nodes(schema[name])
    for inner in schema.get("oneOf", ()):
        yield from nodes(inner)


def properties(schema: Json) -> Iterator[tuple[str, Json, bool]]:
    for node in nodes(schema):
        for name, inner in node.get("properties", {}).items():
            yield name, inner, name in node.get("required", ())


@pytest.mark.parametrize("kind", ["Scheduler", "Config"])
def test_a_schema_is_a_sound_one_and_uses_only_what_we_act_upon(kind: str) -> None:
    schema = assets.schemas()[kind]
    jsonschema.Draft202012Validator.check_schema(schema)

    assert schema["$id"] == f"https://gamekeeper.dev/schemas/{kind.lower()}.v1.json"
    for node in nodes(schema):
        assert set(node) <= ANNOTATIONS | KEYWORDS


@pytest.mark.parametrize("kind", ["Scheduler", "Config"])
def test_every_property_is_described_with_unit_default_and_example(kind: str) -> None:
    for name, node, is_required in properties(assets.schemas()[kind]):
        assert node["description"].endswith("."), name
        assert node["x-unit"], name
        assert node["examples"], name
        assert is_required or "default" in node, name
        validator = jsonschema.Draft202012Validator(node)
        for example in node["examples"]:
            validator.validate(example)
        if "default" in node:
            validator.validate(node["default"])


def test_the_known_kubernetes_versions_are_those_that_are_installed() -> None:
    spec = assets.schemas()["Config"]["properties"]["spec"]["properties"]

    assert tuple(spec["kubernetesVersion"]["enum"]) == assets.kubernetes_versions()


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 20000),
    st.floats(-1, 2).filter(lambda number: not number.is_integer()),
    st.sampled_from(["", "25%", "101%", "none", "packed", "count", "arena", "1.36", "A b", "."]),
    st.just([]),
    st.just({}),
)


WHOLE: dict[str, Any] = {
    "Scheduler": {
        **loaded(SPEC),
        "spec": {
            **loaded(SPEC)["spec"],
            "rollout": {"maxSurge": "25%", "maxUnavailable": 0},
            "portRange": {"start": 1, "end": 2},
            "disruption": {"mode": "count", "safetyPercentage": 0.05},
            "scheduling": "packed",
            "suspend": False,
        },
    },
    "Config": loaded(
        "{apiVersion: gamekeeper.dev/v1, kind: Config, spec: {paths: [a, b/c], kubernetesVersion: "
        "'1.36', budgets: {workload: {rooms: 3, percent: 1.5}, windowSeconds: 600}, "
        "resyncSeconds: 60, pollSeconds: 60}}"
    ),
}
VALIDATORS = {
    kind: jsonschema.Draft202012Validator(schema) for kind, schema in assets.schemas().items()
}


@pytest.mark.parametrize("kind", ["Scheduler", "Config"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_our_verdict_is_that_of_the_library(kind: str, data: st.DataObject) -> None:
    whole = WHOLE[kind]
    broken = put(whole, data.draw(st.sampled_from(list(paths_of(whole)))), data.draw(PLAIN))
    found: list[Mistake] = []

    check(kit().kinds[kind], broken, (), found)

    assert (found == []) == VALIDATORS[kind].is_valid(broken), json.dumps(broken)


def test_a_whole_document_has_no_mistakes() -> None:
    for kind, whole in WHOLE.items():
        found: list[Mistake] = []
        check(kit().kinds[kind], whole, (), found)
        assert found == []


def test_a_refinement_says_more_of_what_a_version_has_and_nothing_of_what_it_has_not() -> None:
    definitions: Json = {"A": {"type": "object", "properties": {"x": {"type": "string"}}}}
    refined: dict[str, Json] = {
        "A": {"required": ["x"], "properties": {"x": {"enum": ["a"]}, "y": {}}}
    }
    shape = Shapes(definitions, refined).definition("A")

    assert shape.required == ("x",)
    assert shape.properties == {"x"}
    inner = shape.field("x")
    assert inner is not None
    assert inner.enum == ("a",)
