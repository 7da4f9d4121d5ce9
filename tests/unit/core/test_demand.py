"""The demand history: what bytes hold, and what they do with gaps, sums and strangers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import demand

COUNTS = st.dictionaries(
    st.integers(1_900_000, 1_900_000 + 2 * demand.QUARTERS),
    st.integers(0, demand.MOST),
    max_size=60,
)


def test_28_days_of_quarters_take_less_than_64_kib() -> None:
    month = demand.encode(dict.fromkeys(range(2_000_000, 2_003_000), 1_300))

    assert len(month) == 4 * demand.QUARTERS + demand.HEAD_BYTES
    assert len(month) <= 64 * 1024


@given(counts=COUNTS)
def test_what_is_not_older_than_28_days_comes_back(counts: dict[int, int]) -> None:
    newest = max(counts, default=0)
    kept = {quarter: n for quarter, n in counts.items() if quarter > newest - demand.QUARTERS}

    assert demand.decode(demand.encode(counts)) == kept


@pytest.mark.long
@given(counts=COUNTS, quarter=st.integers(1_900_000, 1_910_000), count=st.integers(0, 9_999))
def test_a_quarter_more_is_as_if_it_had_been_known_from_the_start(
    counts: dict[int, int], quarter: int, count: int
) -> None:
    known = demand.decode(demand.encode(counts))
    wanted = {**known, quarter: min(demand.MOST, known.get(quarter, 0) + count)}

    assert demand.append(demand.encode(counts), quarter, count) == demand.encode(wanted)


@pytest.mark.parametrize(
    ("kept", "other", "both"),
    [
        pytest.param({}, {}, {}, id="nothing and nothing is nothing"),
        pytest.param({7: 1}, {}, {7: 1}, id="what was seen stays"),
        pytest.param({}, {7: 1}, {7: 1}, id="an import fills what is unknown"),
        pytest.param(
            {7: 0}, {7: 5, 8: 6}, {7: 0, 8: 6}, id="an import never changes what was seen"
        ),
    ],
)
def test_two_histories_become_one(
    kept: dict[int, int], other: dict[int, int], both: dict[int, int]
) -> None:
    merged = demand.merge(demand.encode(kept), demand.encode(other))

    assert demand.decode(merged) == both


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"no", id="too short"),
        pytest.param(b"GKD2" + bytes(8), id="another version"),
        pytest.param(b"GKD1" + bytes(4), id="no quarter at all"),
        pytest.param(b"GKD1" + bytes(9), id="half a count"),
        pytest.param(b"GKD1" + bytes(4 * (demand.QUARTERS + 2)), id="more than 28 days"),
    ],
)
def test_bytes_that_are_no_history_are_refused_and_replaced_by_what_is_seen_next(
    data: bytes,
) -> None:
    with pytest.raises(ValueError, match="not a demand history"):
        demand.decode(data)
    assert demand.decode(demand.append(data, 9, 4)) == {9: 4}


def test_a_quarter_begins_with_its_first_second() -> None:
    assert demand.quarter_of(900.0) == 1
    assert demand.quarter_of(899.9) == 0


@pytest.mark.parametrize(
    ("known", "quarter", "after"),
    [
        pytest.param({}, 9, {9: 5}, id="the first"),
        pytest.param({7: 1}, 8, {7: 1, 8: 5}, id="the next"),
        pytest.param({7: 1}, 9, {7: 1, 9: 5}, id="after a gap"),
        pytest.param(
            {7: 1, 8: 2}, 8, {7: 1, 8: 5}, id="what is seen goes before what was imported"
        ),
        pytest.param({7: 1, 9: 2}, 8, {7: 1, 8: 5}, id="what a clock that was ahead wrote goes"),
    ],
)
def test_a_quarter_that_was_seen_stands_as_it_was_seen(
    known: dict[int, int], quarter: int, after: dict[int, int]
) -> None:
    assert demand.decode(demand.put(demand.encode(known), quarter, 5)) == after
    assert demand.decode(demand.put(b"no history", quarter, 5)) == {quarter: 5}


@pytest.mark.parametrize("many", [1, 2, 7, demand.QUARTERS])
def test_the_older_half_can_be_given_up(many: int) -> None:
    counts = {2_000_000 + place: place for place in range(many)}
    kept = demand.decode(demand.newer_half(demand.encode(counts)))

    assert kept == {quarter: count for quarter, count in counts.items() if count >= (many + 1) // 2}
    assert demand.newer_half(b"no history") == b""
