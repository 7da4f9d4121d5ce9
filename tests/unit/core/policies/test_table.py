"""Every policy of ours: its schema, its examples, and what must be true of any advice."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.policies.nested import advise_by, check_policy
from reconciler.core.policies.policy import Facts, policy_of
from reconciler.core.policies.table import policy_table
from reconciler.core.schema_check import check
from reconciler.core.schemas import validator_of
from reconciler.model.refs import Json
from reconciler.model.scaling import Load
from tests.unit.core.policies.looks import a_look, policies, schemas, signal
from tests.unit.core.reading import paths_of, put
from tests.unit.core.test_schemas import ANNOTATIONS, KEYWORDS, PLAIN, nodes, properties

NAMES = sorted(schemas())
FACTS = Facts(reports=True, minimum=0, maximum=100)


def test_every_policy_has_a_schema_of_its_name_and_every_schema_a_policy() -> None:
    assert sorted(policies()) == NAMES
    assert [policies()[name].name for name in NAMES] == NAMES
    assert [policies()[name].schema["title"] for name in NAMES] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_sound_one_and_uses_only_what_we_have_words_for(name: str) -> None:
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)

    assert schema["$id"] == f"https://gamekeeper.dev/schemas/policies/{name}.v1.json"
    for node in nodes(schema):
        assert set(node) <= ANNOTATIONS | KEYWORDS


@pytest.mark.parametrize("name", NAMES)
def test_every_property_is_described_with_unit_default_and_example(name: str) -> None:
    for known, node, is_required in properties(schemas()[name]):
        assert node["description"].endswith("."), known
        assert node["x-unit"], known
        assert is_required or "default" in node, known
        validator = jsonschema.Draft202012Validator(node)
        for example in node["examples"]:
            validator.validate(example)
        if "default" in node:
            validator.validate(node["default"])


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_right_and_nobody_is_told_otherwise(name: str) -> None:
    for example in schemas()[name]["examples"]:
        assert list(check_policy({name: example}, (), policies(), FACTS)) == []


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_our_verdict_on_its_form_is_that_of_an_editor(name: str, data: st.DataObject) -> None:
    schema = schemas()[name]
    whole = data.draw(st.sampled_from(schema["examples"]))
    broken = put(whole, data.draw(st.sampled_from(list(paths_of(whole)))), data.draw(PLAIN))

    found = check(validator_of(schema), broken)

    valid = jsonschema.Draft202012Validator(schema).is_valid(broken)
    assert (found == []) == valid, json.dumps(broken)


LOADS = st.builds(
    Load,
    replicas=st.integers(0, 300),
    ready=st.integers(0, 100),
    active=st.integers(0, 100),
    occupied=st.integers(0, 100),
    allocated=st.integers(0, 100),
    starting=st.integers(0, 100),
    matches=st.integers(0, 400),
    matches_max=st.integers(1, 10),
    players=st.integers(0, 5000),
    unheard=st.integers(0, 50),
    healthy=st.booleans(),
)
ANSWERS = st.one_of(st.none(), st.floats(), st.integers(-5, 5000), st.just({"replicas": 3}))


@pytest.mark.long
@settings(max_examples=50, deadline=None)
@given(data=st.data(), load=LOADS, answer=ANSWERS, age=st.floats(-100, 1000))
@pytest.mark.parametrize("name", NAMES)
def test_any_advice_is_a_count_with_a_reason(
    name: str, data: st.DataObject, load: Load, answer: Any, age: float
) -> None:
    value = {name: data.draw(st.sampled_from(schemas()[name]["examples"]))}
    policy = policies()[name]
    asks = policy.asks(policy_of(value).parameters)
    look = a_look(load, signals={ask.name: signal(answer, age) for ask in asks})

    found = advise_by(policy_of(value), look, policies())

    assert type(found.replicas) is int
    assert found.replicas >= 0
    assert found.hold or any(map(str.isdigit, found.reason)), "a sentence with its numbers"
    assert "failed" not in found.hold
    if found.hold:
        assert found.replicas == load.replicas


def test_two_of_one_name_are_an_error() -> None:
    ours: dict[str, Json] = schemas()

    with pytest.raises(ValueError, match="two policies are named buffer"):
        policy_table(ours, {}, [policies()["buffer"]])
