from dataclasses import replace

import pytest

from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import status_of
from reconciler.core.births import digest_of
from reconciler.core.compile import canonical
from reconciler.core.offers import asks_of
from reconciler.model import labels
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Landing, Scaling, Step
from reconciler.model.outbox import Outbox
from reconciler.model.records import (
    Accepted,
    Condition,
    HeldRemoval,
    Notice,
    Offer,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark, Why
from reconciler.service.lookout import Sighting
from tests.loop.world import Process, World, spec
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key

FILE = "schedulers/arena.yaml"
KEY = a_key()
LINE = "local Scheduler arena/arena left-git to=0"
SPEC: Json = {
    "kind": "Scheduler",
    "metadata": {"name": "arena"},
    "spec": {
        "game": "arena",
        "replicas": 3,
        "reports": "none",
        "template": {"spec": {"containers": [{"name": "game", "image": "x"}]}},
    },
}


def accepted(**more: object) -> StateRecord:
    spec = canonical({**SPEC, "spec": {**SPEC["spec"], **more}})
    return StateRecord(Accepted(spec, 3, "c" * 40, "schedulers/arena.yaml", 4))


def stalled(kind: HoldKind) -> tuple[Condition, ...]:
    return (Condition("Stalled", True, kind, "because", 0.0),)


@pytest.mark.parametrize(
    ("record", "state", "holds"),
    [
        pytest.param(accepted(), "reconciling", [], id="on its way"),
        pytest.param(accepted(suspend=True), "suspended", ["suspended"], id="suspended"),
        pytest.param(replace(accepted(), deleting=True), "being removed", [], id="going"),
        pytest.param(
            replace(accepted(suspend=True), deleting=True),
            "being removed",
            [],
            id="going: what suspended it is gone with it",
        ),
        pytest.param(StateRecord(), "not in Git", [], id="never accepted"),
        pytest.param(
            replace(accepted(), conditions=stalled(HoldKind.FINDING)),
            "stalled",
            ["finding"],
            id="held by a mistake in its document",
        ),
        pytest.param(
            replace(
                accepted(),
                conditions=(
                    *stalled(HoldKind.FAILING),
                    Condition("NeedsIntervention", True, "needs-intervention", "3 failed", 0.0),
                ),
            ),
            "stalled",
            ["failing", "needs-intervention"],
            id="of two holds both are named",
        ),
        pytest.param(
            replace(
                accepted(),
                held=HeldRemoval(HoldKind.OVER_BUDGET, LINE, "too many"),
                conditions=stalled(HoldKind.OVER_BUDGET),
            ),
            "stalled",
            ["over-budget"],
            id="a refused removal is named once",
        ),
    ],
)
async def test_a_record_is_told_in_a_word(
    record: StateRecord, state: str, holds: list[str]
) -> None:
    process = Process(World())
    await process.start()
    await process.lane.store.change_state(KEY, lambda _: record)
    (arena,) = status_of(process.lane, [KEY], None, 0.0).workloads
    assert (arena.state, [hold.kind for hold in arena.holds]) == (state, holds)


async def test_of_a_suspension_the_line_is_told_that_the_loop_told() -> None:
    told = "suspended by schedulers/arena.yaml:18: nothing is written"
    process = Process(World())
    await process.start()
    await process.lane.store.change_state(KEY, lambda _: accepted(suspend=True))
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    (hold,) = arena.holds
    assert hold.reason == "suspended by the spec at schedulers/arena.yaml:4: nothing is written"
    conditions = (Condition("Stalled", True, HoldKind.SUSPENDED, told, 0.0),)
    await process.lane.store.change_state(KEY, lambda was: replace(was, conditions=conditions))
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    assert [hold.reason for hold in arena.holds] == [told]


async def test_of_a_workload_that_was_taken_in_once_the_record_is_lost() -> None:
    process = Process(World())
    await process.start()
    store = process.lane.store
    known = frozenset({digest_of("local", KEY)})
    await store.change_repository(lambda newest: replace(newest, known=known))
    (arena,) = status_of(process.lane, [KEY], None, 0.0).workloads
    assert arena.state == "its record is lost"
    screen = console()
    print_text(screen, status_of(process.lane, [KEY], None, 0.0), 0.0)
    assert text_of(screen.out).splitlines()[-1].split()[1:7] == ["?", "0", "0", "0", "?", "0"]


async def test_the_same_where_nobody_can_tell_any_more_what_was_taken_in() -> None:
    process = Process(World())
    await process.start()
    record = RepositoryRecord("url", "main", "c" * 40, known=None)
    await process.lane.store.change_repository(lambda _: record)
    (arena,) = status_of(process.lane, [KEY], None, 0.0).workloads
    assert arena.state == "its record is lost"


async def test_without_a_spec_on_record_nobody_knows_what_is_wanted_of_rooms() -> None:
    world = World()
    process = await world.process()
    world.commit({FILE: spec("arena", 2)})
    await world.settle(process)
    held = HeldRemoval(HoldKind.NO_ACCEPTED_COMMIT, LINE, "no record says why it lives")
    await process.lane.store.change_state(KEY, lambda _: StateRecord(held=held))
    (arena,) = status_of(process.lane, [KEY], None, 0.0).workloads
    assert (arena.state, arena.is_unknown) == ("held", True)
    screen = console()
    print_text(screen, status_of(process.lane, [KEY], None, 0.0), 0.0)
    row = next(line for line in text_of(screen.out).splitlines() if line.startswith("Scheduler"))
    assert row.split()[1:6] == ["?", "2", "0", "0", "?"]


async def test_where_what_was_accepted_cannot_be_read_git_is_not_blamed() -> None:
    process = Process(World())
    await process.start()
    seen = Sighting("one", 0.0, 15.0, 0.0, 1.0, "ConfigMap gamekeeper-main is no record")
    status = replace(status_of(process.lane, (), seen, 5.0), unreadable="it is no record")
    screen = console()
    print_text(screen, status, 5.0)
    told = text_of(screen.out)
    assert "No look at Git ends well" in told
    assert "Git cannot be read" not in told
    assert "rooms are healed" not in told


async def test_all_that_waits_for_the_end_of_a_freeze_shows_one_hash() -> None:
    process = Process(World())
    await process.start()
    held = HeldRemoval(HoldKind.FROZEN, LINE, "frozen until then")
    await process.lane.store.change_state(KEY, lambda _: replace(accepted(), held=held))
    offers = (
        Offer("a" * 12, (), "c1", asks_of({LINE: ""})),
        Offer("b" * 12, (), "c2", asks_of({LINE: "", "another": ""})),
    )
    record = RepositoryRecord("url", "main", "c" * 40, offers=offers, frozen_hash="b" * 12)
    await process.lane.store.change_repository(lambda _: record)
    (arena,) = status_of(process.lane, [KEY], None, 0.0).workloads
    assert [hold.change_hash for hold in arena.holds] == ["b" * 12]


async def test_rooms_with_players_above_a_schedulers_count_are_told_to_stay() -> None:
    world = World()
    process = await world.process()
    world.commit({FILE: spec("arena", 3, reports="required")})
    await process.turn()
    world.pass_time(30.0)
    await process.turn()
    for name in world.names("arena"):
        busy = {"metadata": {"labels": {labels.STATE: Mark.BUSY.value}}}
        world.patch(f"/api/v1/namespaces/arena/pods/{name}", busy)
    world.commit({FILE: spec("arena", 2, reports="required")})
    await process.turn()
    await process.view.read()
    (arena,) = status_of(process.lane, [KEY], None, 0.0).workloads
    assert (arena.counts.desired, arena.counts.busy, arena.counts.leaving) == (2, 3, 0)
    assert arena.rooms.staying == {Why.SCALE_IN: 1}


async def test_of_one_that_came_back_suspended_nobody_is_told_to_leave_git() -> None:
    world = World()
    process = await world.process()
    world.commit({FILE: spec("arena", 1, reports="required")})
    await process.turn()
    world.commit({FILE: spec("arena", 1, reports="required", suspend=True)})
    await process.turn()
    notes = {labels.LEAVING: Why.LEFT_GIT.value}
    marks = {"labels": {labels.STATE: Mark.BUSY.value}, "annotations": notes}
    world.patch("/api/v1/namespaces/arena/pods/arena-0", {"metadata": marks})
    await process.turn()
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    assert (arena.counts.leaving, arena.state, arena.rooms.stay_lines) == (1, "suspended", [])


async def test_an_unsigned_head_is_told_with_its_hash_and_who_signed_what_acts() -> None:
    process = Process(World())
    await process.start()
    store = process.lane.store
    notices = (Notice(HoldKind.UNSIGNED, "", "commit x is not signed", "0123456789ab"),)
    record = RepositoryRecord(
        "url", "main", "c" * 40, notices=notices, verified="signed by anna (SHA256:x)"
    )
    await store.change_repository(lambda _: record)
    await store.load()
    status = status_of(process.lane, (), None, 0.0)
    out = console()
    print_text(out, status, 0.0)
    told = text_of(out.out)
    assert "\n    which is signed by anna (SHA256:x)\n" in told
    assert "held: commit x is not signed (unsigned)\n" in told
    assert "    none of it acts until: gamekeeper approve 0123456789ab\n" in told
    as_told = as_json(status, 0.0)
    assert as_told["verified"] == "signed by anna (SHA256:x)"
    assert [hold["changeHash"] for hold in as_told["holds"]] == ["0123456789ab"]


async def test_a_freeze_is_shown_while_it_is_open_with_what_lets_its_changes_through() -> None:
    process = Process(World())
    await process.start()
    store = process.lane.store
    notices = (Notice(HoldKind.FROZEN, "Scheduler/fresh", "frozen until then", "0123456789ab"),)
    freezes = (Freeze(7200.0, 0.0, "cup", "the final", "gamekeeper.yaml:5"),)
    record = RepositoryRecord("url", "main", "c" * 40, notices=notices, freezes=freezes)
    await store.change_repository(lambda _: record)
    await store.load()
    status = status_of(process.lane, (), None, 60.0)
    out = console()
    print_text(out, status, 60.0)
    told = text_of(out.out)
    said = 'frozen until 1970-01-01 02:00 UTC by "cup" (gamekeeper.yaml:5: the final): what people'
    assert f"\n{said} change in Git waits\n" in told
    assert "held: Scheduler/fresh: frozen until then (frozen)\n" in told
    assert "    to let it act before then: gamekeeper approve 0123456789ab\n" in told
    (shown,) = as_json(status, 60.0)["freezes"]
    assert (shown["name"], shown["until"]) == ("cup", "1970-01-01T02:00:00Z")
    later = console()
    print_text(later, status, 7200.0)
    assert "the final" not in text_of(later.out)


@pytest.mark.parametrize("ahead", [-3600.0, 3600.0])
async def test_all_that_a_wrong_clock_decided_is_told_by_that_of_the_api_server(
    ahead: float,
) -> None:
    """Half of it was: a count waited for its commit an hour too long, or for an hour already."""
    now, ours = 1_000_000.0, "ab" * 20
    told, step = Step(now + ahead - 40, 5, 6, "p", "r"), Step(now + ahead - 20, 6, 8, "p", "r")
    paused = Condition("ScalingHeld", True, "DemandDoubted", "not heard", now + ahead - 90)
    scaling = Scaling(
        intent=Intent(5, 8, (told, step), told.at),
        landings=(Landing(ours, 6, told.at),),
        held_until=now + 120,
        held_by=ours,
        last=step,
    )
    record = replace(accepted(), scaling=scaling, conditions=(paused,))
    process = Process(World())
    await process.start()
    await process.lane.store.change_state(KEY, lambda _: record)
    outbox = Outbox(ours, now - 30, pushes=1)
    seen = Sighting("a", now - 2, 15.0, now - 2, 0.0, "", outbox, ahead_seconds=ahead)
    screen = console()
    print_text(screen, status_of(process.lane, [], seen, now), now)
    said = text_of(screen.out)
    assert "1 count is on the way into Git, the oldest for 20 s" in said
    assert "last commit of ours abababababab, 30 s ago" in said
    assert "by p 20 s ago: to be committed in 40 s, with" in said
    assert "since 1970-01-12T13:45:10Z (90 s)" in said
    assert "(2 min)" in said
