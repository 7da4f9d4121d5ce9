"""What is said of most records without much work is what the whole way says of them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core import counts_in_git
from reconciler.core.asked import asked_by
from reconciler.core.taken_records import Part, in_time, next_record, stays, window_seconds
from reconciler.model.arrivals import Arrival
from reconciler.model.holds import HoldKind
from reconciler.model.intents import NO_SCALING, Intent, Landing, Passage, Scaling, Step
from reconciler.model.moves import Moves
from reconciler.model.records import NO_RECORD, HeldRemoval, LedgerEntry, StateRecord
from reconciler.model.specs import Budgets, Config, Source, Workload
from tests.unit.core.arriving import an_arrival
from tests.unit.core.making import (
    NOW,
    a_key,
    a_reading,
    a_workload,
    accepted,
    autoscaling,
    read_spec,
)

KEY = a_key("arena")
SEEN: Counter[str] = Counter()
_INTENT = Intent(3, 6, (Step(NOW - 30, 3, 6, "buffer", "5 busy and 1 spare"),))
_COUNTS = st.sampled_from([0, 3, 3, 6])
_PASSAGES = st.one_of(
    st.just(()),
    st.builds(
        lambda after, back: (Passage("c2" * 20, after, (3,), went_back=back),),
        _COUNTS,
        st.booleans(),
    ),
)


def _by_key(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[Any, Any]]:
    """Mostly nothing; else something of the workload."""
    some = values.map(lambda value: {KEY: value})
    return st.one_of(st.just({}), st.just({}), st.just({}), some)


MOVES = st.builds(
    Moves,
    tracked=_by_key(_PASSAGES),
    apart=_by_key(_PASSAGES),
    wrote=st.one_of(st.none(), st.just({}), st.just({KEY: 3}), st.just({KEY: 6})),
    begun=_by_key(_COUNTS),
    joined=_by_key(_COUNTS),
)
WORKLOADS = st.builds(
    lambda replicas, policy, line: replace(
        a_workload("arena", replicas, autoscaling=policy),
        source=Source("schedulers/arena.yaml", line),
    ),
    _COUNTS,
    st.sampled_from([None, None, None, autoscaling(1, 10), autoscaling(1, 10, enabled=False)]),
    st.sampled_from([1, 1, 1, 2]),
)
SCALINGS = st.sampled_from(
    [
        NO_SCALING,
        NO_SCALING,
        NO_SCALING,
        Scaling(_INTENT),
        Scaling(landings=(Landing("c3" * 20, 6, NOW - 9),)),
        Scaling(held_until=NOW + 60, held_by="c2" * 20, held_at=NOW - 60),
        Scaling(waits_by="c2" * 20),
        Scaling(own=6),
    ]
)
CHANGES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {},
        {},
        {"deleting": True},
        {"held": HeldRemoval(HoldKind.OVER_BUDGET, "line", "too many")},
        {"accepted": None},
    ]
)
LEDGERS = st.sampled_from([(), (LedgerEntry(NOW - 60, 4),), (LedgerEntry(NOW + 60, 4),)])


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Arrival, StateRecord | None]:
    """Draw a head, and what is on record: mostly the same workload, and little told of it."""
    workload = draw(WORKLOADS)
    reading = replace(a_reading(workload), own=draw(_by_key(_COUNTS)))
    withheld = draw(_by_key(st.just(("c2" * 20, False))))
    arrival = an_arrival(reading, moves=draw(MOVES), withheld=withheld)
    if draw(st.sampled_from([False, False, False, True])):
        return arrival, None
    known = draw(st.one_of(st.just(workload), st.just(workload), WORKLOADS))
    record = replace(accepted(known), scaling=draw(SCALINGS), ledger=draw(LEDGERS))
    return arrival, replace(record, **draw(CHANGES))


@settings(max_examples=600, deadline=None)
@given(scenes())
def test_a_short_way_says_what_the_whole_way_says(
    scene: tuple[Arrival, StateRecord | None],
) -> None:
    arrival, record = scene
    records = {} if record is None else {KEY: record}
    workload, known = arrival.reading.workloads[KEY], records.get(KEY, NO_RECORD)
    found = counts_in_git.all_settled(arrival, records)
    assert found == {KEY: counts_in_git.settled(arrival, workload, known)}

    asked = asked_by(arrival, records, read_spec)
    before = in_time(known, arrival.spent_at)
    if asked.removals or not stays(arrival, KEY, before, asked):
        SEEN["the whole way"] += 1
        return
    SEEN["the short way"] += 1
    after = next_record(arrival, KEY, before, Part(asked, None, None, approved=False), read_spec)
    assert after == before


def test_both_ways_were_gone() -> None:
    assert min(SEEN["the short way"], SEEN["the whole way"]) >= 5, SEEN


@pytest.mark.parametrize(
    ("head", "known", "changes", "stays_so"),
    [
        pytest.param({}, 3, {}, True, id="of whom no commit tells"),
        pytest.param({"replicas": 4}, 3, {}, False, id="another count"),
        pytest.param({"suspend": True}, 3, {}, False, id="another spec"),
        pytest.param({}, 3, {"deleting": True}, False, id="one that is back"),
        pytest.param({"replicas": 0}, 0, {"deleting": True}, False, id="one of no rooms, back"),
        pytest.param(
            {},
            3,
            {"held": HeldRemoval(HoldKind.OVER_BUDGET, "line", "too many")},
            False,
            id="one whose removal is asked for no more",
        ),
        pytest.param({}, 3, {"accepted": None}, False, id="one that was never let through"),
    ],
)
def test_which_record_stays_as_it_is(
    head: dict[str, Any], known: int, changes: dict[str, Any], stays_so: bool
) -> None:
    workload: Workload = a_workload("arena", **head)
    record = replace(accepted(a_workload("arena", known)), **changes)
    arrival = an_arrival(a_reading(workload))
    asked = asked_by(arrival, {KEY: record}, read_spec)
    assert stays(arrival, KEY, record, asked) == stays_so


def test_a_ledger_has_no_future() -> None:
    record = replace(NO_RECORD, ledger=(LedgerEntry(NOW - 5, 4), LedgerEntry(NOW + 5, 6)))
    assert in_time(record, NOW).ledger == (LedgerEntry(NOW - 5, 4), LedgerEntry(NOW, 6))
    assert in_time(record, NOW + 5) is record


def test_the_longer_window_counts() -> None:
    reading = a_reading(a_workload())
    config = Config(budgets=Budgets(window_seconds=900))
    arrival = an_arrival(replace(reading, config=config), ceiling=Budgets(window_seconds=600))
    assert window_seconds(arrival) == 900
    assert window_seconds(replace(arrival, ceiling=Budgets(window_seconds=7200))) == 7200
