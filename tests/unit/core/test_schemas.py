"""Our dialect of JSON Schema is plain JSON Schema to editors; our schemas say all they must."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core import formats
from reconciler.core.pod_rules import POD_SPEC, REFINED
from reconciler.core.schema_check import check
from reconciler.core.schemas import refined_schema, validator_of
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


@pytest.mark.parametrize("kind", ["Scheduler", "Fleet", "Config", "Replicas", "Values"])
def test_a_schema_is_a_sound_one_and_uses_only_what_we_act_upon(kind: str) -> None:
    schema = assets.schemas()[kind]
    jsonschema.Draft202012Validator.check_schema(schema)

    assert schema["$id"] == f"https://gamekeeper.dev/schemas/{kind.lower()}.v1.json"
    for node in nodes(schema):
        assert set(node) <= ANNOTATIONS | KEYWORDS


@pytest.mark.parametrize("kind", ["Scheduler", "Fleet", "Config", "Replicas", "Values"])
def test_every_property_is_described_with_unit_default_and_example(kind: str) -> None:
    for name, node, is_required in properties(assets.schemas()[kind]):
        assert node["description"].endswith("."), name
        assert node["x-unit"], name
        assert node["examples"], name
        # A count must be written, too, in the spec or in replicas.yaml: no schema can say that.
        assert is_required or name == "replicas" or "default" in node, name
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
    st.sampled_from(["", "25%", "none", "packed", "count", "Delete", "arena", "1.36", "A b", "."]),
    st.just([]),
    st.just({}),
)


ENGINE = loaded(
    "{rollout: {maxSurge: 25%, maxUnavailable: 0}, portRange: {start: 1, end: 2}, "
    "timeouts: {initializeSeconds: 60, pingSeconds: 60, terminateSeconds: 60, "
    "silentBusySeconds: 7200}, removal: {quietSeconds: 5, drainDeadlineSeconds: 60}, "
    "failure: {action: Remove, maxFailures: 3, windowSeconds: 60}, "
    "disruption: {mode: count, safetyPercentage: 0.05, intervalSeconds: 5}, "
    "scheduling: packed, objects: objects/arena, suspend: false, "
    "ignore: [{kind: ConfigMap, name: a, paths: [/data/a~1b]}], drift: {mode: warn}, "
    "copyFrom: [{kind: Secret, namespace: shared, name: pull}], "
    "autoscaling: {enabled: true, min: 1, max: 9, policy: {fixedBuffer: {amount: 5}}, "
    "scaleUp: {cooldownSeconds: 60, stabilizationSeconds: 30, step: 5}, "
    "scaleDown: {cooldownSeconds: 60, stabilizationSeconds: 300, step: 20%}}}"
)
WHOLE: dict[str, Any] = {
    "Scheduler": {
        **loaded(SPEC),
        "spec": {**loaded(SPEC)["spec"], **ENGINE, "matches": {"max": 2}},
    },
    "Fleet": {
        **loaded(SPEC),
        "kind": "Fleet",
        "spec": {
            **loaded(SPEC)["spec"],
            **ENGINE,
            "namespace": "servers",
            "portsToExpose": [7777, 7778],
        },
    },
    "Config": loaded(
        "{apiVersion: gamekeeper.dev/v1, kind: Config, spec: {paths: [a, b/c], kubernetesVersion: "
        "'1.36', budgets: {workload: {rooms: 3, percent: 1.5}, windowSeconds: 600}, "
        "resyncSeconds: 60, pollSeconds: 60, freeze: [{name: cup, reason: x, "
        "schedule: 0 9 * * fri, timeZone: UTC, durationSeconds: 60}, "
        "{name: day, from: '2026-12-23', until: '2026-12-24', timeZone: UTC}], "
        "writeBack: {mode: direct, quietSeconds: 60, humanHoldSeconds: 900, message: $summary}}}"
    ),
    "Replicas": loaded(
        "{apiVersion: gamekeeper.dev/v1, kind: Replicas, "
        "spec: {counts: {Scheduler/arena: 10, Fleet/servers/duel: 0}}}"
    ),
    "Values": loaded(
        "{apiVersion: gamekeeper.dev/v1, kind: Values, spec: {config: {writeBack: {mode: 'off'}, "
        "budgets: {}, resyncSeconds: 60, pollSeconds: 60, kubernetesVersion: '1.36'}, "
        "workloads: {Scheduler/arena: {replicas: 9}}}}"
    ),
}
VALIDATORS = {
    kind: jsonschema.Draft202012Validator(schema) for kind, schema in assets.schemas().items()
}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Scheduler", "Fleet", "Config", "Replicas", "Values"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_our_verdict_is_that_of_an_editor(kind: str, data: st.DataObject) -> None:
    whole = WHOLE[kind]
    broken = put(whole, data.draw(st.sampled_from(list(paths_of(whole)))), data.draw(PLAIN))

    found = check(kit().kinds[kind], broken)

    assert (found == []) == VALIDATORS[kind].is_valid(broken), json.dumps(broken)


def test_a_whole_document_has_no_mistakes() -> None:
    for kind, whole in WHOLE.items():
        assert check(kit().kinds[kind], whole) == []


def test_an_editor_offers_every_property_in_a_whole_document() -> None:
    for kind, whole in WHOLE.items():
        known = assets.schemas()[kind]["properties"]["spec"]["properties"].keys()
        assert whole["spec"].keys() == known, kind


def test_what_both_kinds_of_fleet_have_is_asked_for_in_the_same_way() -> None:
    told = {"description", "default", "examples", "required", "type"}

    def shape(node: Any) -> Any:
        if isinstance(node, dict) and "x-unit" in node:
            node = {name: each for name, each in node.items() if name not in told}
        if isinstance(node, dict):
            return {name: shape(each) for name, each in node.items()}
        return node

    schemas = assets.schemas()
    scheduler, fleet = (
        schemas[kind]["properties"]["spec"]["properties"] for kind in ("Scheduler", "Fleet")
    )
    assert fleet.keys() - scheduler.keys() == {"namespace", "portsToExpose"}
    assert scheduler.keys() - fleet.keys() == {"matches"}
    for name in scheduler.keys() & fleet.keys():
        assert shape(scheduler[name]) == shape(fleet[name]), name
    for name in ("timeouts", "removal", "failure", "disruption", "rollout", "template"):
        assert scheduler[name] == fleet[name], name


def test_a_refinement_says_more_of_what_a_version_has_and_nothing_of_what_it_has_not() -> None:
    words: Json = {"type": ["string", "null"]}
    definitions: Json = {"A": {"type": "object", "properties": {"x": words, "z": words}}}
    refined: dict[str, Json] = {
        "A": {"required": ["x"], "properties": {"x": {"enum": ["a"]}, "y": {}, "z": {"enum": []}}}
    }
    schema = refined_schema(definitions, "A", refined)
    validator = validator_of(schema)

    assert schema["$defs"]["A"]["properties"].keys() == {"x", "z"}
    assert validator.is_valid({"x": "a"})
    assert validator.is_valid({"x": "a", "z": None})
    assert [validator.is_valid(one) for one in ({}, {"x": "b"}, {"x": None})] == [False] * 3
    assert "required" not in definitions["A"]


@pytest.mark.parametrize("version", assets.kubernetes_versions())
def test_a_pod_is_judged_by_keywords_that_we_have_words_for(version: str) -> None:
    schema = refined_schema(assets.kubernetes_definitions(version), POD_SPEC, REFINED)
    used, forms = set[str](), set[str]()
    met, todo = set[str](), [schema["$ref"]]
    while todo:
        name = todo.pop().removeprefix("#/$defs/")
        if name not in met:
            met.add(name)
            for node in nodes(schema["$defs"][name]):
                used |= node.keys() & jsonschema.Draft202012Validator.VALIDATORS.keys()
                forms |= {node["format"]} if "format" in node else set()
                todo += [node["$ref"]] if "$ref" in node else []

    assert len(met) > 90
    assert used <= KEYWORDS | {"format", "$ref"}
    # The forms that Kubernetes' own schemas name besides: what they say, its decoder checks.
    assert forms - set(formats.KINDS) <= {"int32", "int64", "date-time"}
    assert validator_of(schema).is_valid(loaded(SPEC)["spec"]["template"]["spec"])


@pytest.mark.parametrize(
    ("message", "is_good"),
    [
        pytest.param("$summary", True, id="the usual one"),
        pytest.param("chore: ${summary} ($count, $instance) costs 5 $$", True, id="all of it"),
        pytest.param("$secret", False, id="a place that is unknown"),
        pytest.param("$summaries", False, id="a longer name"),
        pytest.param("${summary", False, id="a brace that stays open"),
        pytest.param("${summary.__class__}", False, id="an attribute"),
        pytest.param("costs 5 $", False, id="a dollar sign alone"),
        pytest.param("  ", False, id="nothing"),
        pytest.param("one\ntwo", False, id="two lines"),
    ],
)
def test_a_commits_first_line_is_refused_where_it_cannot_be_filled_in(
    message: str, is_good: bool
) -> None:
    config = {**WHOLE["Config"], "spec": {"writeBack": {"message": message}}}
    assert (check(kit().kinds["Config"], config) == []) is is_good
