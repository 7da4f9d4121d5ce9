from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import approval
from reconciler.core.approval import APPROVAL_SECONDS, Approval, Ask
from reconciler.core.change import hash_of_lines, hashes_of
from reconciler.core.offers import asks_of
from reconciler.core.record_codec import dump_repository, load_repository
from reconciler.model.freezes import Edit
from reconciler.model.records import Approved, Offer, OfferEnd, RepositoryRecord
from tests.unit.core.making import NOW

ARENA, LOBBY = "local Scheduler a/a left-git to=0", "local Scheduler b/b scale-in to=5"
EDIT = "local Scheduler c/c edit 0123"
OFFERED = RepositoryRecord(
    "git@host:fleet",
    "main",
    "c1",
    offers=(
        Offer("aaa", (ARENA,), "c1", asks_of({ARENA: ""})),
        Offer("bbb", (LOBBY,), "c2", asks_of({LOBBY: "m"})),
        Offer("ab", (ARENA, LOBBY), "c2", asks_of({ARENA: "", LOBBY: "m"})),
    ),
)
ASK = Ask({ARENA: "", LOBBY: "m"}, "c2", NOW)
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
    record, used = approval.grant(OFFERED, approvals, ASK)
    assert {entry.line for entry in record.approved} == lines
    assert used == done


def test_an_approval_says_who_gave_it_and_how_long_it_holds() -> None:
    record, _ = approval.grant(OFFERED, {"x": given("aaa", NOW - 60)}, ASK)
    assert record.approved == (Approved(ARENA, UNTIL - 60, "maria"),)


@pytest.mark.parametrize(
    ("ahead_seconds", "lets_through"),
    [
        pytest.param(2.0, True, id="clocks that are not quite alike"),
        pytest.param(3599.0, True, id="nearly an hour ahead of ours"),
        pytest.param(3600.0, False, id="an hour ahead: not for days, not even once"),
        pytest.param(-3599.0, True, id="nearly an hour ago"),
        pytest.param(-3600.0, False, id="an hour ago, or by a clock that far behind"),
    ],
)
def test_an_approval_by_a_clock_that_is_ahead_holds_an_hour_at_most(
    ahead_seconds: float, lets_through: bool
) -> None:
    record, used = approval.grant(OFFERED, {"x": given("aaa", NOW + ahead_seconds)}, ASK)

    assert used == {"x"}
    assert bool(record.approved) is lets_through
    assert all(entry.until <= UNTIL for entry in record.approved)


def test_one_for_a_later_head_from_days_ahead_is_not_kept_for_days() -> None:
    waiting = {"x": given("unknown", NOW + 60), "y": given("unknown", NOW + 86_400)}

    assert approval.grant(OFFERED, waiting, ASK)[1] == {"y"}


def test_what_was_approved_while_the_clock_was_ahead_ends_an_hour_after_it_was_set_right() -> None:
    before = replace(OFFERED, approved=(Approved(LOBBY, UNTIL + 86_400, "jo", "m"),))

    right = approval.standing(before, Ask({LOBBY: "m"}, "c3", NOW))

    assert right.approved == (Approved(LOBBY, UNTIL, "jo", "m"),)
    assert not approval.standing(right, Ask({LOBBY: "m"}, "c3", UNTIL)).approved


def test_what_was_offered_anew_while_the_clock_was_ahead_can_be_approved_once_it_is_right() -> None:
    ahead = replace(OFFERED, offers=(replace(OFFERED.offers[1], since=NOW + 86_400),))

    right = approval.offer(ahead, Ask({LOBBY: "m"}, "c2", NOW), ())
    later = replace(ASK, now=NOW + 1)

    assert approval.grant(right, {"x": given("bbb", NOW + 1)}, later)[0].approved
    assert not approval.grant(right, {"x": given("bbb", NOW - 1.5)}, later)[0].approved


def test_what_was_approved_before_stays_so() -> None:
    before = replace(OFFERED, approved=(Approved(LOBBY, UNTIL, "jo"),))
    record, _ = approval.grant(before, {"x": given("aaa")}, ASK)
    assert {entry.line for entry in record.approved} == {ARENA, LOBBY}


def test_the_same_approval_twice_counts_once() -> None:
    once, _ = approval.grant(OFFERED, {"x": given("aaa")}, ASK)
    twice, _ = approval.grant(once, {"x": given("aaa")}, ASK)
    assert twice == once


@pytest.mark.parametrize(
    ("changes", "at", "counts"),
    [
        pytest.param({}, NOW - 60, True, id="a hash that is offered for the first time"),
        pytest.param({"since": NOW - 30.5}, NOW - 60, False, id="not one offered anew since"),
        pytest.param({"since": NOW - 30.5}, NOW - 31, True, id="but one of that second"),
        pytest.param({"end": OfferEnd.DONE}, NOW, False, id="not one that is used up"),
        pytest.param({"end": OfferEnd.OVERTAKEN}, NOW, False, id="nor one that is overtaken"),
    ],
)
def test_an_approval_counts_for(changes: dict[str, Any], at: float, counts: bool) -> None:
    offered = replace(OFFERED, offers=(replace(OFFERED.offers[0], **changes),))
    record, used = approval.grant(offered, {"x": given("aaa", at)}, ASK)
    assert bool(record.approved) is counts
    assert used == {"x"}


def test_two_approvals_of_one_hash_count_as_one_and_both_are_used_up() -> None:
    twice = {"x": given("aaa"), "y": Approval("aaa", "jo", NOW)}
    record, used = approval.grant(OFFERED, twice, ASK)
    assert {entry.line for entry in record.approved} == {ARENA}
    assert used == {"x", "y"}
    closed = replace(record, offers=approval.close(record.offers, {ARENA: ""}, ()))
    late, used = approval.grant(closed, {"z": given("aaa")}, ASK)
    assert late.approved == record.approved
    assert used == {"z"}


@pytest.mark.parametrize(
    ("marks", "now", "left"),
    [
        pytest.param({LOBBY: "m"}, NOW, True, id="as long as it is asked with the same spec"),
        pytest.param({LOBBY: "n"}, NOW, False, id="not once a commit touches the workload"),
        pytest.param({ARENA: "m"}, NOW, False, id="nor once it is asked for no more"),
        pytest.param({LOBBY: "m"}, UNTIL, False, id="nor after an hour"),
    ],
)
def test_what_is_approved_stands(marks: dict[str, str], now: float, left: bool) -> None:
    before = replace(OFFERED, approved=(Approved(LOBBY, UNTIL, "jo", "m"),))
    after = approval.standing(before, Ask(marks, "c3", now))
    assert bool(after.approved) is left


def hashes(record: RepositoryRecord) -> list[tuple[str, str, float]]:
    return [(item.change_hash, item.commit, item.since) for item in record.offers]


def test_what_a_freeze_holds_and_the_rest_are_offered_apart_and_together() -> None:
    asked = {ARENA: "", LOBBY: "m", EDIT: ""}
    ask = Ask(asked, "c2", NOW, frozen=frozenset({EDIT, ARENA}))
    offered = approval.offer(RepositoryRecord(), ask, waiting=(ARENA,))
    stand_for = {item.change_hash: item.asks for item in offered.offers}
    for lines in ((ARENA, EDIT), (LOBBY,), (EDIT,), (LOBBY, EDIT), (ARENA, LOBBY, EDIT)):
        part = {line: asked[line] for line in lines}
        assert stand_for.pop(hash_of_lines(lines)) == asks_of(part)
    assert not stand_for
    found = hashes_of(asked, ask.frozen)
    assert {line for line in asked if found[line] == hash_of_lines((ARENA, EDIT))} == ask.frozen
    assert found[LOBBY] == hash_of_lines((LOBBY,))


def test_what_is_over_makes_place_before_what_still_waits() -> None:
    ended = Offer("old", (), "c0", frozenset(), end=OfferEnd.DONE)
    many = tuple(
        Offer(f"h{n}", (LOBBY,), "c1", asks_of({LOBBY: f"{n}"}))
        for n in range(approval.OFFERS_KEPT - 1)
    )
    mine = Offer(hash_of_lines([ARENA]), (ARENA,), "c0", asks_of({ARENA: ""}))
    record = RepositoryRecord(offers=(mine, *many, ended))
    first = approval.offer(record, Ask({ARENA: ""}, "c2", NOW), ())
    assert first.offers == (*many, mine), "which is asked for, so it is the last to go"
    assert approval.offer(first, Ask({ARENA: ""}, "c3", NOW), ()) == first
    more = approval.offer(first, Ask({EDIT: ""}, "c4", NOW), ())
    assert [item.change_hash for item in more.offers[-2:]] == [
        mine.change_hash, hash_of_lines([EDIT]),
    ]  # fmt: skip


def test_a_hash_is_offered_once_for_one_state_of_the_specs() -> None:
    first = approval.offer(RepositoryRecord(), Ask({LOBBY: "m"}, "c1", NOW), ())
    again = approval.offer(first, Ask({LOBBY: "m"}, "c2", NOW + 9), ())
    assert hashes(again) == hashes(first) == [(hash_of_lines([LOBBY]), "c1", 0.0)]
    touched = approval.offer(first, Ask({LOBBY: "n"}, "c2", NOW + 9), ())
    assert hashes(touched) == [(hash_of_lines([LOBBY]), "c2", NOW + 9)]


def test_a_hash_that_is_used_up_is_offered_anew_when_it_is_asked_for_again() -> None:
    first = approval.offer(RepositoryRecord(), Ask({LOBBY: "m"}, "c1", NOW), ())
    done = replace(first, offers=approval.close(first.offers, {LOBBY: "m"}, ()))
    again = approval.offer(done, Ask({LOBBY: "m"}, "c3", NOW + 9), ())
    assert hashes(again) == [(hash_of_lines([LOBBY]), "c3", NOW + 9)]
    assert again.offers[0].end is OfferEnd.WAITING


def test_an_offer_of_an_older_version_lets_nothing_through() -> None:
    old = RepositoryRecord(offers=(Offer("aaa", (ARENA,), "c1"),))
    assert not approval.grant(old, {"x": given("aaa")}, ASK)[0].approved


def test_a_line_that_is_asked_with_another_spec_is_let_through_by_no_offer_of_the_old_one() -> None:
    touched = replace(ASK, marks={ARENA: "", LOBBY: "n"})
    record, used = approval.grant(OFFERED, {"x": given("ab")}, touched)
    assert {entry.line for entry in record.approved} == {ARENA}
    assert used == {"x"}
    (_, old, both) = approval.close(OFFERED.offers, touched.marks, {ARENA, LOBBY})
    assert old.end is OfferEnd.OVERTAKEN
    assert both.asks == asks_of({ARENA: ""})


@pytest.mark.parametrize("changed", [1, 500, 1000])
def test_a_thousand_edits_in_forty_commits_of_a_freeze_leave_a_small_record(changed: int) -> None:
    record, contents = RepositoryRecord(), [0] * 1000
    for number in range(40):
        for each in range(changed):
            contents[(number * changed + each) % 1000] = number + 1
        edits = [
            Edit(f"local Scheduler a-{at:04}/a-{at:04} change to={at:04x}{content:08x}", None)
            for at, content in enumerate(contents)
        ]
        ask = Ask(dict.fromkeys((edit.line for edit in edits), ""), f"c{number}", NOW)
        record = approval.offer(
            record, ask, approval.waiting(record, {}, [each.line for each in edits])
        )
        record = replace(record, offers=approval.close(record.offers, ask.marks, set(ask.marks)))
        assert sum(map(len, dump_repository(record).values())) < 128 * 1024

    record = load_repository(dump_repository(record), "the record")
    newest = record.offers[-1 if changed == 1000 else -2]
    assert newest.change_hash == hash_of_lines(ask.marks)
    assert len(newest.asks) == 1000
    assert newest.lines == tuple(sorted(ask.marks))[:20]
    assert all(offer.asks or offer.end for offer in record.offers)
    approved, _ = approval.grant(record, {"x": given(newest.change_hash)}, ask)
    assert {entry.line for entry in approved.approved} == set(ask.marks)


WAITING, DONE, OVERTAKEN = OfferEnd.WAITING, OfferEnd.DONE, OfferEnd.OVERTAKEN


@pytest.mark.parametrize(
    ("before", "asked", "held", "after"),
    [
        pytest.param(WAITING, "ab", "ab", WAITING, id="it waits while its lines are held"),
        pytest.param(WAITING, "a", "a", WAITING, id="or one of them is"),
        pytest.param(WAITING, "ab", "", DONE, id="it is done when they are let through"),
        pytest.param(WAITING, "a", "", DONE, id="or those of them that are asked for are"),
        pytest.param(WAITING, "c", "c", OVERTAKEN, id="it is overtaken when none is asked for"),
        pytest.param(DONE, "", "", DONE, id="what is done stays done"),
        pytest.param(OVERTAKEN, "ab", "ab", OVERTAKEN, id="what is over is offered anew first"),
    ],
)
def test_an_offer_ends(before: OfferEnd, asked: str, held: str, after: OfferEnd) -> None:
    offer = Offer("h", ("a", "b"), "c1", asks_of({"a": "", "b": ""}), 0.0, before)
    (closed,) = approval.close([offer], dict.fromkeys(asked, ""), held)
    assert closed.end is after
    assert closed.lines == tuple(line for line in "ab" if line in asked and not after)
    assert closed.asks == asks_of(dict.fromkeys(closed.lines, ""))
