from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import record_codec
from reconciler.core.change import hash_of_lines
from reconciler.model.changes import Cause, Removal
from reconciler.model.findings import Finding
from reconciler.model.holds import HoldKind
from reconciler.model.records import Approved, Departed, LedgerEntry, RepositoryRecord, StateRecord
from reconciler.model.specs import Config
from reconciler.model.trees import Relation
from tests.unit.core.arriving import ON_RECORD, counts, kinds, take_in
from tests.unit.core.making import NOW, a_key, a_reading, a_workload, accepted

ARENA, LOBBY = a_workload("arena", 2), a_workload("lobby", 20)


def test_a_first_commit_is_taken_in_whole() -> None:
    first = take_in(a_reading(ARENA, LOBBY), remembered=RepositoryRecord(), relation=None)
    assert counts(first) == {"arena": 2, "lobby": 20}
    assert not first.holds
    assert first.repository.commit == "c2"


def test_a_commit_about_one_workload_writes_one_record() -> None:
    bigger = a_workload("arena", 5)
    result = take_in(a_reading(bigger, LOBBY), ARENA, LOBBY)
    assert list(result.records) == [a_key("arena")]
    assert counts(result) == {"arena": 5, "lobby": 20}


def test_a_small_spec_that_left_git_is_deleted() -> None:
    result = take_in(a_reading(LOBBY), ARENA, LOBBY)
    assert result.deleting == {a_key("arena")}
    assert not result.holds
    assert result.records[a_key("arena")].ledger == (LedgerEntry(NOW, 2),)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        pytest.param({"relation": Relation.DIVERGED}, HoldKind.FORCE_PUSHED, id="a force-push"),
        pytest.param(
            {"relation": Relation.UNKNOWN}, HoldKind.FORCE_PUSHED, id="a rewritten history"
        ),
        pytest.param({"branch": "other"}, HoldKind.REPOSITORY_CHANGED, id="another branch"),
        pytest.param(
            {"repository": "git@host:other"}, HoldKind.REPOSITORY_CHANGED, id="another repository"
        ),
        pytest.param({"path": "eu-prod"}, HoldKind.REPOSITORY_CHANGED, id="another path"),
        pytest.param({"relation": None}, HoldKind.NO_ACCEPTED_COMMIT, id="no accepted commit"),
        pytest.param(
            {"accepted_config": Config(paths=("schedulers", "eu"))},
            HoldKind.PATHS_CHANGED,
            id="changed paths",
        ),
    ],
)
def test_no_deletion_comes_from(changes: dict[str, Any], kind: HoldKind) -> None:
    result = take_in(a_reading(LOBBY), ARENA, LOBBY, **changes)
    assert kinds(result) == {"arena": kind}
    assert counts(result) == {"arena": 2, "lobby": 20}
    assert result.holds[0].change_hash


def test_a_vanished_directory_deletes_nothing() -> None:
    reading = a_reading(LOBBY, directories=frozenset({"lobbies"}))
    assert kinds(take_in(reading, ARENA, LOBBY)) == {"arena": HoldKind.PATH_VANISHED}


def test_an_emptied_repository_deletes_nothing() -> None:
    result = take_in(a_reading(), ARENA)
    assert kinds(result) == {"arena": HoldKind.LAST_SPEC}
    assert counts(result) == {"arena": 2}


def test_an_unreadable_file_holds_deletions_and_nothing_else() -> None:
    bigger = a_workload("lobby", 25)
    result = take_in(a_reading(bigger, unreadable=("schedulers/x.yaml",)), ARENA, LOBBY)
    assert kinds(result) == {"arena": HoldKind.UNREADABLE, "": HoldKind.UNREADABLE}
    assert counts(result) == {"arena": 2, "lobby": 25}
    assert not result.deleting
    # Once it can be read again, the deletion goes on by itself.
    known = {ARENA.key: accepted(ARENA), LOBBY.key: accepted(bigger)} | dict(result.records)
    after = take_in(a_reading(bigger, commit="c3"), records=known)
    assert after.deleting == {a_key("arena")}


def test_a_broken_document_stays_at_its_accepted_spec_while_the_rest_acts() -> None:
    finding = Finding("schedulers/arena.yaml", 4, 3, "spec.replicas", "must be a number")
    reading = a_reading(a_workload("lobby", 21), invalid={a_key("arena"): (finding,)})
    result = take_in(reading, ARENA, LOBBY)
    assert kinds(result) == {"arena": HoldKind.FINDING}
    assert counts(result) == {"arena": 2, "lobby": 21}
    assert "schedulers/arena.yaml:4" in result.holds[0].reason


def test_an_invalid_config_holds_the_whole_commit() -> None:
    result = take_in(a_reading(a_workload("lobby", 99), config=None), ARENA, LOBBY)
    assert counts(result) == {"arena": 2, "lobby": 20}
    assert not result.records
    assert set(kinds(result).values()) == {HoldKind.CONFIG}
    assert replace(result.repository, notices=()) == ON_RECORD


def test_a_clock_that_was_set_back_lets_no_budget_last_for_hours() -> None:
    """What was taken away an hour ahead was taken away just now: it ends with its window."""
    left = Departed(a_key("duel"), LedgerEntry(NOW + 3600, 2))
    known = {LOBBY.key: replace(accepted(LOBBY), ledger=(LedgerEntry(NOW + 3600, 22),))}
    remembered = replace(ON_RECORD, departed=(left,))
    result = take_in(a_reading(LOBBY), records=known, remembered=remembered)
    assert result.records[LOBBY.key].ledger == (LedgerEntry(NOW, 22),)
    assert result.repository.departed == (replace(left, entry=LedgerEntry(NOW, 2)),)


def test_a_mass_deletion_is_refused_whole_and_then_approved() -> None:
    refused = take_in(a_reading(ARENA), ARENA, LOBBY)
    assert kinds(refused) == {"lobby": HoldKind.OVER_BUDGET}
    assert counts(refused) == {"arena": 2, "lobby": 20}
    line = Removal("local", a_key("lobby"), Cause.LEFT_GIT, 0, 20)
    assert refused.holds[0].change_hash == hash_of_lines([line.line])
    approved = replace(refused.repository, approved=(Approved(line.line, NOW + 60),))
    known = {ARENA.key: accepted(ARENA), LOBBY.key: accepted(LOBBY)} | dict(refused.records)
    after = take_in(a_reading(ARENA), remembered=approved, records=known)
    assert after.deleting == {a_key("lobby")}
    assert not after.holds


def test_a_refused_scale_in_takes_nothing_of_its_spec_and_the_other_specs_act() -> None:
    smaller = a_workload("lobby", 5, revision="1-next")
    newer = a_workload("arena", ARENA.replicas, revision="1-next")
    result = take_in(a_reading(newer, smaller), ARENA, LOBBY)
    lobby, arena = result.effective[a_key("lobby")], result.effective[a_key("arena")]
    assert (lobby.replicas, lobby.revision) == (20, LOBBY.revision)
    assert arena.revision == "1-next"
    assert kinds(result) == {"lobby": HoldKind.OVER_BUDGET}


def test_a_refused_removal_stays_refused_when_the_window_has_moved_on() -> None:
    removed = StateRecord(ledger=(LedgerEntry(NOW - 500, 23),))
    start = replace(accepted(LOBBY), ledger=removed.ledger)
    smaller = a_workload("lobby", 18)
    refused = take_in(a_reading(smaller), records={LOBBY.key: start})
    assert kinds(refused) == {"lobby": HoldKind.OVER_BUDGET}
    later = take_in(a_reading(smaller), records=dict(refused.records), now=NOW + 3600)
    assert counts(later) == {"lobby": 20}


def test_taking_the_change_back_ends_the_hold() -> None:
    refused = take_in(a_reading(ARENA), ARENA, LOBBY)
    known = {ARENA.key: accepted(ARENA)} | dict(refused.records)
    back = take_in(a_reading(ARENA, LOBBY, commit="c3"), records=known)
    assert not back.holds
    assert back.records[a_key("lobby")].held is None


def test_a_spec_that_returns_stops_its_deletion() -> None:
    going = replace(accepted(ARENA), deleting=True)
    result = take_in(a_reading(ARENA, LOBBY), LOBBY, records={ARENA.key: going})
    assert not result.deleting
    assert counts(result)["arena"] == 2


def test_a_spec_that_returns_is_asked_for_by_the_commit_that_brought_it_back() -> None:
    going = replace(accepted(ARENA), deleting=True)
    result = take_in(a_reading(ARENA, LOBBY, commit="c9"), LOBBY, records={ARENA.key: going})
    back = result.records[ARENA.key].accepted
    assert back is not None
    assert back.commit == "c9"


def test_one_that_returns_with_a_mistake_is_told_with_that_commit_once_it_is_mended() -> None:
    finding = Finding("arena.yaml", 3, 1, "spec.replicas", "is text", "write a number", "type")
    going = replace(accepted(ARENA), deleting=True)
    broken = a_reading(LOBBY, invalid={ARENA.key: (finding,)}, commit="c9")
    returned = take_in(broken, LOBBY, records={ARENA.key: going})
    mended = take_in(a_reading(ARENA, LOBBY, commit="d1"), records=dict(returned.records))
    back = (mended.records.get(ARENA.key) or returned.records[ARENA.key]).accepted
    assert back is not None
    assert back.commit == "c9"
    again = take_in(replace(broken, commit="e2"), records=dict(returned.records))
    stays = (again.records.get(ARENA.key) or returned.records[ARENA.key]).accepted
    assert stays == returned.records[ARENA.key].accepted


def test_what_lives_without_a_record_is_not_deleted() -> None:
    result = take_in(a_reading(LOBBY), LOBBY, unrecorded={a_key("ghost"): 1})
    assert kinds(result) == {"ghost": HoldKind.NO_ACCEPTED_COMMIT}
    assert not result.deleting
    (hold,), (noticed,) = result.holds, result.repository.notices
    assert noticed.change_hash == hold.change_hash != "", "no record of it tells what to approve"


def test_an_approval_lapses_when_its_line_is_asked_for_no_more() -> None:
    approved = replace(
        ON_RECORD, approved=(Approved("local Scheduler x/x left-git to=0", NOW + 9),)
    )
    assert take_in(a_reading(ARENA), ARENA, remembered=approved).repository.approved == ()


def test_small_removals_add_up_over_all_workloads() -> None:
    fleets = [a_workload(f"fleet-{n}", 3) for n in range(4)]
    result = take_in(a_reading(fleets[0]), *fleets)
    assert {hold.kind for hold in result.holds} == {HoldKind.OVER_BUDGET}
    assert "all workloads together would lose 9 of 12" in result.holds[0].reason


def test_a_suspended_workload_says_so() -> None:
    asleep = a_workload("arena", 2, suspend=True)
    assert kinds(take_in(a_reading(asleep), ARENA)) == {"arena": HoldKind.SUSPENDED}


def test_an_orphan_is_shown_by_every_head_and_can_be_approved() -> None:
    ghost = Removal("local", a_key("ghost"), Cause.LEFT_GIT, 0, 1)
    first = take_in(a_reading(LOBBY), LOBBY, unrecorded={ghost.key: 1})
    # A record with a hold and no spec would hide the orphan from the next head.
    assert ghost.key not in first.records
    approved = replace(first.repository, approved=(Approved(ghost.line, NOW + 60),))
    second = take_in(a_reading(LOBBY), LOBBY, unrecorded={ghost.key: 1}, remembered=approved)
    assert second.deleting == {ghost.key}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"unreadable": ("schedulers/x.yaml",)}, id="a file cannot be read"),
        pytest.param({"config": None}, id="the Config is invalid or Git does not answer"),
    ],
)
def test_a_deletion_on_its_way_pauses_while(changes: dict[str, Any]) -> None:
    known = {ARENA.key: replace(accepted(ARENA), deleting=True), LOBBY.key: accepted(LOBBY)}
    paused = take_in(a_reading(LOBBY, **changes), records=known)
    assert not paused.deleting
    assert "arena" not in counts(paused)
    assert take_in(a_reading(LOBBY), records=known).deleting == {ARENA.key}


def test_a_spec_that_returns_broken_goes_on_as_it_was_accepted() -> None:
    finding = Finding("schedulers/arena.yaml", 4, 3, "spec.replicas", "must be a number")
    known = {ARENA.key: replace(accepted(ARENA), deleting=True)}
    result = take_in(a_reading(invalid={ARENA.key: (finding,)}), records=known)
    assert (result.deleting, counts(result)) == (frozenset(), {"arena": 2})


def test_a_broken_spec_of_an_unknown_workload_makes_no_record() -> None:
    finding = Finding("schedulers/new.yaml", 1, 1, "", "must be a number")
    assert not take_in(a_reading(ARENA, invalid={a_key("new"): (finding,)}), ARENA).records


def test_departures_add_up_after_their_records_are_gone() -> None:
    fleets = [a_workload(f"fleet-{n}", 3) for n in range(20)]
    left, repository = fleets, ON_RECORD
    gone = 0
    while True:
        left, commit = left[1:], f"c{gone + 2}"
        going = take_in(a_reading(*left, commit=commit), *left, fleets[gone], remembered=repository)
        if going.holds:
            break
        gone, repository = gone + 1, going.repository
    # 5 % of 60 rooms, whose records were dropped as soon as they were gone.
    assert gone == 1
    assert {hold.kind for hold in going.holds} == {HoldKind.OVER_BUDGET}


def test_a_thousand_commits_in_ten_minutes_fit_the_record() -> None:
    record = accepted(LOBBY)
    for n in range(1000):
        changed = a_workload("lobby", 20 + n % 2)
        reading = a_reading(changed, commit=f"c{n}")
        result = take_in(reading, records={LOBBY.key: record}, now=NOW + n * 0.6)
        record = dict(result.records).get(LOBBY.key, record)
    assert len(record.ledger) <= 101
    assert len(record_codec.dump_state(record)["record"]) < 8 * 1024
    assert max(entry.count for entry in record.ledger) == 21


def test_what_no_record_tells_is_noticed_in_the_repositorys() -> None:
    finding = Finding("schedulers/new.yaml", 9, 3, "spec", "hostNetwork is not allowed")
    reading = a_reading(ARENA, invalid={a_key("new"): (finding,)}, unreadable=("x.yaml",))
    noticed = take_in(reading, ARENA).repository.notices
    assert [(item.kind, item.where) for item in noticed] == [
        (HoldKind.UNREADABLE, ""),
        (HoldKind.FINDING, "Scheduler/new"),
    ]
    assert "schedulers/new.yaml:9" in noticed[1].reason
    assert take_in(a_reading(ARENA), ARENA).repository.notices == ()


def test_a_broken_config_is_explained() -> None:
    finding = Finding("gamekeeper.yaml", 4, 3, "spec.pths", "unknown property")
    result = take_in(a_reading(ARENA, config=None, findings=(finding,)), ARENA)
    (noticed,) = result.repository.notices
    assert "gamekeeper.yaml:4: unknown property" in noticed.reason
    assert noticed.where == "commit c2", "no record names it: another one acts"
    assert result.repository.commit == ON_RECORD.commit
