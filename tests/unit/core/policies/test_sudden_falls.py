"""A fall takes rooms once it lasts; a value is of the rooms that ran when it was told."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.policies.sudden_falls import Told, followed, remembered
from tests.unit.core.policies.looks import NOW


def after(*values: float, every_seconds: float = 30.0) -> Told:
    """What is remembered after these values, told one after another."""
    told: Told | None = None
    for number, value in enumerate(values):
        told = followed(told, NOW + number * every_seconds, value, 5)
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("values", "doubtful"),
    [
        pytest.param((100.0,), False, id="a first value"),
        pytest.param((0.0,), True, id="a zero before which nothing was known"),
        pytest.param((0.0, 0.0, 0.0, 0.0), True, id="a zero for a minute and a half"),
        pytest.param((0.0, 0.0, 0.0, 0.0, 0.0), False, id="a zero that lasts"),
        pytest.param((100.0, 49.0), True, id="less than half at once"),
        pytest.param((100.0, 50.0), False, id="half at once"),
        pytest.param((100.0, 60.0, 36.0, 20.0, 11.0), False, id="less by and by"),
        pytest.param((100.0, 10.0, 100.0), False, id="back again"),
        pytest.param((100.0, 10.0, 60.0, 10.0), True, id="back again, and down"),
        pytest.param((100.0, 10.0, 4.0, 10.0, 30.0), True, id="down, and somewhere there"),
        pytest.param((100.0, 10.0, 4.0, 10.0, 30.0, 20.0), False, id="two minutes of it"),
        pytest.param((5.0, 0.0, 0.0), True, id="a zero after few"),
        pytest.param((100.0, 40.0, 40.0, 40.0, 40.0, 0.0), True, id="one zero after a fall"),
        pytest.param((100.0, 40.0, 40.0, 40.0, 40.0, 40.0, 0.0), True, id="one after it lasted"),
        pytest.param((100.0, 0.0, 40.0, 0.0, 0.0, 0.0), True, id="zeros with more among them"),
        pytest.param((100.0, 40.0, 40.0, 40.0, 40.0, *[0.0] * 4), True, id="zeros for a while"),
        pytest.param((100.0, 40.0, 40.0, 40.0, 40.0, *[0.0] * 5), False, id="zeros that last"),
    ],
)
def test_a_fall_is_believed_once_it_lasts(values: tuple[float, ...], doubtful: bool) -> None:
    assert after(*values).is_doubtful is doubtful


@pytest.mark.parametrize(
    ("values", "doubtful"),
    [
        pytest.param((100.0, 10.0), True, id="one answer says it once, however old"),
        pytest.param((100.0, 10.0, 10.0), False, id="the next one, ten minutes on"),
        pytest.param((100.0, 40.0, 15.0, 5.0), True, id="less than half with each"),
        pytest.param((100.0, 40.0, 15.0, 5.0, 5.0), False, id="and where it stays"),
    ],
)
def test_of_seldom_answers_the_next_one_tells(values: tuple[float, ...], doubtful: bool) -> None:
    assert after(*values, every_seconds=600.0).is_doubtful is doubtful


def test_a_value_that_is_looked_at_again_is_the_same() -> None:
    told = followed(None, NOW, 100.0, 5)

    assert followed(told, NOW, 1.0, 9) == told


def test_a_clock_that_was_set_back_ends_a_doubt() -> None:
    fallen = after(100.0, 10.0)

    assert not followed(fallen, NOW - 3600, 10.0, 5).is_doubtful


def test_memory_of_something_else_is_none() -> None:
    assert remembered(b"", "q") is None
    assert remembered(b"12345678", "q") is None


@pytest.mark.parametrize("values", [(1000.0,), (100.0, 10.0), (0.0, 0.0, 0.0, 0.0, 0.0)])
@pytest.mark.parametrize("first", [0.0, 3.0, 2000.0])
def test_the_first_answer_to_another_question_waits_as_a_fall_does(
    values: tuple[float, ...], first: float
) -> None:
    memory = after(*values).packed("metric q")
    told = followed(remembered(memory, "metric r"), NOW, first, 5)

    assert (told.is_doubtful, told.believed) == (True, math.inf)
    told = followed(remembered(told.packed("metric r"), "metric r"), NOW + 120.0, first, 5)
    assert (told.is_doubtful, told.believed) == (False, first)


@given(
    st.floats(0, 2e9),
    st.integers(0, 100_000),
    st.floats(0, 1e300) | st.just(math.inf),
    st.floats(0, 2e9),
    st.floats(0, 1e300),
)
def test_what_is_packed_comes_back(
    at: float, running: int, believed: float, fell: float, lately: float
) -> None:
    told = Told(at, running, believed, fell, lately)

    assert remembered(told.packed("metric q"), "metric q") == told
