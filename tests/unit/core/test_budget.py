from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import budget
from reconciler.model.changes import Cause, Removal
from reconciler.model.records import LedgerEntry
from reconciler.model.specs import Budgets
from tests.unit.core.making import NOW, a_key

WINDOW_SECONDS = 600


def scale_in(name: str, count: int, to: int) -> Removal:
    return Removal("local", a_key(name), Cause.SCALE_IN, to, count - to)


def refusal(
    counts: dict[str, int],
    to: dict[str, int],
    ledgers: dict[str, list[int]] | None = None,
    budgets: Budgets | None = None,
) -> str:
    """`ledgers` are the counts that were left lately."""
    return budget.refusal(
        [scale_in(name, counts[name], count) for name, count in to.items()],
        {a_key(name): count for name, count in counts.items()},
        {
            a_key(n): [LedgerEntry(NOW, count) for count in left]
            for n, left in (ledgers or {}).items()
        },
        budgets or Budgets(),
    )


@pytest.mark.parametrize(
    ("counts", "to", "ledgers", "words"),
    [
        pytest.param({"a": 3}, {"a": 0}, {}, "", id="three rooms may go, be it all"),
        pytest.param({"a": 4}, {"a": 0}, {}, "a would lose 4 of 4", id="four may not"),
        pytest.param({"a": 50, "b": 50}, {"a": 45}, {}, "", id="ten per cent may go"),
        pytest.param({"a": 50, "b": 950}, {"a": 44}, {}, "a would lose 6 of 50", id="more may not"),
        pytest.param(
            {"a": 10, "b": 10, "c": 10},
            {"a": 8, "b": 8},
            {},
            "all workloads together would lose 4 of 30",
            id="small removals of many workloads add up",
        ),
        pytest.param({"a": 45}, {"a": 43}, {"a": [50]}, "a would lose 7 of 50", id="steps add up"),
        pytest.param(
            {"a": 50}, {"a": 48}, {"a": [48, 50, 45]}, "", id="down and up again counts once"
        ),
        pytest.param(
            {"a": 50}, {"a": 0}, {"a": [0]}, "a would lose 50 of 50", id="what is new is no credit"
        ),
        pytest.param(
            {"a": 10, "b": 10}, {"a": 9}, {"c": [3]}, "all workloads", id="what is gone counts"
        ),
        pytest.param({"a": 10}, {}, {"b": [99]}, "", id="who removes nothing is not refused"),
        pytest.param({"a": 10_000}, {"a": 9_500}, {}, "", id="5 % of 10,000 rooms is 500"),
        pytest.param({"a": 10_000}, {"a": 9_499}, {}, "501 of 10000", id="and not a room more"),
    ],
)
def test_a_removal_is_refused(
    counts: dict[str, int], to: dict[str, int], ledgers: dict[str, list[int]], words: str
) -> None:
    said = refusal(counts, to, ledgers)
    assert (words in said) if words else not said


@given(st.integers(0, 20_000), st.integers(0, 1000))
def test_per_cent_are_exact(count: int, tenths: int) -> None:
    allowed = int(Fraction(count * tenths, 1000))
    budgets = Budgets(0, tenths / 10, 0, 100.0)
    assert not refusal({"a": count}, {"a": count - allowed}, budgets=budgets)
    if allowed < count:
        assert refusal({"a": count}, {"a": count - allowed - 1}, budgets=budgets)


any_budget = st.builds(
    Budgets, *(st.integers(0, 9), st.floats(0, 100)) * 2, st.integers(60, 86_400)
)


@given(any_budget, any_budget)
def test_the_stricter_of_two_allows_no_more_than_either(one: Budgets, other: Budgets) -> None:
    both = budget.stricter(one, other)
    assert both == budget.stricter(other, one)
    for single in (one, other):
        assert both.workload_rooms <= single.workload_rooms
        assert both.workload_percent <= single.workload_percent
        assert both.total_rooms <= single.total_rooms
        assert both.total_percent <= single.total_percent
        assert both.window_seconds >= single.window_seconds


@pytest.mark.parametrize(
    ("age_seconds", "counts"),
    [
        pytest.param(599, True, id="within the window"),
        pytest.param(600, False, id="when the window is over"),
        pytest.param(-7200, True, id="from before the clock was set back"),
    ],
)
def test_an_entry_counts(age_seconds: float, counts: bool) -> None:
    entry = LedgerEntry(NOW - age_seconds, 5)
    assert bool(budget.recent([entry], WINDOW_SECONDS, NOW)) is counts


def test_where_the_clock_was_set_back_all_of_a_ledger_was_just_now() -> None:
    past, ahead = LedgerEntry(NOW - 60, 5), LedgerEntry(NOW + 7200, 4)
    settled = budget.settled((past, ahead), NOW)
    assert settled == (past, LedgerEntry(NOW, 4))
    assert budget.settled(settled, NOW) is settled


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), max_size=60))
def test_a_ledger_forgets_nothing_that_counts(steps: list[tuple[int, int]]) -> None:
    ledger: tuple[LedgerEntry, ...] = ()
    written: list[LedgerEntry] = []
    now = NOW
    for later, count in steps:
        now += later
        written.append(LedgerEntry(now, count))
        ledger = budget.enter(ledger, written[-1], WINDOW_SECONDS)
        whole = budget.recent(written, WINDOW_SECONDS, now)
        for moment in (now, now + 300, now + 599):
            largest = max(
                (e.count for e in budget.recent(whole, WINDOW_SECONDS, moment)), default=0
            )
            kept = budget.recent(ledger, WINDOW_SECONDS, moment)
            assert max((entry.count for entry in kept), default=0) == largest
    assert len(ledger) <= 31
