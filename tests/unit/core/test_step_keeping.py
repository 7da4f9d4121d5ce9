"""Every step is kept until it is told; the oldest of too many become one that says how many."""

import json

import pytest

from reconciler.core.intent_codec import dump_scaling
from reconciler.core.record_codec import MOST_STATE_BYTES
from reconciler.core.step_keeping import REASON_CHARACTERS, STEPS_KEPT, count_of, kept
from reconciler.model.intents import BY_A_PERSON, Intent, Scaling, Step

DAY = 1_795_305_600.0
"""2026-11-22, 00:00 in UTC."""


def steps_of(count: int, reason: str = "r", begin: float = DAY, every: float = 60.0) -> list[Step]:
    return [Step(begin + n * every, n, n + 1, "buffer", reason) for n in range(count)]


def all_kept(steps: list[Step], told_at: float = 0.0) -> tuple[Step, ...]:
    found: tuple[Step, ...] = ()
    for step in steps:
        found = kept((*found, step), told_at)
    return found


def test_each_is_kept_whole_while_there_are_not_too_many() -> None:
    steps = steps_of(STEPS_KEPT)

    assert all_kept(steps) == tuple(steps)


@pytest.mark.parametrize(
    ("begin", "span"),
    [
        pytest.param(DAY + 43_260.0, "12:01 to 12:11", id="of a day"),
        pytest.param(DAY - 60.0, "2026-11-21 23:59 UTC to 2026-11-22 00:09 UTC", id="of two days"),
    ],
)
def test_the_oldest_of_too_many_become_one_that_says_so(begin: float, span: str) -> None:
    steps = steps_of(STEPS_KEPT + 10, begin=begin)

    first, *others = all_kept(steps)

    assert others == steps[11:]
    assert (first.at, first.before, first.after) == (begin, 0, 11)
    assert first.reason == f"11 steps in one, {span}; the last: r"
    assert (count_of(first), count_of(steps[0])) == (11, 1)


def test_what_was_told_and_what_a_person_began_stay_apart() -> None:
    told, *others = steps_of(STEPS_KEPT + 1)
    begun = Step(DAY, 0, 1, BY_A_PERSON, "theirs")

    assert all_kept([told, *others], told_at=DAY)[0] == told
    assert all_kept([begun, *others])[0].policy == BY_A_PERSON


@pytest.mark.parametrize("letter", ["x", '"', "é", "\U0001f600"])
def test_all_of_them_have_their_place_in_the_record(letter: str) -> None:
    found = all_kept(steps_of(STEPS_KEPT + 20, letter * 5000))
    scaling = Scaling(Intent(0, 1, found[:-1]))

    assert max(len(step.reason) for step in found[:-1]) <= REASON_CHARACTERS
    assert found[-1].reason == letter * 5000, "the newest says all of why"
    assert len(json.dumps(dump_scaling(scaling))) < MOST_STATE_BYTES * 0.4


def test_a_secret_is_masked_before_a_reason_is_cut() -> None:
    reason = "x" * (REASON_CHARACTERS - 20) + " https://bot:s3cret-of-many-letters@scaler.test"

    first, _ = all_kept(steps_of(2, reason))

    assert "s3cr" not in first.reason
