"""Which signed trailers count: commits in, approvals and doubts out."""

from dataclasses import replace

import pytest

from reconciler.core import trailers
from reconciler.core.approval import Approval
from reconciler.model.records import Endorsement, Offer, RepositoryRecord
from reconciler.model.trailers import History, SignedCommit, Signer

HASH, OTHER = "d1007e0425df", "bd7085a350de"
NOW = 1000.0
ANNA = Signer(("anna@x",), "SHA256:anna")
BEA = Signer(("bea@x",), "SHA256:bea")
RECORD = RepositoryRecord(offers=(Offer(HASH, ("a line",), "c1"),), in_step="c0")
MADE = SignedCommit("c1", "c0", True, (), ANNA)
APPROVED = SignedCommit("c2", "c1", False, (HASH,), BEA)


def judged(*newest_first: SignedCommit, record: RepositoryRecord = RECORD) -> trailers.Endorsed:
    return trailers.judge(History(newest_first), record, NOW)


def test_another_persons_trailer_counts_from_when_it_was_first_seen() -> None:
    found = judged(APPROVED, MADE)
    assert found.given == {f"c2 {HASH}": Approval(HASH, "bea@x in commit c2", NOW)}
    assert found.doubts == ()
    again = trailers.judge(History((APPROVED, MADE)), found.repository, NOW + 500)
    assert again.given == found.given
    assert again.repository == found.repository


def test_one_that_was_seen_while_the_clock_was_ahead_has_an_hour_from_when_it_is_right() -> None:
    seen = Endorsement("c2", HASH, "bea@x in commit c2", NOW + 86_400)
    found = judged(APPROVED, MADE, record=replace(RECORD, endorsements=(seen,)))
    assert found.given == {f"c2 {HASH}": Approval(HASH, "bea@x in commit c2", NOW)}
    assert found.repository.endorsements == (replace(seen, at=NOW),), "and no longer than that"


def test_what_was_used_up_never_counts_again() -> None:
    first = judged(APPROVED, MADE)
    spent = trailers.spend(first.repository, first.given)
    assert spent.endorsements == (Endorsement("c2", HASH, "bea@x in commit c2", NOW, spent=True),)
    again = judged(APPROVED, MADE, record=spent)
    assert not again.given
    assert "used up or has expired" in again.doubts[0].reason


def test_approvals_of_several_people_add_up() -> None:
    record = replace(RECORD, offers=(*RECORD.offers, Offer(OTHER, ("b",), "c1")))
    third = SignedCommit("c3", "c2", False, (OTHER,), Signer(("carl@x",), "SHA256:carl"))
    found = judged(third, APPROVED, MADE, record=record)
    assert {given.change_hash for given in found.given.values()} == {HASH, OTHER}


@pytest.mark.parametrize(
    ("commits", "said"),
    [
        pytest.param(
            (replace(APPROVED, signer=None, problem="not signed"), MADE), "it is not signed",
            id="unsigned",
        ),
        pytest.param((replace(APPROVED, signer=ANNA), MADE), "no own change", id="the maker"),
        pytest.param(
            (replace(APPROVED, signer=Signer(("anna@home",), "SHA256:anna")), MADE),
            "no own change",
            id="the maker's key under another name",
        ),
        pytest.param(
            (replace(APPROVED, signer=Signer(("anna@home", "anna@x"), "SHA256:new")), MADE),
            "no own change",
            id="the maker's name with another key",
        ),
        pytest.param(
            (APPROVED, replace(MADE, signer=None, problem="not signed")),
            "c1, which it would approve, is not signed",
            id="nobody knows who made it",
        ),
        pytest.param(
            (APPROVED, MADE, replace(MADE, commit="c0b", parent="c0", signer=BEA)),
            "signed commit c0b",
            id="made a part of it earlier",
        ),
        pytest.param(
            (APPROVED, replace(MADE, parent="", signer=None, problem="not signed")),
            "c1, which it would approve",
            id="a merge counts as a change",
        ),
        pytest.param((APPROVED,), "no commit since", id="nothing was changed"),
        pytest.param(
            (replace(APPROVED, approves=(OTHER,)), MADE), "no change that is asked for",
            id="another hash",
        ),
    ],
)  # fmt: skip
def test_what_does_not_count_says_why(commits: tuple[SignedCommit, ...], said: str) -> None:
    found = judged(*commits)
    assert not found.given
    assert not found.repository.endorsements
    assert said in found.doubts[0].reason


@pytest.mark.parametrize(
    ("commits", "said"),
    [
        pytest.param(
            (replace(MADE, commit="c3", parent="c2"), APPROVED, MADE),
            ["in commit c2 does not count: a later commit changes something"],
            id="a later change",
        ),
        pytest.param(
            (replace(APPROVED, changes=True), MADE),
            ["in commit c2 does not count: the commit changes something"],
            id="it changes something itself",
        ),
        pytest.param((), [], id="no commits"),
    ],
)
def test_only_the_end_of_history_approves(
    commits: tuple[SignedCommit, ...], said: list[str]
) -> None:
    found = judged(*commits)
    assert (found.repository, found.given) == (RECORD, {})
    assert [
        f"Gamekeeper-Approve: {HASH} {words}, and only empty commits at the end of the branch "
        "approve: push one"
        for words in said
    ] == [hold.reason for hold in found.doubts]


def test_a_count_that_we_committed_is_no_part_of_what_is_approved() -> None:
    before = SignedCommit("o1", "c1", True, (), None, "not signed")
    approved = replace(APPROVED, parent="o1")
    after = SignedCommit("o2", "c2", True, (OTHER,), None, "not signed")
    history = (after, approved, before, MADE)
    found = judged(*history, record=replace(RECORD, pushed=("o1", "o2")))
    assert found.given == {f"c2 {HASH}": Approval(HASH, "bea@x in commit c2", NOW)}
    assert "the commit changes something" in found.doubts[0].reason, "ours approves nothing"
    assert not judged(*history).given


def test_what_counted_before_a_later_change_is_not_doubted_again() -> None:
    remembered = judged(APPROVED, MADE).repository
    later = replace(MADE, commit="c3", parent="c2")
    assert not judged(later, APPROVED, MADE, record=remembered).doubts


def test_a_history_that_cannot_be_told_is_a_doubt() -> None:
    found = trailers.judge(History(problem="more than 100 commits since c0"), RECORD, NOW)
    assert [hold.reason for hold in found.doubts] == [
        "no trailer counts: more than 100 commits since c0"
    ]


def test_the_invitation_holds_the_line_to_paste() -> None:
    assert f"Gamekeeper-Approve: {HASH}" in trailers.invitation(HASH).reason
