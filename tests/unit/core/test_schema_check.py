"""Mistakes are told in plain words, with what to write instead."""

from typing import Any

import pytest

from reconciler.core.mistakes import MOST_MISTAKES
from reconciler.core.schema_check import check
from reconciler.core.schemas import validator_of
from reconciler.model.refs import Json

CASES = [
    pytest.param({"type": "integer"}, "10", "a whole number", "write 10", id="a number in quotes"),
    pytest.param({"type": "integer"}, "010", "a whole number", "10, or 8 if octal", id="octal"),
    pytest.param({"type": "integer"}, "1_000", "a whole number", "write 1000", id="underscores"),
    pytest.param({"type": "integer"}, "many", "a whole number", "plain number", id="a word"),
    pytest.param({"type": "integer"}, 1.0, "a whole number, not 1.0", "write 1, not 1.0",
                 id="a whole number with a point"),
    pytest.param({"type": "integer"}, 2.5, "a whole number, not 2.5", "write 2 or 3",
                 id="a fraction"),
    pytest.param({"type": "integer"}, -0.5, "a whole number, not -0.5", "write -1 or 0",
                 id="a fraction below nothing"),
    pytest.param({"type": "integer"}, 1e300, "not 1e+300", "write a whole number",
                 id="a fraction of 300 digits"),
    pytest.param({"type": "integer"}, True, "a whole number, not true", "", id="true is no number"),
    pytest.param({"type": "array"}, False, "a list, not false", "'- '", id="false is no list"),
    pytest.param({"type": "boolean"}, "no", "true or false", "write false", id="Norway"),
    pytest.param({"type": "boolean"}, "True", "true or false", "write true", id="Python's true"),
    pytest.param({"type": "string"}, 1.3, "text", "quotes", id="a version without quotes"),
    pytest.param({"type": "array"}, {}, "a list", "'- '", id="a mapping for a list"),
    pytest.param({"type": "object"}, None, "a mapping", "", id="nothing for a mapping"),
    pytest.param({"type": "integer", "minimum": 1}, 0, "at least 1", "1 or more", id="too small"),
    pytest.param({"type": "integer", "maximum": 9}, 10, "at most 9", "9 or less", id="too large"),
    pytest.param({"enum": ["packed"]}, "packd", "packed", '"packed"?', id="nearly a known word"),
    pytest.param({"const": "v1"}, 7, "must be v1", "write v1", id="the only word"),
    pytest.param({"type": "string", "minLength": 1}, "", "not empty", "", id="empty text"),
    pytest.param({"type": "string", "maxLength": 2}, "abc", "at most 2", "", id="long text"),
    pytest.param({"format": "dns-label"}, "My_Game", "63", 'write "my-game"', id="a bad label"),
    pytest.param({"format": "dns-subdomain"}, "A.b", "253", 'write "a.b"', id="a bad subdomain"),
    pytest.param({"format": "port-name"}, "1234", "one letter", "", id="a port name of digits"),
    pytest.param({"format": "port-name"}, "game--udp", "single '-'", 'write', id="two dashes"),
    pytest.param({"format": "env-name"}, "A=B", "=", "", id="a bad variable name"),
    pytest.param({"format": "quantity"}, "1x", "250m", "", id="no quantity"),
    pytest.param({"format": "quantity"}, [], "amount", "", id="a list for a quantity"),
    pytest.param({"format": "int-or-string"}, 1.5, "a whole number or text, not 1.5",
                 "write 1 or 2", id="no int or string"),
    pytest.param({"format": "int-or-string"}, 8080.0, "not 8080.0", "write 8080, not 8080.0",
                 id="a port with a point"),
    pytest.param({"items": {"type": "string"}}, [1], "must be text", "quotes", id="a wrong item"),
    pytest.param({"items": {"type": ["object", "null"]}}, [None], "empty items", "take",
                 id="an item that is nothing"),
    pytest.param({"required": ["x"], "properties": {"x": {"format": "int-or-string"}}},
                 {"x": None}, "x is missing", "add x:", id="a required property without value"),
    pytest.param({"minItems": 1}, [], "at least 1", "add", id="an empty list"),
    pytest.param({"maxItems": 1}, [1, 2], "at most 1", "", id="a long list"),
    pytest.param({"uniqueItems": True}, ["a", "a"], "twice", "keep one", id="an item twice"),
    pytest.param({"required": ["x"]}, {}, "x is missing", "add x:", id="a missing property"),
    pytest.param(
        {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "a"}], "x-plain": "an A"},
        "b", "must be an A", "", id="none of the choices",
    ),
    pytest.param(
        {"oneOf": [{"type": "integer", "maximum": 9}, {"type": "string"}], "x-plain": "an A"},
        10, "at most 9", "9 or less", id="a choice that is nearly met",
    ),
    pytest.param({"type": "string", "enum": ["a"], "minLength": 1}, [], "must be text", "",
                 id="a wrong type is told alone"),
    pytest.param({"type": "string", "minLength": 1, "pattern": "a+"}, "", "not empty", "",
                 id="a text is told of once"),
    pytest.param({"pattern": "^a$"}, "a\n", "written another way", 'write "a"',
                 id="a line's end after a text that fits"),
    pytest.param({"uniqueItems": True}, ["a", 1, "b", {}, "b"], "twice", "keep one",
                 id="an item twice among others"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "message", "fix"), CASES)
def test_one_mistake_is_told(schema: Json, value: Any, message: str, fix: str) -> None:
    found = check(validator_of(schema), value)

    (mistake,) = found
    assert message in mistake.message
    assert fix in mistake.fix
    assert mistake.fix


SUCH = {"examples": [10]}


@pytest.mark.parametrize(
    ("schema", "value", "fix"),
    [
        pytest.param({"type": "integer", **SUCH}, None, "write it like x: 10",
                     id="nothing for a number"),
        pytest.param({"type": "object", "examples": [{"a": {"b": 5}}]}, "text",
                     'write it like x: {"a": {"b": 5}}', id="text for a mapping"),
        pytest.param({"type": "object", "examples": [{"a": "b" * 200}]}, "text",
                     "write its properties below it, each on a line of its own",
                     id="an example that is too long to be repeated"),
        pytest.param({"type": "string", "minLength": 1, "examples": ["sum(up)"]}, "",
                     'write it like x: "sum(up)"', id="no text"),
        pytest.param({"type": "string", "pattern": "a", "examples": ["a"]}, "!",
                     'write it like x: "a"',
                     id="text of another form"),
        pytest.param({"enum": ["direct", "off"], "examples": ["direct"]}, "pr",
                     "write direct or off", id="no known word"),
        pytest.param({"enum": ["monday", "tuesday", "sunday", "friday"]}, "x",
                     "write one of them", id="none of many words"),
        pytest.param({"items": {"type": "string", "examples": ["a"]}}, [{}], 'write it like "a"',
                     id="an item of a list"),
        pytest.param({"type": "integer", **SUCH}, "10", "write 10", id="what was meant is known"),
    ],
)  # fmt: skip
def test_what_to_write_is_said_by_the_examples_of_the_schema(
    schema: Json, value: Any, fix: str
) -> None:
    (mistake,) = check(validator_of({"properties": {"x": schema}}), {"x": value})

    assert mistake.fix == fix


@pytest.mark.parametrize(
    ("known", "fix"),
    [
        pytest.param({"maxSurge": {}}, 'did you mean "maxSurge"?', id="one is near"),
        pytest.param({"a": {}, "b": {}}, "known here: a, b", id="few are known"),
        pytest.param({f"p{n}": {} for n in range(30)}, "take it out", id="many are known"),
    ],
)
def test_an_unknown_property_names_what_is_known(known: Json, fix: str) -> None:
    schema = {"properties": known, "additionalProperties": False}
    found = check(validator_of(schema), {"maxSurgee": 1})

    (mistake,) = found
    assert (mistake.message, mistake.fix) == ("unknown property", fix)
    assert mistake.at_key


@pytest.mark.parametrize(("kind", "repeated"), [("object", False), ("array", False),
                                                ("integer", True), ("boolean", True)])  # fmt: skip
def test_short_text_where_no_text_belongs_may_be_a_secret_in_the_place_of_its_name(
    kind: str, repeated: bool
) -> None:
    # As in `valueFrom: hunter2`.
    schema = {"properties": {"valueFrom": {"type": kind}}}
    (found,) = check(validator_of(schema), {"valueFrom": "hunter2"})
    assert ("hunter2" in found.message) is repeated


def test_a_value_of_the_wrong_type_is_not_repeated_for_it_may_be_a_secret() -> None:
    found = check(validator_of({"type": "string"}), 271828182845)

    assert "2718" not in found[0].message + found[0].fix


def test_what_a_hostile_document_gets_wrong_is_told_up_to_a_bound() -> None:
    schema = {"additionalProperties": False}
    found = check(validator_of(schema), {f"a{n}": 1 for n in range(50_000)})

    assert len(found) == MOST_MISTAKES


def test_mistakes_stand_where_they_are_and_below_what_holds_the_value() -> None:
    schema = {
        "properties": {"ports": {"items": {"required": ["n"], "additionalProperties": False}}}
    }
    found = check(validator_of(schema), {"ports": [{"m": 1, "o": 2}]}, ("spec",))

    assert {(mistake.path, mistake.rule) for mistake in found} == {
        (("spec", "ports", 0), "missing-property"),
        (("spec", "ports", 0, "m"), "unknown-property"),
        (("spec", "ports", 0, "o"), "unknown-property"),
    }


def test_what_is_told_of_too_many_is_what_stands_first() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    found = check(validator_of(schema), {f"a{n}": n for n in range(1000)})

    assert [mistake.path for mistake in found] == [(f"a{n}",) for n in range(MOST_MISTAKES)]


def test_items_of_many_kinds_are_compared_in_no_time() -> None:
    mixed: list[Any] = [n if n % 2 else str(n) for n in range(100_000)]

    assert check(validator_of({"uniqueItems": True}), mixed) == []
