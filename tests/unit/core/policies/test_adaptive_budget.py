"""The budget of misses: safe first, thrifty with what was saved, safe again when it is spent."""

import pytest

from reconciler.core.policies import adaptive_budget
from reconciler.core.policies.adaptive_memory import Memory, decode

MISS_RATE = 0.001


def spent(matches: int, unseen: float = 0.0, rate: float = 1.0) -> Memory:
    memory = decode(b"")
    memory.moments[2] = rate
    adaptive_budget.spend(memory, matches, unseen, matches / rate, matches / rate)
    return memory


@pytest.mark.parametrize("miss_rate", [1e-5, 0.001, 0.5], ids=["one of 100,000", "usual", "half"])
@pytest.mark.parametrize("matches", [0, 100, 10_000_000], ids=["none yet", "some", "very many"])
def test_a_share_is_one(miss_rate: float, matches: int) -> None:
    for unseen in (0.0, 10.0, 1e6):
        share = adaptive_budget.allowance(spent(matches, unseen), miss_rate).share

        assert 0.0 < share <= 0.5


def test_at_first_less_is_dared_than_is_allowed() -> None:
    assert adaptive_budget.allowance(decode(b""), MISS_RATE).share < MISS_RATE


def test_what_was_saved_may_be_spent() -> None:
    assert adaptive_budget.allowance(spent(100_000), MISS_RATE).share > MISS_RATE


def test_what_was_overspent_is_saved_again() -> None:
    assert adaptive_budget.allowance(spent(100_000, 150.0), MISS_RATE).share < 0.1 * MISS_RATE


def test_the_reserve_is_kept_before_the_line_is_reached() -> None:
    allowance = adaptive_budget.allowance(spent(100_000, 95.0), MISS_RATE)

    assert allowance.missed < allowance.allowed
    assert allowance.share < MISS_RATE


def test_a_little_more_is_taken_for_missed_than_is_reckoned() -> None:
    allowance = adaptive_budget.allowance(spent(1000, 6.0, 2.0), MISS_RATE)

    assert allowance.missed == pytest.approx(6.3)
    assert allowance.allowed == pytest.approx(1.0063)


def test_a_busy_hour_gets_a_smaller_share_than_a_quiet_one() -> None:
    memory = spent(100_000, 60.0)
    shares = []
    for rate in (0.5, 1.0, 2.0):
        memory.moments[2] = rate
        shares.append(adaptive_budget.allowance(memory, MISS_RATE).share)

    assert shares[0] > shares[1] > shares[2]


def test_what_was_missed_a_month_ago_counts_less() -> None:
    memory = spent(100_000, 150.0)
    before = adaptive_budget.allowance(memory, MISS_RATE).missed
    for _ in range(28):
        adaptive_budget.spend(memory, 0, 0.0, 86_400.0, 86_400.0)

    assert adaptive_budget.allowance(memory, MISS_RATE).missed < 0.5 * before


def test_what_was_missed_fades_by_time_in_which_nothing_is_earned() -> None:
    memory = spent(1000, 6.0)
    known = memory.budget.tolist()
    for _ in range(24):
        adaptive_budget.spend(memory, 0, 0.0, 3600.0, 0.0)
    shares = [after / before for after, before in zip(memory.budget.tolist(), known, strict=True)]

    assert shares[:4] == pytest.approx([0.965, 0.965, 0.360, 0.360], abs=0.001)
    assert shares[4:] == pytest.approx([0.867, 0.867], abs=0.001)
