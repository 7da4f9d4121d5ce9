"""Instants agree with Python's own; what is none is none."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.instants import instant_of_text, told


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
)
def test_an_instant_is_that_of_the_calendar(when: datetime, ahead: int) -> None:
    sign, minutes = "-" if ahead < 0 else "+", abs(ahead)
    written = when.replace(microsecond=0).isoformat()
    text = f"{written}{sign}{minutes // 60:02}:{minutes % 60:02}"
    found = instant_of_text(text)
    assert found == datetime.fromisoformat(text).timestamp()
    assert told(found) == datetime.fromtimestamp(found, UTC).strftime(
        "%Y-%m-%d %H:%M" + (":%S" if when.second else "") + " UTC"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1970-01-01T00:00:00Z", 0.0),
        ("1970-01-01t00:00:00.25z", 0.25),
        ("1970-01-01 01:00:00+01:00", 0.0),
        ("2016-12-31T23:59:60Z", 1483228799.0),
        ("1970-01-01T00:00:00", None),
        ("1970-01-01", None),
        ("1970-01-01T24:00:00Z", None),
        ("1970-01-01T00:00:61Z", None),
        ("1970-01-01T00:00:00+24:00", None),
        ("1970-01-01T00:00:00+0100", None),
        ("1970-02-30T00:00:00Z", None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_what_is_one(text: str, wanted: float | None) -> None:
    assert instant_of_text(text) == wanted
