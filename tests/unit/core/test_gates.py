from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import gates
from reconciler.model.changes import Cause, Removal
from reconciler.model.findings import Finding, Severity
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.readings import Reading
from reconciler.model.records import Approved, HeldRemoval, LedgerEntry, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config, Workload
from reconciler.model.trees import Relation
from tests.unit.core.arriving import ON_RECORD, an_arrival
from tests.unit.core.making import NOW, a_key, a_reading, a_workload, accepted

ARENA, LOBBY, PLAZA = a_workload("arena", 2), a_workload("lobby", 30), a_workload("plaza", 30)


def gone(workload: Workload) -> Removal:
    return Removal("local", workload.key, Cause.LEFT_GIT, 0, workload.replicas)


def smaller(workload: Workload, to: int) -> Removal:
    return Removal("local", workload.key, Cause.SCALE_IN, to, workload.replicas - to)


def blocked(
    reading: Reading,
    *removals: Removal,
    approved: tuple[Removal, ...] = (),
    until: float = NOW + 60,
    records: dict[WorkloadKey, StateRecord] | None = None,
    **changes: Any,
) -> dict[str, HoldKind]:
    known = {workload.key: accepted(workload) for workload in (ARENA, LOBBY, PLAZA)}
    remembered = replace(ON_RECORD, approved=tuple(Approved(r.line, until) for r in approved))
    arrival = an_arrival(reading, **changes)
    held = gates.blocked(arrival, remembered, known | (records or {}), removals)
    assert all(item.line in {r.line for r in removals} for item in held.values())
    return {key.name: item.kind for key, item in held.items()}


def in_directory(workload: Workload, file: str) -> StateRecord:
    record = accepted(workload)
    assert record.accepted is not None
    return replace(record, accepted=replace(record.accepted, file=file))


BUDGET, UNREADABLE = HoldKind.OVER_BUDGET, HoldKind.UNREADABLE
FROZEN = (Freeze(NOW + 60, NOW - 60, "cup"),)
STRICT = Budgets(0, 0.0, 0, 0.0)


@pytest.mark.parametrize(
    ("removals", "changes", "held"),
    [
        pytest.param([gone(ARENA)], {}, {}, id="a small deletion goes"),
        pytest.param(
            [gone(LOBBY), gone(ARENA)],
            {},
            {"lobby": BUDGET, "arena": BUDGET},
            id="what is over budget is refused as a whole, never in part",
        ),
        pytest.param(
            [gone(LOBBY), gone(ARENA)],
            {"approved": (gone(LOBBY),)},
            {},
            id="what is approved does not hold back what is small",
        ),
        pytest.param(
            [gone(LOBBY)],
            {"approved": (gone(LOBBY),), "until": NOW},
            {"lobby": BUDGET},
            id="an approval ends in the second in which it expires",
        ),
        pytest.param(
            [smaller(LOBBY, 5)],
            {"approved": (smaller(LOBBY, 6),)},
            {"lobby": BUDGET},
            id="an approval of another count does not count",
        ),
        pytest.param(
            [smaller(ARENA, 1)],
            {"relation": Relation.DIVERGED},
            {},
            id="a force-push holds deletions only, a scale-in acts",
        ),
        pytest.param(
            [gone(ARENA)],
            {"relation": Relation.DIVERGED, "approved": (gone(ARENA),)},
            {},
            id="a deletion by force-push can be approved",
        ),
        pytest.param(
            [gone(ARENA)],
            {"ceiling": STRICT},
            {"arena": BUDGET},
            id="the operator has the last word",
        ),
        pytest.param(
            [gone(ARENA)],
            {"accepted_config": Config(budgets=STRICT)},
            {"arena": BUDGET},
            id="a commit that loosens the budget is judged by the old one",
        ),
        pytest.param(
            [smaller(ARENA, 0)], {}, {}, id="zero is a count like others, within the budget"
        ),
    ],
)
def test_held_are(
    removals: list[Removal], changes: dict[str, Any], held: dict[str, HoldKind]
) -> None:
    assert blocked(a_reading(PLAZA), *removals, **changes) == held


def test_not_even_an_approval_deletes_while_a_file_is_unreadable() -> None:
    reading = a_reading(PLAZA, unreadable=("schedulers/x.yaml",))
    assert blocked(reading, gone(ARENA), approved=(gone(ARENA),)) == {"arena": UNREADABLE}


def test_an_unreadable_file_does_not_hold_back_a_scale_in() -> None:
    reading = a_reading(PLAZA, unreadable=("schedulers/x.yaml",))
    assert blocked(reading, smaller(ARENA, 1)) == {}


def test_an_unreadable_file_does_not_stand_in_for_a_force_push() -> None:
    reading = a_reading(PLAZA, unreadable=("schedulers/x.yaml",))
    held = blocked(reading, gone(ARENA), relation=Relation.DIVERGED)
    # Held as unreadable, it would be let go by the next commit that can be read.
    assert held == {"arena": HoldKind.FORCE_PUSHED}


def test_what_left_a_file_with_a_mistake_stays_until_it_is_mended_or_approved() -> None:
    records = {ARENA.key: in_directory(ARENA, "arena.yaml")}
    torn = a_reading(PLAZA, findings=(Finding("arena.yaml", 3, 1, "", "is wrong"),))
    assert blocked(torn, gone(ARENA), records=records) == {"arena": HoldKind.FILE_IN_DOUBT}
    assert blocked(torn, gone(ARENA), records=records, approved=(gone(ARENA),)) == {}
    held = HeldRemoval(HoldKind.FILE_IN_DOUBT, gone(ARENA).line, "arena.yaml:3 has a mistake")
    records = {ARENA.key: replace(records[ARENA.key], held=held)}
    assert blocked(a_reading(PLAZA), gone(ARENA), records=records) == {}


def test_a_vanished_directory_holds_deletions_elsewhere_too() -> None:
    records = {ARENA.key: in_directory(ARENA, "eu/arena.yaml")}
    held = blocked(a_reading(PLAZA), gone(ARENA), gone(LOBBY), records=records)
    assert held == {"arena": HoldKind.PATH_VANISHED, "lobby": HoldKind.PATH_VANISHED}


def test_a_directory_that_was_seen_gone_before_holds_no_new_deletion() -> None:
    line = gone(LOBBY).line
    held = HeldRemoval(HoldKind.PATH_VANISHED, line, "the whole directory eu is gone")
    records = {LOBBY.key: replace(in_directory(LOBBY, "eu/lobby.yaml"), held=held)}
    later = blocked(a_reading(PLAZA), gone(ARENA), gone(LOBBY), records=records)
    assert later == {"lobby": HoldKind.PATH_VANISHED}


@pytest.mark.parametrize(
    "kind",
    sorted(set(HoldKind) - {HoldKind.UNREADABLE, HoldKind.FILE_IN_DOUBT, HoldKind.FROZEN}),
)
def test_what_needs_a_person_stays_held_whatever_the_next_head_is(kind: HoldKind) -> None:
    held = HeldRemoval(kind, gone(ARENA).line, "once upon a time")
    records = {ARENA.key: replace(accepted(ARENA), held=held)}
    assert blocked(a_reading(PLAZA), gone(ARENA), records=records, now=NOW + 9e6) == {"arena": kind}


def test_a_hold_keeps_the_count_that_its_reason_tells_while_a_policy_adds_rooms() -> None:
    arrival = an_arrival(a_reading(PLAZA))
    fresh = gates.blocked(arrival, ON_RECORD, {LOBBY.key: accepted(LOBBY)}, (smaller(LOBBY, 5),))
    held = fresh[LOBBY.key]
    assert (held.kind, held.count) == (BUDGET, LOBBY.replicas)
    records = {LOBBY.key: replace(accepted(LOBBY), held=held)}
    grown = Removal("local", LOBBY.key, Cause.SCALE_IN, 5, 40)
    assert gates.blocked(arrival, ON_RECORD, records, (grown,)) == fresh


def test_another_count_than_the_held_one_is_judged_afresh() -> None:
    held = HeldRemoval(HoldKind.OVER_BUDGET, smaller(LOBBY, 5).line, "too many")
    records = {LOBBY.key: replace(accepted(LOBBY), held=held)}
    assert blocked(a_reading(PLAZA), smaller(LOBBY, 29), records=records) == {}


def test_steps_add_up_within_the_window() -> None:
    ledger = (LedgerEntry(NOW - 100, 32),)
    records = {LOBBY.key: replace(accepted(LOBBY), ledger=ledger)}
    assert blocked(a_reading(PLAZA), smaller(LOBBY, 28), records=records) == {"lobby": BUDGET}
    later = blocked(a_reading(PLAZA), smaller(LOBBY, 28), records=records, now=NOW + 501)
    assert later == {}


def test_a_clock_that_was_set_back_forgives_nothing() -> None:
    ledger = (LedgerEntry(NOW, 32),)
    records = {LOBBY.key: replace(accepted(LOBBY), ledger=ledger)}
    early = blocked(a_reading(PLAZA), smaller(LOBBY, 28), records=records, now=NOW - 7200)
    assert early == {"lobby": BUDGET}


def test_an_orphan_needs_approval_even_where_the_head_is_sound() -> None:
    ghost = Removal("local", a_key("ghost"), Cause.LEFT_GIT, 0, 1)
    unrecorded = {ghost.key: 1}
    held = blocked(a_reading(PLAZA), ghost, unrecorded=unrecorded)
    assert held == {"ghost": HoldKind.NO_ACCEPTED_COMMIT}
    assert blocked(a_reading(PLAZA), ghost, unrecorded=unrecorded, approved=(ghost,)) == {}


def test_a_mistake_that_is_of_no_workload_is_held_beside_those_that_are() -> None:
    own = Finding("schedulers/arena.yaml", 3, 1, "spec", "no such field")
    other = Finding("schedulers/z.yaml", 1, 1, "kind", "a Config stands only at the root")
    hint = replace(other, message="a hint", severity=Severity.WARNING)
    in_the_dark = Finding("schedulers/x.yaml", 1, 1, "", "no YAML")
    reading = replace(
        a_reading(LOBBY),
        invalid={ARENA.key: (own,)},
        unreadable=("schedulers/x.yaml",),
        findings=(own, other, hint, in_the_dark),
    )
    holds = [(hold.kind, hold.key, hold.reason) for hold in gates.holds_of(reading, {}, {})]
    assert holds == [
        (HoldKind.FINDING, ARENA.key, "schedulers/arena.yaml:3: no such field"),
        (HoldKind.FINDING, None, "schedulers/z.yaml:1: a Config stands only at the root"),
        (HoldKind.UNREADABLE, None, "nothing is deleted while schedulers/x.yaml cannot be read"),
    ]


def test_no_deletion_is_offered_while_a_file_is_unreadable() -> None:
    held = {
        item.key: HeldRemoval(HoldKind.OVER_BUDGET, item.line, "too many")
        for item in (gone(LOBBY), smaller(PLAZA, 1))
    }
    hashes = {item.line: "h" for item in held.values()}
    whole, torn = a_reading(ARENA), replace(a_reading(ARENA), unreadable=("x.yaml",))
    for reading, offered in ((whole, ["h", "h"]), (torn, ["", "h"])):
        holds = [hold for hold in gates.holds_of(reading, held, hashes) if hold.key]
        assert [hold.change_hash for hold in holds] == offered


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        pytest.param({"freezes": FROZEN}, HoldKind.FROZEN, id="a freeze is open"),
        pytest.param({}, None, id="it is over"),
        pytest.param(
            {"freezes": FROZEN, "relation": Relation.DIVERGED},
            HoldKind.FORCE_PUSHED,
            id="what needs a person is told first",
        ),
    ],
)
def test_a_deletion_waits_for_the_end_of_a_freeze(
    changes: dict[str, Any], wanted: HoldKind | None
) -> None:
    held = HeldRemoval(HoldKind.FROZEN, gone(ARENA).line, "frozen")
    records = {ARENA.key: replace(accepted(ARENA), held=held)}
    found = blocked(a_reading(PLAZA), gone(ARENA), records=records, **changes)
    assert found == ({} if wanted is None else {"arena": wanted})


def test_a_deletion_that_was_approved_waits_for_no_freeze() -> None:
    free = blocked(a_reading(PLAZA), gone(ARENA), approved=(gone(ARENA),), freezes=FROZEN)
    assert free == {}


def test_what_holds_a_workload_is_told_before_what_only_warns() -> None:
    warning = Finding(
        "arena.yaml", 3, 1, "spec.reports", "has no effect", severity=Severity.WARNING
    )
    error = Finding("arena.yaml", 9, 1, "spec.replicas", "must be a number")
    reading = replace(a_reading(), invalid={ARENA.key: (warning, error)})

    (hold,) = (each for each in gates.holds_of(reading, {}, {}) if each.key == ARENA.key)

    assert hold.reason == "arena.yaml:9: must be a number (and 1 more)"
