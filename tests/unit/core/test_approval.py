from dataclasses import replace

import pytest

from reconciler.core import approval
from reconciler.core.approval import APPROVAL_SECONDS, Approval
from reconciler.model.records import Approved, Offer, RepositoryRecord
from tests.unit.core.making import NOW

ARENA, LOBBY = "local Scheduler a/a left-git to=0", "local Scheduler b/b scale-in to=5"
OFFERED = RepositoryRecord(
    "git@host:fleet",
    "main",
    "c1",
    offers=(
        Offer("aaa", (ARENA,), "c1"),
        Offer("bbb", (LOBBY,), "c2"),
        Offer("ab", (ARENA, LOBBY), "c2"),
    ),
)
UNTIL = NOW + APPROVAL_SECONDS


def given(change_hash: str, at: float = NOW) -> Approval:
    return Approval(change_hash, "maria", at)


@pytest.mark.parametrize(
    ("approvals", "lines", "done"),
    [
        pytest.param({}, set(), set(), id="nothing approved lets nothing through"),
        pytest.param({"x": given("ab")}, {ARENA, LOBBY}, {"x"}, id="a hash stands for its lines"),
        pytest.param(
            {"x": given("aaa"), "y": given("bbb")},
            {ARENA, LOBBY},
            {"x", "y"},
            id="approvals add up",
        ),
        pytest.param(
            {"x": given("fff")}, set(), set(), id="a hash seen in CI is kept until its head comes"
        ),
        pytest.param(
            {"x": given("fff", NOW - APPROVAL_SECONDS)}, set(), {"x"}, id="after an hour it goes"
        ),
        pytest.param(
            {"x": given("aaa", NOW - APPROVAL_SECONDS)},
            set(),
            {"x"},
            id="an old approval lets nothing through",
        ),
        pytest.param({"x": given("")}, set(), set(), id="an empty hash is no hash"),
    ],
)
def test_granting(approvals: dict[str, Approval], lines: set[str], done: set[str]) -> None:
    record, used = approval.grant(OFFERED, approvals, NOW)
    assert {entry.line for entry in record.approved} == lines
    assert used == done


def test_an_approval_says_who_gave_it_and_how_long_it_holds() -> None:
    record, _ = approval.grant(OFFERED, {"x": given("aaa", NOW - 60)}, NOW)
    assert record.approved == (Approved(ARENA, UNTIL - 60, "maria"),)


def test_what_was_approved_before_stays_so() -> None:
    before = replace(OFFERED, approved=(Approved(LOBBY, UNTIL, "jo"),))
    record, _ = approval.grant(before, {"x": given("aaa")}, NOW)
    assert {entry.line for entry in record.approved} == {ARENA, LOBBY}


def test_the_same_approval_twice_counts_once() -> None:
    once, _ = approval.grant(OFFERED, {"x": given("aaa")}, NOW)
    twice, _ = approval.grant(once, {"x": given("aaa")}, NOW)
    assert twice == once
