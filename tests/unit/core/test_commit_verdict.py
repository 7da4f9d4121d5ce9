"""What a code host shows beside a commit."""

from collections.abc import Sequence

import pytest

from reconciler.core.commit_verdict import LONGEST_DESCRIPTION, verdict_of
from reconciler.model.holds import Hold, HoldKind
from tests.unit.core.making import a_key

COMMIT = "ab" * 20
KEY = a_key()
REFUSED = Hold(HoldKind.OVER_BUDGET, KEY, "takes 12 of 40 rooms", "abc")
MISTAKE = Hold(HoldKind.FINDING, KEY, "schedulers/arena.yaml:3: unknown property")
CONFIG = Hold(HoldKind.CONFIG, None, "gamekeeper.yaml is missing")
FAILING = Hold(HoldKind.FAILING, KEY, "3 of 4 rooms failed")
CROWDED = Hold(HoldKind.CROWDED_PORTS, KEY, "12 users")
UNSIGNED = Hold(HoldKind.UNSIGNED, None, "commit x is not signed", "abc")
OWN = Hold(HoldKind.UNSIGNED_COUNTS, None, "counts are committed without a signature")
SUSPENDED = Hold(HoldKind.SUSPENDED, KEY, "by arena.yaml:4")


@pytest.mark.parametrize(
    ("head", "plans", "applied", "state", "said"),
    [
        pytest.param([], [], False, "pending", "being applied", id="under way"),
        pytest.param([], [], True, "success", "every workload is as Git says", id="applied"),
        pytest.param([], [FAILING], True, "success", "every workload", id="what fails later"),
        pytest.param([], [FAILING], False, "failure", "held Scheduler/arena: 3 of 4",
                     id="what fails before it is applied"),
        pytest.param([], [CROWDED], False, "failure", "held Scheduler/arena: 12 users",
                     id="rooms that wait for ports"),
        pytest.param([], [CROWDED], True, "success", "every workload", id="ports of others"),
        pytest.param([SUSPENDED], [], True, "success", "every workload", id="what was asked for"),
        pytest.param([MISTAKE], [], True, "failure", "held Scheduler/arena: sch", id="a mistake"),
        pytest.param([MISTAKE, REFUSED], [], False, "failure", "refused Scheduler/arena: takes",
                     id="first what can be approved"),
        pytest.param([UNSIGNED], [], False, "failure", "held: commit x is", id="unsigned"),
        pytest.param([OWN], [], True, "success", "every workload", id="our own unsigned counts"),
        pytest.param([CONFIG], [], False, "error", "held: gamekeeper.yaml is", id="all of it"),
    ],
)  # fmt: skip
def test_a_verdict(
    head: Sequence[Hold], plans: Sequence[Hold], applied: bool, state: str, said: str
) -> None:
    verdict = verdict_of(COMMIT, head, plans, applied)
    assert (verdict.commit, verdict.state) == (COMMIT, state)
    assert verdict.description.startswith(said)


def test_a_description_is_short_harmless_and_masked() -> None:
    reason = "token=hunter2hunter2 \x1b[31m\n" + "x" * 500
    verdict = verdict_of(COMMIT, [Hold(HoldKind.FINDING, KEY, reason)], [], False)
    assert len(verdict.description) <= LONGEST_DESCRIPTION
    assert verdict.description.isprintable()
    assert "hunter2" not in verdict.description


def test_the_same_change_with_other_numbers_is_the_same_verdict() -> None:
    later = Hold(HoldKind.OVER_BUDGET, KEY, "takes 13 of 41 rooms", "abc")
    before, after = (verdict_of(COMMIT, [hold], [], False) for hold in (REFUSED, later))
    assert before.identity == after.identity
