from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core import change
from reconciler.core.compile import canonical
from reconciler.core.report_checks import lost_protection
from reconciler.model.changes import Cause, Change, Removal, Verb
from reconciler.model.findings import Finding
from reconciler.model.freezes import Window
from reconciler.model.holds import HoldKind
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config, Departure, Source, Workload
from tests.unit.core.arriving import take_in
from tests.unit.core.making import NOW, a_key, a_reading, a_workload

ARENA, LOBBY = a_workload("arena", 2), a_workload("lobby", 20)
removals = st.builds(
    Removal,
    st.sampled_from(["local", "eu"]),
    st.sampled_from([a_key("a"), a_key("b"), a_key("c")]),
    st.sampled_from([Cause.LEFT_GIT, Cause.SCALE_IN]),
    st.integers(0, 3),
    st.integers(0, 9),
)


def hash_of(gone: Iterable[Removal]) -> str:
    return change.hash_of_lines(item.line for item in gone)


@given(st.lists(removals), st.randoms())
def test_a_hash_does_not_depend_on_order_or_repetition(gone: list[Removal], chance: Random) -> None:
    mixed = [*gone, *gone]
    chance.shuffle(mixed)
    assert hash_of(mixed) == hash_of(gone)


@given(st.lists(removals), st.integers(0, 99))
def test_a_hash_does_not_depend_on_the_count_it_starts_from(gone: list[Removal], by: int) -> None:
    moved = [replace(removal, rooms=removal.rooms + by) for removal in gone]
    assert hash_of(moved) == hash_of(gone)


@given(st.lists(removals), st.lists(removals))
def test_other_removals_have_another_hash(one: list[Removal], other: list[Removal]) -> None:
    same = {item.line for item in one} == {item.line for item in other}
    assert (hash_of(one) == hash_of(other)) is same


def test_nothing_removed_has_no_hash() -> None:
    assert hash_of([]) == ""


def test_a_hash_is_the_same_for_ever() -> None:
    # People copy it from CI into `gamekeeper approve`, which another version may serve.
    gone = Removal("local", a_key("arena"), Cause.LEFT_GIT, 0, 2)
    assert gone.line == "local Scheduler arena/arena left-git to=0"
    assert hash_of([gone]) == "d1007e0425df"


def test_a_moved_file_is_no_change() -> None:
    moved = replace(ARENA, source=Source("elsewhere/arena.yaml", 9))
    assert change.compare(a_reading(ARENA), a_reading(moved), "local").empty


def test_a_rename_is_a_delete_and_a_create() -> None:
    compared = change.compare(a_reading(ARENA), a_reading(a_workload("colosseum", 2)), "local")
    verbs = [(item.key.name, item.verb) for item in compared.workloads]
    assert verbs == [("arena", Verb.DELETE), ("colosseum", Verb.CREATE)]
    assert [removal.cause for removal in compared.removals] == [Cause.LEFT_GIT]


def test_another_kind_of_a_name_is_told_to_wait_for_the_last_room_of_the_first() -> None:
    fleet = replace(ARENA, key=WorkloadKey("Fleet", "arena", "arena"))
    made, _ = change.compare(a_reading(ARENA), a_reading(fleet), "local").workloads
    assert made.effect == (
        "2 rooms created when the last room of Scheduler/arena has ended: until then Fleet/arena "
        "has none"
    )


def test_a_broken_document_asks_for_nothing() -> None:
    finding = Finding("schedulers/lobby.yaml", 4, 3, "spec.replicas", "must be a number")
    head = a_reading(ARENA, invalid={LOBBY.key: (finding,)})
    compared = change.compare(a_reading(ARENA, LOBBY), head, "local")
    assert compared.empty
    assert not compared.removals


def test_a_mass_deletion_is_refused_with_the_hash_to_approve() -> None:
    compared = change.compare(a_reading(ARENA, LOBBY), a_reading(ARENA), "local")
    assert "would lose 20 of 20" in compared.refused
    assert compared.change_hash == hash_of(compared.removals)


def test_a_head_cannot_loosen_the_budget_that_judges_it() -> None:
    loose = Config(budgets=Budgets(99, 100.0, 99, 100.0))
    base, head = a_reading(ARENA, LOBBY), a_reading(ARENA, config=loose)
    assert change.compare(base, head, "local").refused
    assert change.compare(head, a_reading(ARENA), "local").empty


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        pytest.param(
            a_reading(LOBBY, directories=frozenset()),
            HoldKind.PATH_VANISHED,
            id="the whole directory is gone",
        ),
        pytest.param(
            a_reading(LOBBY, config=Config(paths=("other",))),
            HoldKind.PATHS_CHANGED,
            id="a path is listed no more",
        ),
        pytest.param(a_reading(), HoldKind.LAST_SPEC, id="the last spec is gone"),
        pytest.param(
            a_reading(LOBBY, unreadable=("schedulers/x.yaml",)),
            HoldKind.UNREADABLE,
            id="a file cannot be read",
        ),
    ],
)
def test_what_only_looks_like_a_deletion_is_held_as_the_loop_holds_it(
    head: Reading, kind: HoldKind
) -> None:
    compared = change.compare(a_reading(ARENA, LOBBY), head, "local")
    held = {hold.key: hold for hold in compared.holds}[ARENA.key]
    assert held.kind is kind
    approvable = kind is not HoldKind.UNREADABLE
    assert held.change_hash == (compared.change_hash if approvable else "")


def test_without_a_config_the_whole_commit_is_held() -> None:
    head = a_reading(a_workload("arena", 1), a_workload("colosseum", 2), config=None)
    compared = change.compare(a_reading(ARENA, LOBBY), head, "local")
    assert [(hold.kind, hold.key) for hold in compared.holds] == [(HoldKind.CONFIG, None)]
    assert compared.empty
    assert (compared.removals, compared.change_hash) == ((), "")


def test_nothing_is_told_as_deleted_while_a_file_cannot_be_read() -> None:
    head = a_reading(a_workload("arena", 1), unreadable=("schedulers/lobby.yaml",))
    compared = change.compare(a_reading(ARENA, LOBBY), head, "local")

    (updated,) = compared.workloads
    assert (updated.key, updated.effect) == (ARENA.key, "1 room removed")
    assert [removal.key for removal in compared.removals] == [ARENA.key]
    assert (HoldKind.UNREADABLE, LOBBY.key) in {(hold.kind, hold.key) for hold in compared.holds}
    # What there is to approve is what the loop asks about.
    assert set(compared.holds) == set(take_in(head, ARENA, LOBBY).holds)


def test_where_nothing_but_a_held_deletion_is_asked_for_there_is_no_hash_to_approve() -> None:
    head = a_reading(ARENA, unreadable=("schedulers/lobby.yaml",))
    compared = change.compare(a_reading(ARENA, LOBBY), head, "local")
    assert compared.empty
    assert (compared.removals, compared.change_hash, compared.refused) == ((), "", "")


def test_what_ci_says_is_what_the_loop_then_says() -> None:
    base, head = a_reading(ARENA, LOBBY), a_reading(a_workload("arena", 1))
    taken = take_in(head, ARENA, LOBBY)
    assert set(change.compare(base, head, "local").holds) == set(taken.holds)


def test_rooms_that_are_to_report_from_now_on_are_told_of() -> None:
    reports = replace(ARENA, reports="required", revision="1-newr", spec_json='{"reports": 1}')
    made = change.compare(a_reading(ARENA), a_reading(reports), "local")
    assert "within pingSeconds (240 s) of being drained is taken for empty" in (
        made.workloads[0].effect
    )
    back = change.compare(a_reading(reports), a_reading(ARENA), "local")
    assert "pingSeconds" not in back.workloads[0].effect


def test_rooms_that_are_to_report_no_more_lose_what_validate_says_that_they_lose() -> None:
    reports = replace(ARENA, reports="required", revision="1-newr", spec_json='{"reports": 1}')
    (back,) = change.compare(a_reading(reports), a_reading(ARENA), "local").workloads
    assert back.effect.endswith(lost_protection([ARENA]))
    assert "an eviction may take any room" in back.effect


def test_a_deletion_says_what_becomes_of_the_namespace() -> None:
    fleet = replace(LOBBY, key=WorkloadKey("Fleet", "servers", "lobby"))
    effects = {}
    for gone in (LOBBY, fleet):
        (deleted,) = change.compare(a_reading(ARENA, gone), a_reading(ARENA), "local").workloads
        assert deleted.verb is Verb.DELETE
        effects[gone.key.kind] = deleted.effect
    assert effects == {
        "Scheduler": "20 rooms removed, then its objects and namespace",
        "Fleet": "20 rooms removed, then its objects, and its namespace unless other fleets are in "
        "it",
    }


@pytest.mark.parametrize(
    ("changes", "effect"),
    [
        pytest.param({"replicas": 21}, "1 room created", id="one room more"),
        pytest.param({"replicas": 17}, "3 rooms removed", id="three rooms fewer"),
        pytest.param(
            {"revision": "1-next"},
            "every room replaced, at most 5 above and 0 below 20 at a time",
            id="a new image",
        ),
        pytest.param(
            {"suspend": True}, "suspended: nothing is written until it is resumed", id="suspended"
        ),
    ],
)
def test_an_update_says_what_it_does(changes: dict[str, object], effect: str) -> None:
    replicas = changes.pop("replicas", 20)
    assert isinstance(replicas, int)
    after = a_workload("lobby", replicas, **changes)
    (updated,) = change.compare(a_reading(LOBBY), a_reading(after), "local").workloads
    assert (updated.verb, updated.effect) == (Verb.UPDATE, effect)
    assert updated.fields


@pytest.mark.parametrize("reports", ["required", "none"])
def test_a_deadline_that_ends_rooms_with_players_is_told(reports: str) -> None:
    limited = Departure(drain_deadline_seconds=60)
    before = a_workload("arena", 2, departure=limited, reports=reports)
    after = replace(before, revision="1-next", spec_json='{"image": 2}')
    (update,) = change.compare(a_reading(before, LOBBY), a_reading(after, LOBBY), "local").workloads
    (delete,) = change.compare(a_reading(before, LOBBY), a_reading(LOBBY), "local").workloads
    fewer = replace(before, replicas=1, spec_json='{"replicas": 1}')
    (scaled,) = change.compare(a_reading(before, LOBBY), a_reading(fewer, LOBBY), "local").workloads
    told = "; a room with players goes 60 s after it is told to, whoever plays there"
    for effect in (update.effect, delete.effect, scaled.effect):
        assert (told in effect) is (reports == "required")


@pytest.mark.parametrize(
    ("was", "limit", "reports", "is_told"),
    [
        (None, 60, "required", True),
        (600, 60, "required", True),
        (60, 60, "required", False),
        (60, 600, "required", False),
        (60, None, "required", False),
        (None, 60, "none", False),
    ],
)
def test_a_deadline_that_comes_sooner_is_told_for_rooms_that_leave_already(
    was: float | None, limit: float | None, reports: str, is_told: bool
) -> None:
    there = Departure(drain_deadline_seconds=was)
    before = a_workload("arena", 2, departure=there, reports=reports)
    after = replace(
        before, departure=Departure(drain_deadline_seconds=limit), spec_json='{"limit": 1}'
    )
    (update,) = change.compare(a_reading(before), a_reading(after), "local").workloads
    told = "a room that leaves already goes 60 s after it was told to, whoever plays there"
    assert update.effect == (told if is_told else "no room is touched")


CUP = Window("cup", begin="2027-01-15", end="2027-01-15", time_zone="UTC", line=5)
"""NOW is in it."""


def written(*workloads: Workload) -> Reading:
    """A reading of documents that have a spec, and of the freeze."""
    documents = (
        replace(each, spec_json=canonical({"spec": {"replicas": each.replicas}}))
        for each in workloads
    )
    return replace(a_reading(*documents), config=Config(freeze=(CUP,)))


def in_a_freeze(head: Reading, now: float = NOW) -> Change:
    terms = change.Terms(now=now, zones=assets.TimeZones())
    return change.compare(written(ARENA, LOBBY), head, "local", terms)


def test_what_would_wait_in_a_freeze_is_told_with_its_end_and_its_hash() -> None:
    head = written(a_workload("arena", 4), a_workload("fresh", 1))
    compared = in_a_freeze(head)
    assert {hold.key.name: hold.kind for hold in compared.holds if hold.key} == dict.fromkeys(
        ["arena", "fresh", "lobby"], HoldKind.FROZEN
    )
    waits = (
        'frozen until 2027-01-16 00:00 UTC by "cup" (gamekeeper.yaml:5): what people changed waits'
    )
    too_much = "Scheduler/lobby would lose 20 of 20 rooms within 600 s; 3 may go without approval"
    assert {hold.key.name: hold.reason for hold in compared.holds if hold.key} == {
        "arena": f"{waits}, and acts then by itself",
        "fresh": f"{waits}, and acts then by itself",
        "lobby": f"{waits}; then it takes too much: {too_much}",
    }
    assert {hold.change_hash for hold in compared.holds} == {compared.change_hash}


def test_of_an_edit_that_waits_the_freeze_tells_what_takes_too_much() -> None:
    compared = in_a_freeze(written(ARENA, a_workload("lobby", 2)))
    frozen, over_budget = sorted(compared.holds)
    assert (frozen.kind, over_budget.kind) == (HoldKind.FROZEN, HoldKind.OVER_BUDGET)
    assert frozen.reason.endswith(f"then it takes too much: {over_budget.reason}")
    assert frozen.change_hash == over_budget.change_hash == compared.change_hash


def test_after_a_freeze_nothing_waits() -> None:
    compared = in_a_freeze(written(a_workload("arena", 4), LOBBY), NOW + 86_400)
    assert (compared.holds, compared.change_hash) == ((), "")
