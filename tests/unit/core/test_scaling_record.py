"""A past survives its record; one that is damaged was never there, and takes no room away."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.scaling_record import past_from_json, past_to_json
from reconciler.model.decisions import Advised, Demand, Past

TIMES = st.floats(0, 4e9)
SPANS = st.lists(st.builds(Advised, TIMES, st.integers(0, 10_000)), max_size=23).map(tuple)
DEMANDS = st.builds(Demand, TIMES, st.integers(0, 9999), st.integers(0, 99_999), st.none() | TIMES)
PASTS = st.builds(
    Past,
    raised_at=st.none() | TIMES,
    lowered_at=st.none() | TIMES,
    went=st.sampled_from(["up", "down", None]),
    turned_at=st.none() | TIMES,
    highs=SPANS,
    lows=SPANS,
    demand=st.none() | DEMANDS,
    memory=st.binary(max_size=50),
)


@settings(deadline=None)
@given(PASTS)
def test_a_past_is_read_as_it_was_written(past: Past) -> None:
    text = json.dumps(past_to_json(past))

    assert past_from_json(json.loads(text)) == past
    assert len(text) < 3072


WHOLE = past_to_json(
    Past(1.0, 2.0, "down", 1.0, (Advised(1.0, 5),), (), Demand(1.0, 2, 3), b"memory")
)


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        pytest.param({"raisedAt": "now"}, {"raised_at": None}, id="a time in words"),
        pytest.param({"went": "sideways"}, {"went": None}, id="no direction"),
        pytest.param({"highs": [[1.0, 5], [2.0]]}, {"highs": ()}, id="one span that is none"),
        pytest.param({"highs": {"1": 5}}, {"highs": ()}, id="no spans"),
        pytest.param({"demand": [1.0, 2]}, {"demand": None}, id="half a demand"),
        pytest.param({"demand": [1.0, -2, 3, None]}, {"demand": None}, id="less than nobody"),
        pytest.param({"memory": "%"}, {"memory": b""}, id="no base64"),
    ],
)
def test_what_is_damaged_was_never_there(changes: dict[str, Any], lost: dict[str, Any]) -> None:
    found, whole = past_from_json({**WHOLE, **changes}), past_from_json(WHOLE)

    for name in Past.__dataclass_fields__:
        assert getattr(found, name) == lost.get(name, getattr(whole, name))


@pytest.mark.parametrize("value", [None, {}, [], "past", 3])
def test_what_is_no_past_is_an_empty_one(value: Any) -> None:
    assert past_from_json(value) == Past()
