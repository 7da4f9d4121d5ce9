"""A policy that stands still is told once that lasts, and seldom said anew."""

from dataclasses import replace

import pytest

from reconciler.core import pauses
from reconciler.core.conditions import READY
from reconciler.model.decisions import GIVEN_UP, NO_PAST, Decision
from reconciler.model.intents import NO_SCALING, Scaling
from reconciler.model.pauses import Pause
from reconciler.model.records import Condition
from tests.unit.core.making import NOW

HELD = Scaling(held_until=NOW + 900, held_by="ab" * 20)
DEAF = "3 of 20 rooms are not heard, more than 2"
STILL = Pause("DemandDoubted", DEAF, NOW - 90, NOW - 90)


def decided(
    hold: str = "", before: Scaling = NO_SCALING, advised: int | None = 5, reason: str = "why"
) -> tuple[Scaling, Decision]:
    return before, Decision(5, reason, NO_PAST, (reason,), hold, advised)


@pytest.mark.parametrize(
    ("found", "reason", "message"),
    [
        pytest.param(
            decided("the signal is old", advised=None),
            "PolicyHold",
            "the signal is old",
            id="a signal that is missing is the policy's own hold",
        ),
        pytest.param(
            decided(DEAF), "DemandDoubted", DEAF, id="rooms that are not heard are a doubt"
        ),
        pytest.param(
            decided("anything", HELD),
            "HumanHold",
            "the number was set by hand in abababababab",
            id="a person's number goes before what the policy says",
        ),
        pytest.param(
            decided("anything", replace(HELD, went_back=True)),
            "HumanHold",
            "the branch moved to abababababab, and not forward (a force-push, or a Git host "
            "whose replicas lag)",
            id="nobody set by hand the number to which a branch went back",
        ),
        pytest.param(
            decided(GIVEN_UP, reason=GIVEN_UP),
            "SwitchedOff",
            GIVEN_UP,
            id="an operator who lets no policy act",
        ),
    ],
)
def test_a_pause_has_its_reason(found: tuple[Scaling, Decision], reason: str, message: str) -> None:
    pause = pauses.pause_of(None, *found, NOW)
    assert pause is not None
    assert (pause.reason, pause.message, pause.since) == (reason, message, NOW)


def test_one_of_several_that_cannot_tell_is_told_beside_the_decision_of_the_others() -> None:
    found = decided()[1]
    partly = replace(found, missing="policy 2 of 2 cannot tell: it is old")

    pause = pauses.pause_of(None, NO_SCALING, partly, NOW)

    assert pause == Pause("MemberSilent", "policy 2 of 2 cannot tell: it is old", NOW, NOW)
    assert pauses.on_record([pauses.condition_of(pause)]) == pause
    deaf = pauses.pause_of(None, NO_SCALING, replace(partly, hold=DEAF), NOW)
    assert deaf is not None
    assert deaf.reason == "DemandDoubted", "what stops all goes before what stops one"


def test_a_policy_that_may_act_has_none() -> None:
    assert pauses.pause_of(STILL, *decided(), NOW) is None
    over = replace(HELD, held_until=NOW)
    assert pauses.pause_of(STILL, *decided(before=over), NOW) is None


def test_one_that_goes_on_keeps_its_beginning_and_its_sentence_for_a_while() -> None:
    other = decided("4 of 20 rooms are not heard, more than 2")
    assert pauses.pause_of(STILL, *other, NOW) == STILL
    later = STILL.told_at + pauses.RENEWED_SECONDS
    renewed = pauses.pause_of(STILL, *other, later)
    assert renewed == Pause("DemandDoubted", other[1].hold, STILL.since, later)


def test_what_is_told_in_the_end_is_the_sentence_of_then() -> None:
    begun = pauses.pause_of(None, *decided("the metric was not asked yet", advised=None), NOW)
    known = pauses.pause_of(begun, *decided("the metric told nothing", advised=None), NOW + 1)
    assert known == Pause("PolicyHold", "the metric told nothing", NOW, NOW)


def test_another_reason_or_another_persons_commit_begins_anew() -> None:
    assert pauses.pause_of(STILL, *decided("old", advised=None), NOW) == Pause(
        "PolicyHold", "old", NOW, NOW
    )
    first = pauses.pause_of(None, *decided(before=HELD), NOW)
    second = pauses.pause_of(first, *decided(before=replace(HELD, held_by="cd" * 20)), NOW + 1)
    assert second == Pause(
        "HumanHold", "the number was set by hand in cdcdcdcdcdcd", NOW + 1, NOW + 1
    )


@pytest.mark.parametrize(
    ("pause", "now", "shown"),
    [
        pytest.param(STILL, STILL.since + 59, False, id="rooms that start are no news"),
        pytest.param(STILL, STILL.since + 60, True, id="what lasts is told"),
        pytest.param(STILL, STILL.since - 1, True, id="a clock that was set back hides nothing"),
        pytest.param(
            replace(STILL, reason="HumanHold"), STILL.since, True, id="a person's is told at once"
        ),
    ],
)
def test_a_pause_is_told_once_it_lasts(pause: Pause, now: float, shown: bool) -> None:
    assert pauses.told(pause, now) == (pause if shown else None)


def test_it_stands_on_record_as_a_condition_and_is_read_back() -> None:
    condition = pauses.condition_of(STILL)
    assert condition == Condition("ScalingHeld", True, "DemandDoubted", DEAF, STILL.since)
    ready = Condition(READY, True, "AllRoomsReady", "", NOW)
    assert pauses.on_record((ready, condition)) == replace(STILL, told_at=STILL.since)
    assert pauses.on_record((ready,)) is None
    assert pauses.on_record((replace(condition, reason="OfANewerVersion"),)) is None
