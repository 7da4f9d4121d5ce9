"""Where a count is on its way into Git: the first thing that a person can do something about."""

from dataclasses import replace

import pytest

from reconciler.core.conditions import conditions_of
from reconciler.core.standing import due_at, standing_of
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.intents import Intent, Landing, Scaling, Step
from reconciler.model.outbox import EMPTY_OUTBOX, OVER, Outbox
from reconciler.model.plans import Counts, Plan
from reconciler.model.records import HeldRemoval, StateRecord
from reconciler.model.specs import WriteBack
from tests.unit.core.making import NOW, a_key

KEY = a_key()
STEP = Step(NOW - 20, 5, 8, "fixedBuffer", "3 in use and 5 more")
INTENT = Intent(5, 8, (STEP,))
WAITS = StateRecord(scaling=Scaling(intent=INTENT))
OURS = "ab" * 20
SENT = replace(WAITS, scaling=Scaling(intent=INTENT, landings=(Landing(OURS, 8, STEP.at),)))
TOLD = replace(SENT, scaling=replace(SENT.scaling, intent=replace(INTENT, told_at=STEP.at)))
BACK = replace(SENT, scaling=replace(SENT.scaling, intent=replace(INTENT, value=INTENT.base)))
DOWN = Outbox(error="cannot push to branch 'main': no route to host", failing_since=NOW - 9)
HELD = HeldRemoval(HoldKind.OVER_BUDGET, "line", "too many rooms go")
DIRECT, OFF = WriteBack(), WriteBack(mode="off")


def told(kind: HoldKind, reason: str, scaling: Scaling = WAITS.scaling) -> StateRecord:
    """A record whose conditions tell of a hold."""
    found = conditions_of(Plan(KEY, Counts(), holds=(Hold(kind, KEY, reason),)), "", (), NOW)
    return StateRecord(scaling=scaling, conditions=found)


@pytest.mark.parametrize(
    ("record", "outbox", "write_back", "where", "why"),
    [
        pytest.param(
            WAITS, EMPTY_OUTBOX, DIRECT, "waiting",
            "to be committed in 40 s, with what is decided until then",
            id="the quiet time runs",
        ),
        pytest.param(
            WAITS, EMPTY_OUTBOX, WriteBack(quiet_seconds=20), "waiting", "to be committed now",
            id="the quiet time is over",
        ),
        pytest.param(
            WAITS, Outbox(pushed_at=NOW - 5), DIRECT, "waiting",
            "to be committed in 55 s, with what is decided until then",
            id="the last commit was a moment ago",
        ),
        pytest.param(
            SENT, EMPTY_OUTBOX, DIRECT, "pushing", "its commit is being pushed",
            id="its commit is on the way",
        ),
        pytest.param(
            SENT, OVER, DIRECT, "pushing",
            "its commit was being pushed when the last process that led ended, as far as the Lease "
            "tells",
            id="nobody leads who could push it",
        ),
        pytest.param(
            TOLD, EMPTY_OUTBOX, DIRECT, "pushed", "committed as abababababab, and not taken in yet",
            id="its commit arrived and was not read back",
        ),
        pytest.param(
            SENT, DOWN, DIRECT, "failing", f"no commit comes into Git: {DOWN.error}",
            id="nobody knows whether it arrived",
        ),
        pytest.param(
            BACK, DOWN, DIRECT, "waiting",
            "Git has that number, and a push of another one that failed may still arrive",
            id="new bounds led back to the number in Git after a push that was refused",
        ),
        pytest.param(
            replace(BACK, scaling=replace(BACK.scaling, landings=())), EMPTY_OUTBOX, DIRECT,
            "waiting", "Git has that number",
            id="a step back before anything was pushed",
        ),
        pytest.param(
            WAITS, replace(DOWN, refused={KEY: "line 7: an alias"}), DIRECT, "refused",
            "it cannot be written: line 7: an alias",
            id="a number that cannot be edited, whatever the host says",
        ),
        pytest.param(
            replace(WAITS, held=HELD), DOWN, DIRECT, "held",
            "the newest commit is held: too many rooms go",
            id="a commit that waits for an approval",
        ),
        pytest.param(
            WAITS, DOWN, OFF, "off",
            "it acts, and Git keeps its own number: writeBack.mode is off",
            id="nothing is ever written",
        ),
        pytest.param(
            told(HoldKind.FINDING, "a.yaml:7: max is missing"), EMPTY_OUTBOX, DIRECT, "held",
            "its spec in Git is to be mended first: a.yaml:7: max is missing",
            id="a mistake where the number stands",
        ),
        pytest.param(
            told(HoldKind.CONFIG, "no paths"), EMPTY_OUTBOX, DIRECT, "held",
            "gamekeeper.yaml is to be mended first: no paths",
            id="a Config that is none",
        ),
        pytest.param(
            told(HoldKind.SUSPENDED, "suspended by a.yaml:1"), EMPTY_OUTBOX, DIRECT, "held",
            "nothing is committed for now: suspended by a.yaml:1",
            id="a person's number in a suspension",
        ),
        pytest.param(
            told(HoldKind.UNSIGNED, "commit c1 is not signed"), DOWN, DIRECT, "held",
            "the newest commit is held: commit c1 is not signed",
            id="a commit that nobody vouches for",
        ),
        pytest.param(
            told(HoldKind.FROZEN, "a cup", replace(WAITS.scaling, waits_by=OURS)),
            EMPTY_OUTBOX, DIRECT, "held",
            "the number of commit abababababab waits for the end of a freeze: a cup",
            id="a person's number that waits",
        ),
        pytest.param(
            told(HoldKind.FROZEN, "a cup"), EMPTY_OUTBOX, DIRECT, "waiting",
            "to be committed in 40 s, with what is decided until then",
            id="a freeze of something else",
        ),
    ],
)  # fmt: skip
def test_where_it_stands(
    record: StateRecord, outbox: Outbox, write_back: WriteBack, where: str, why: str
) -> None:
    found = standing_of(KEY, record, outbox, write_back, NOW)
    assert found is not None
    assert (found.where, found.why) == (where, why)


def test_what_was_not_decided_stands_nowhere() -> None:
    assert standing_of(KEY, StateRecord(), DOWN, DIRECT, NOW) is None


def test_a_later_decision_does_not_start_the_clock_again() -> None:
    later = replace(INTENT, value=9, steps=(STEP, replace(STEP, at=NOW, before=8, after=9)))
    assert due_at(later, EMPTY_OUTBOX, DIRECT) == due_at(INTENT, EMPTY_OUTBOX, DIRECT)


def test_what_is_overdue_in_a_freeze_waits_for_its_end() -> None:
    record = told(HoldKind.FROZEN, "a cup until 18:00")
    assert standing_of(KEY, record, EMPTY_OUTBOX, DIRECT, NOW + 60) is not None
    found = standing_of(KEY, record, EMPTY_OUTBOX, DIRECT, NOW + 200)
    assert found is not None
    assert (found.where, found.why) == (
        "held",
        "no commit of ours goes against what waits for the end of a freeze: a cup until 18:00",
    )
