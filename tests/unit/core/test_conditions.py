from collections.abc import Sequence

import pytest

from reconciler.core import conditions
from reconciler.core.conditions import READY, RECONCILING, STALLED
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Counts, Plan
from reconciler.model.records import Condition, Ordinals
from tests.unit.core.making import NOW, a_key

SETTLED = Plan(a_key(), Counts(desired=3, ready=3))


def seen(
    plan: Plan, failure: str = "", before: Sequence[Condition] = (), now: float = NOW
) -> dict[str, Condition]:
    return {item.type: item for item in conditions.conditions_of(plan, failure, before, now)}


def held(kind: HoldKind) -> Plan:
    return Plan(a_key(), SETTLED.counts, holds=(Hold(kind, a_key(), "because"),))


@pytest.mark.parametrize(
    ("plan", "failure", "ready", "reconciling", "stalled"),
    [
        pytest.param(SETTLED, "", True, False, False, id="all rooms as wanted are ready"),
        pytest.param(
            Plan(a_key(), Counts(desired=3, ready=2)), "", False, True, False, id="a room starts"
        ),
        pytest.param(
            Plan(a_key(), Counts(desired=3, ready=3, old=1)),
            "",
            False,
            True,
            False,
            id="a roll-out",
        ),
        pytest.param(
            Plan(a_key(), SETTLED.counts, strike=Ordinals(3)), "", False, True, False, id="a write"
        ),
        pytest.param(SETTLED, "create room: refused", False, False, False, id="a failed step"),
        pytest.param(held(HoldKind.OVER_BUDGET), "", True, False, True, id="a refused removal"),
        pytest.param(
            held(HoldKind.INCOMPLETE_READ), "", True, False, False, id="a moment of not seeing"
        ),
    ],
)
def test_conditions_say(
    plan: Plan, failure: str, ready: bool, reconciling: bool, stalled: bool
) -> None:
    found = seen(plan, failure)
    statuses = {READY: ready, RECONCILING: reconciling, STALLED: stalled}
    assert {name: item.status for name, item in found.items()} == statuses


def test_a_condition_says_why() -> None:
    assert seen(SETTLED, "create room: refused")[READY].message == "create room: refused"
    stalled = seen(held(HoldKind.OVER_BUDGET))[STALLED]
    assert (stalled.reason, stalled.message) == ("over-budget", "because")


def test_of_several_holds_each_has_a_condition_and_is_read_off_again() -> None:
    holds = (
        Hold(HoldKind.FAILING, a_key(), "all fail"),
        Hold(HoldKind.INCOMPLETE_READ, a_key(), "a moment"),
        Hold(HoldKind.NEEDS_INTERVENTION, a_key(), "3 failed"),
        Hold(HoldKind.FAILING, a_key(), "more of it"),
    )
    found = seen(Plan(a_key(), SETTLED.counts, holds=holds))
    assert (found[STALLED].reason, found[STALLED].message) == ("failing", "all fail")
    own = found["NeedsIntervention"]
    assert (own.status, own.reason, own.message) == (True, "needs-intervention", "3 failed")
    assert set(found) == {READY, RECONCILING, STALLED, "NeedsIntervention"}
    told = conditions.held_by(a_key(), tuple(found.values()))
    assert {hold.kind for hold in told} == {HoldKind.FAILING, HoldKind.NEEDS_INTERVENTION}
    assert set(seen(SETTLED, "", tuple(found.values()))) == {READY, RECONCILING, STALLED}


def test_a_condition_that_did_not_change_keeps_its_since() -> None:
    first = conditions.conditions_of(SETTLED, "", (), NOW)
    assert conditions.conditions_of(SETTLED, "", first, NOW + 60) == first
    waiting = Plan(a_key(), Counts(desired=4, ready=3))
    later = seen(waiting, "", first, NOW + 60)
    assert {name: item.since for name, item in later.items()} == {
        READY: NOW + 60,
        RECONCILING: NOW + 60,
        STALLED: NOW,
    }


def test_a_change_of_counts_alone_writes_no_condition() -> None:
    one = conditions.conditions_of(Plan(a_key(), Counts(desired=9, ready=2)), "", (), NOW)
    two = conditions.conditions_of(Plan(a_key(), Counts(desired=9, ready=3)), "", one, NOW + 1)
    assert one == two


def test_conditions_tell_what_is_held_to_whoever_has_no_plan() -> None:
    stalled = conditions.conditions_of(held(HoldKind.NEEDS_INTERVENTION), "", (), NOW)
    settled = conditions.conditions_of(SETTLED, "", stalled, NOW + 1)
    [hold] = conditions.held_by(a_key(), stalled)

    assert (hold.kind, hold.key, hold.reason) == (HoldKind.NEEDS_INTERVENTION, a_key(), "because")
    assert conditions.held_by(a_key(), settled) == ()
