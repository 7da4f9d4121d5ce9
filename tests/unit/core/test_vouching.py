"""Whose word a head is, as people are told it, and what lets an unsigned one through."""

from dataclasses import replace

import pytest

from reconciler.core import vouching
from reconciler.core.approval import APPROVAL_SECONDS, Approval
from reconciler.model.holds import HoldKind
from reconciler.model.records import RepositoryRecord
from reconciler.model.signatures import SigningRules, Unsigned, Verification, Vouched
from reconciler.model.specs import Config, WriteBack
from tests.unit.core.making import NOW, a_reading, a_workload, autoscaling

STRICT, HEAD = SigningRules(strict=True), SigningRules(strict=False)
TIP, OTHER, BASE = "a" * 40, "b" * 40, "c" * 40
FOUND = Verification(TIP, "", (Unsigned(TIP, "not signed"), Unsigned(OTHER, "signed twice")))


def waits(found: Verification = FOUND, rules: SigningRules = STRICT, since: str = BASE) -> Vouched:
    return vouching.vouched(found, "main", rules, since)


@pytest.mark.parametrize(
    ("found", "rules", "since", "told"),
    [
        pytest.param(
            FOUND,
            STRICT,
            BASE,
            "commit aaaaaaaaaaaa of main is not signed, and 1 beneath it likewise; nothing of this "
            "head acts. Sign them anew (git rebase --force-rebase --gpg-sign bbbbbbbbbbbb^) and "
            "force-push",
            id="several",
        ),
        pytest.param(
            Verification(TIP, "", FOUND.unsigned[:1]),
            HEAD,
            BASE,
            "commit aaaaaaaaaaaa of main is not signed; nothing of this head acts. Push a commit "
            "that an allowed key signed",
            id="the head alone",
        ),
        pytest.param(
            replace(FOUND, cut=True),
            STRICT,
            "",
            "commit aaaaaaaaaaaa of main is not signed, and 1 or more beneath it likewise; nothing "
            "of this head acts. No commit that was vouched for is on record: where that was lost, "
            "the ids of Gamekeeper's own commits are lost with it, and one of them that is not "
            "signed waits like anybody's. Push a commit that an allowed key signed",
            id="more than are looked at",
        ),
        pytest.param(
            Verification(TIP, cut=True),
            STRICT,
            BASE,
            "more commits came to main at once than are looked at; nothing of this head acts. "
            "Sign them anew (git rebase --force-rebase --gpg-sign cccccccccccc) and force-push",
            id="none was looked at",
        ),
    ],
)
def test_a_head_that_waits_says_what_was_found_and_what_to_do(
    found: Verification, rules: SigningRules, since: str, told: str
) -> None:
    head = waits(found, rules, since)
    assert (head.by, head.problem, head.since) == ("", told, since)
    assert len(head.change_hash) == 12


def test_a_head_without_a_problem_needs_no_approval() -> None:
    good = waits(Verification(TIP, "signed by anna"))
    assert good == Vouched("signed by anna", since=BASE)
    given = {"one": Approval("", "anna", NOW)}
    assert vouching.let_through(good, given, NOW) == good


def test_a_hash_names_the_unsigned_commits_and_nothing_else() -> None:
    assert waits().change_hash == waits(replace(FOUND, tip=OTHER)).change_hash
    fewer = Verification(TIP, "", FOUND.unsigned[:1])
    assert waits(fewer).change_hash != waits().change_hash
    cut = Verification(TIP, cut=True)
    assert waits(cut).change_hash != waits(replace(cut, tip=OTHER)).change_hash


@pytest.mark.parametrize(
    ("change_hash", "age_seconds", "through"),
    [
        pytest.param(waits().change_hash, 0.0, True, id="just now"),
        pytest.param(waits().change_hash, APPROVAL_SECONDS - 1, True, id="within the hour"),
        pytest.param(waits().change_hash, APPROVAL_SECONDS, False, id="an hour ago"),
        pytest.param(waits().change_hash, -APPROVAL_SECONDS, False, id="by a clock that is wrong"),
        pytest.param("0123456789ab", 0.0, False, id="another hash"),
    ],
)
def test_an_approval_lets_its_commits_through_for_an_hour(
    change_hash: str, age_seconds: float, through: bool
) -> None:
    given = {"one": Approval(change_hash, "bea", NOW - age_seconds)}
    found = vouching.let_through(waits(), given, NOW)
    passed = Vouched("approved by bea", since=BASE, approvals=frozenset({"one"}))
    assert found == (passed if through else waits())


def test_an_approval_is_used_up_with_the_head_that_it_let_in() -> None:
    head = replace(a_reading(), vouched=Vouched("approved by bea", approvals=frozenset({"one"})))
    assert vouching.used(RepositoryRecord(commit="c1"), head) == frozenset()
    assert vouching.used(RepositoryRecord(commit="c2"), head) == {"one"}


def test_a_branch_of_counts_that_waits_has_the_whole_head_wait() -> None:
    tracked = Vouched("signed by anna", approvals=frozenset({"one"}))
    counts = Vouched("approved by bea", approvals=frozenset({"two"}))
    both = Vouched("signed by anna", approvals=frozenset({"one", "two"}))
    assert vouching.both(tracked, counts) == both
    assert vouching.both(tracked, waits()) == waits()


@pytest.mark.parametrize(
    ("record", "since"),
    [
        pytest.param(RepositoryRecord("url", "main", "c1", verified="signed"), "c1", id="verified"),
        pytest.param(RepositoryRecord("url", "main", "c1"), "", id="accepted while nobody asked"),
        pytest.param(
            RepositoryRecord("x", "main", "c1", verified="y"), "", id="another repository"
        ),
        pytest.param(RepositoryRecord(), "", id="nothing on record"),
    ],
)
def test_only_a_verified_commit_of_this_repository_is_a_beginning(
    record: RepositoryRecord, since: str
) -> None:
    assert vouching.accepted_since(record, "url") == since


def test_counts_that_nobody_else_can_verify_are_told_where_any_are_committed() -> None:
    scaled = a_workload(autoscaling=autoscaling(1, 5))
    (told,) = vouching.remarks(a_reading(scaled), signs=False)
    assert (told.kind, told.key) == (HoldKind.UNSIGNED_COUNTS, None)
    off = Config(write_back=WriteBack(mode="off"))
    for reading, signs in (
        (a_reading(scaled), True),
        (a_reading(a_workload()), False),
        (a_reading(scaled, config=off), False),
        (a_reading(scaled, config=None), False),
    ):
        assert vouching.remarks(reading, signs=signs) == ()
