"""From a decision to what acts: people hold it, the budget slows it, and the record remembers."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.deciding import Decided, decide, given_up
from reconciler.core.policies.policy import policy_of
from reconciler.model.decisions import Advised, Past
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.scaling import Autoscaling, Bounds, Pace
from reconciler.model.specs import Budgets
from tests.unit.core.policies.looks import NOW, a_load, a_look, policies

EARLIER = Past(highs=(Advised(NOW - 5000, 0), Advised(NOW - 400, 0)))
CALM = Scaling(past=EARLIER)


def decided(
    wanted: int, count: int, before: Scaling = CALM, at: float = NOW, in_git: int = 20, **more: Any
) -> Decided:
    bounds = Bounds(more.pop("minimum", 0), more.pop("maximum", 1000))
    # Nobody plays: it wants what it is given, and remembers nothing.
    policy = policy_of({"fixedBuffer": {"amount": wanted}})
    rule = Autoscaling(True, bounds, policy, scale_down=Pace(), **more)
    look = a_look(a_load(ready=count, replicas=count), now=at)
    return decide(rule, in_git, before, look, policies(), Budgets())


def test_what_changes_nothing_is_remembered_and_told() -> None:
    found = decided(20, 20)
    assert not found.moves(20)
    assert found.scaling.intent is None
    assert found.scaling.past != EARLIER


def test_a_change_is_an_intent_with_its_sentence() -> None:
    found = decided(30, 20)
    assert found.moves(20)
    assert found.scaling.intent == Intent(
        20, 30, (Step(NOW, 20, 30, "fixedBuffer", found.decision.reason),)
    )


def test_what_shaped_a_change_stays_on_record_bounded() -> None:
    found = decided(30, 20, maximum=25)
    last = found.scaling.last
    assert last is not None
    assert (last.before, last.after, last.policy) == (20, 25, "fixedBuffer")
    assert last.reason == "; ".join(found.decision.steps)
    assert "25" in last.reason
    assert decided(20, 20, found.scaling).scaling.last == last, "nothing was decided since"


def test_a_change_that_is_not_put_on_record_begins_no_cool_down_and_was_no_turn() -> None:
    before = replace(CALM, past=replace(EARLIER, went="down", lowered_at=NOW - 60))
    found = decided(30, 20, before, scale_up=Pace(cooldown_seconds=300.0))
    assert (found.scaling.past.raised_at, found.scaling.past.turned_at) == (NOW, NOW)
    assert replace(found.scaling, past=found.watched).past.highs == found.scaling.past.highs
    again = decided(
        30,
        20,
        replace(before, past=found.watched),
        at=NOW + 1,
        scale_up=Pace(cooldown_seconds=300.0),
    )
    assert again.moves(20)


@pytest.mark.parametrize(
    ("count", "wanted", "reached"),
    [
        pytest.param(200, 0, 180, id="a tenth of many"),
        pytest.param(20, 0, 17, id="three of few"),
        pytest.param(2, 0, 0, id="all of three or fewer"),
        pytest.param(20, 18, 18, id="less than it may"),
    ],
)
def test_rooms_go_slowly(count: int, wanted: int, reached: int) -> None:
    found = decided(wanted, count)
    assert found.decision.replicas == reached
    told = f"at most {count - reached} of {count} rooms go in 600 s: {reached}"
    assert (told in found.decision.steps) is (reached != wanted)


def test_the_window_slides_and_then_more_may_go() -> None:
    first = decided(0, 20)
    soon = decided(0, 17, first.scaling, NOW + 300)
    later = decided(0, 17, first.scaling, NOW + 601)
    assert soon.decision.replicas == 17
    assert soon.decision.again_in_seconds == 300
    assert soon.scaling.intent == first.scaling.intent, "nothing moved"
    assert later.decision.replicas == 14


def test_what_was_added_a_moment_ago_is_no_credit() -> None:
    down = decided(0, 20).scaling
    up = decided(40, 17, down, NOW + 10).scaling
    again = decided(0, 40, up, NOW + 700)
    assert again.decision.replicas == 36


def test_above_the_bound_that_people_wrote_rooms_go_at_once_and_below_it_slowly() -> None:
    assert decided(5, 60, maximum=10).decision.replicas == 7


def test_a_humans_number_holds_the_policy_which_goes_on_watching() -> None:
    held = replace(CALM, held_until=NOW + 400, held_by="abcdef0123456789")
    found = decided(50, 20, held)
    assert found.decision.replicas == 20
    assert found.decision.again_in_seconds == 400
    assert found.decision.hold == (
        "the number was set by hand in abcdef012345: the policy waits 400 s"
    )
    assert found.decision.advised == 50
    assert found.scaling.intent is None
    assert found.scaling.past.lows != EARLIER.lows or found.scaling.past.demand is not None


def test_the_hold_ends_by_itself() -> None:
    held = replace(CALM, held_until=NOW - 1, held_by="abc")
    assert decided(50, 20, held).decision.replicas == 50


def test_a_process_that_lets_no_policy_decide_gives_up_what_was_decided() -> None:
    was = decided(30, 20).scaling
    ended = given_up(was, 20)
    assert ended.moves(30)
    assert (ended.decision.replicas, ended.scaling.intent) == (20, None)
    assert ended.scaling.past == was.past
    assert not given_up(CALM, 20).moves(20)
