"""What means two things, or nothing, is refused: 400, never more."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.adapters.http.refusals import Refused
from reconciler.adapters.http.strict_json import (
    _strictly_parsed,
    first_object,
    parsed,
    parsed_object,
)

HOSTILE = {
    "NaN": b'{"runningMatches": NaN}',
    "infinity": b'{"runningMatches": Infinity}',
    "minus infinity": b'{"a": -Infinity}',
    "a number beyond all": b'{"a": 1e999}',
    "the same key twice": b'{"status": "ready", "status": "occupied"}',
    "the same key twice, deeper": b'{"metadata": {"a": 1, "a": 2}}',
    "one more than 64 bits": b'{"a": 18446744073709551616}',
    "5,000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "33 arrays in each other": b"[" * 33 + b"]" * 33,
    "thousands of brackets that never close": b"[" * 16_000,
    "thousands of objects": b'{"a":' * 2000,
    "two values": b'{"a": 1} {"b": 2}',
    "half a value": b'{"a": ',
    "no text": b"\xff\xfe\x00",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "half a character": b'{"a": "\\ud800"}',
    "half a character as a key": b'{"\\uDFFF": 1}',
    "a line break in text": b'{"a": "b\nc"}',
    "nothing": b"",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_means_nothing_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as no:
        parsed(body)

    assert no.value.status == 400


@pytest.mark.parametrize("body", [b"", b" \n"])
def test_an_empty_body_is_told_of_as_one(body: bytes) -> None:
    with pytest.raises(Refused, match=r"^the body is empty$"):
        parsed_object(body)


@pytest.mark.parametrize("body", [b"[]", b"1", b'"text"', b"null", b"true"])
def test_a_body_is_an_object(body: bytes) -> None:
    with pytest.raises(Refused):
        parsed_object(body)


@pytest.mark.parametrize(
    "behind",
    [b"", b" ", b"\0", b"\r\n\0\0", b'{"b": 2}', b' {"a": 1}', b"}", b'd"}', b"\xff\xfe", b"["],
)
@pytest.mark.parametrize("first", [b'{"a": "}\\"{"}', b' {"a": [{"b": 1}]}', b"{}"])
def test_what_follows_the_first_object_is_not_looked_at(first: bytes, behind: bytes) -> None:
    assert first_object(first + behind) == json.loads(first)


@pytest.mark.parametrize(
    "body",
    [
        *(body for name, body in HOSTILE.items() if name != "two values"),
        b'\0{"a": 1}',
        b'"a" {"a": 1}',
        b'{"a": 1, "a": 1} {"a": 1}',
        b'{"a": NaN}\0',
        b"[1] {}",
        b'{"a": "b\0"}\0',
    ],
)
def test_what_is_no_sound_object_at_first_is_refused(body: bytes) -> None:
    with pytest.raises(Refused):
        first_object(body)


def test_32_arrays_in_each_other_are_not_too_many_nor_are_brackets_in_text() -> None:
    assert parsed(b"[" * 32 + b"]" * 32)
    assert parsed(json.dumps({"a": "[{" * 100, "b": '\\"[' * 50}).encode())


def test_a_whole_pair_of_surrogates_is_a_character() -> None:
    assert parsed(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.long
@settings(deadline=None)
@given(VALUES)
def test_what_is_sound_comes_through_as_it_is(value: object) -> None:
    assert parsed(json.dumps(value).encode()) == value


TEXTS = st.sampled_from(['"a"', '"b"', '"a b"', '"\\u0061"', '"\\n"', '"é"', '""', '"\\ud800"'])
NUMBERS = st.sampled_from(
    ["0", "-0", "1.0", "1.50", "1e3", "1E400", "18446744073709551616", "-9223372036854775809", "01"]
) | st.integers().map(str)
SPACE = st.sampled_from(["", " ", "\n\t", "\r"])


def _written(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Objects, of which some have a key twice, and arrays, with spaces here and there."""
    pair = st.tuples(TEXTS, SPACE, inner).map(lambda it: f"{it[0]}{it[1]}:{it[2]}")
    objects = st.tuples(SPACE, st.lists(pair, max_size=4)).map(
        lambda it: "{" + it[0] + f",{it[0]}".join(it[1]) + "}"
    )
    return objects | st.lists(inner, max_size=3).map(lambda each: "[" + " , ".join(each) + "]")


@pytest.mark.long
@settings(deadline=None, max_examples=500)
@given(st.recursive(TEXTS | NUMBERS | st.sampled_from(["null", "true", "NaN"]), _written))
def test_the_quick_way_tells_nothing_else_than_the_slow_one(text: str) -> None:
    assert _outcome(parsed, text) == _outcome(_strictly_parsed, text)


def _outcome(parse: Callable[[bytes], object], text: str) -> str:
    try:
        return repr(parse(text.encode()))
    except Refused as no:
        return str(no)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_refusal(body: bytes) -> None:
    with suppress(Refused):
        json.dumps(parsed(body), ensure_ascii=False).encode()
