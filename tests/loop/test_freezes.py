"""While a freeze is open what people change in Git waits, and nothing else does (ADR 26)."""

from dataclasses import replace

import pytest

from reconciler.cli.statuses import status_of
from reconciler.loop import head
from reconciler.model.holds import HoldKind
from reconciler.model.refs import WorkloadKey
from tests.loop.world import START, Process, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")
LOBBY = WorkloadKey("Scheduler", "lobby", "lobby")
SECOND = "registry.example/game:2"
HOUR = 3600.0
# START is 2027-01-15 08:00 UTC, a Friday.
WINDOW = """
    - {name: friday, schedule: "0 9 * * fri", timeZone: UTC, durationSeconds: 7200, reason: cup}
"""


def config(freeze: str = WINDOW, more: str = "") -> str:
    held = f"  freeze:{freeze}" if freeze else ""
    return f"apiVersion: gamekeeper.dev/v1\nkind: Config\nspec:\n{more}{held}" + (
        "" if held or more else "  {}\n"
    )


async def begun(arena: int, lobby: int) -> tuple[World, Process]:
    """Return a world with so many rooms of each, before its freeze begins."""
    world = World()
    files = {"schedulers/arena.yaml": spec("arena", arena)}
    files["schedulers/lobby.yaml"] = spec("lobby", lobby)
    world.commit({"gamekeeper.yaml": config(), **files})
    process = await world.process()
    await world.settle(process)
    return world, process


async def frozen(**files: str | None) -> tuple[World, Process]:
    """Return a world with arena and lobby, half an hour after its freeze began."""
    world = World()
    world.commit({"gamekeeper.yaml": config(), **BOTH, **files})
    process = await world.process()
    await world.settle(process)
    await at(world, process, HOUR + 1800)
    return world, process


BOTH = {"schedulers/arena.yaml": spec("arena", 3), "schedulers/lobby.yaml": spec("lobby", 3)}


async def at(world: World, process: Process, seconds: float) -> None:
    """Let the time be so long after the start; look on the way, as the loop does."""
    world.pass_time(START + seconds - world.time.now())
    await turns(world, process)


async def turns(world: World, process: Process, number: int = 6) -> None:
    for _ in range(number):
        await process.turn()
        world.pass_time(2.0)


def holds(process: Process) -> dict[str, HoldKind]:
    return {hold.key.name if hold.key else "": hold.kind for hold in process.lane.wanted.holds}


def shown(process: Process, world: World) -> dict[WorkloadKey | None, str]:
    """Return the hashes that `status` shows."""
    status = status_of(process.lane, (), None, world.time.now())
    return {hold.key: hold.change_hash for each in status.workloads for hold in each.holds}


def images(world: World, name: str) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in world.pods(name)}


@pytest.mark.long
async def test_what_people_change_waits_and_acts_by_itself_at_the_end() -> None:
    world, process = await frozen()
    world.commit(
        {
            "schedulers/arena.yaml": spec("arena", 5, SECOND),
            "schedulers/lobby.yaml": None,
            "schedulers/fresh.yaml": spec("fresh", 1),
        }
    )
    await turns(world, process)
    assert holds(process) == dict.fromkeys(["arena", "lobby", "fresh"], HoldKind.FROZEN)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (3, 3)
    assert images(world, "arena") == {"registry.example/game:1"}
    assert not world.pods("fresh")
    (reason,) = {hold.reason for hold in process.lane.wanted.holds}
    assert reason.startswith(
        'frozen until 2027-01-15 11:00 UTC by "friday" (gamekeeper.yaml:5: cup)'
    )
    await at(world, process, 3 * HOUR - 60)
    assert len(world.pods("arena")) == 3
    await at(world, process, 3 * HOUR)
    await turns(world, process, 30)
    assert not process.lane.wanted.holds
    assert (len(world.pods("arena")), len(world.pods("fresh"))) == (5, 1)
    assert images(world, "arena") == {SECOND}
    assert not world.pods("lobby")


async def test_what_was_taken_in_before_goes_on_and_rooms_are_healed() -> None:
    world, process = await frozen()
    world.commit({"schedulers/arena.yaml": spec("arena", 3, SECOND)})
    await turns(world, process)
    (gone, *_) = world.names("arena")
    world.delete(f"/api/v1/namespaces/arena/pods/{gone}")
    await turns(world, process, 12)
    names = world.names("arena")
    assert (len(names), gone in names) == (3, False)
    assert images(world, "arena") == {"registry.example/game:1"}


async def test_a_roll_out_that_began_before_goes_on() -> None:
    world = World()
    world.commit({"gamekeeper.yaml": config(), **BOTH})
    process = await world.process()
    await world.settle(process)
    world.pass_time(START + HOUR - 5 - world.time.now())
    world.commit({"schedulers/arena.yaml": spec("arena", 3, SECOND)})
    await turns(world, process, 40)
    assert world.time.now() > START + HOUR
    assert images(world, "arena") == {SECOND}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"gamekeeper.yaml": config("")}, id="takes it out"),
        pytest.param(
            {"gamekeeper.yaml": config(WINDOW.replace("7200", "2000"))}, id="makes it shorter"
        ),
        pytest.param(
            {"gamekeeper.yaml": config(WINDOW.replace("0 9", "0 7"))}, id="puts it elsewhere"
        ),
    ],
)
async def test_no_commit_lifts_the_freeze_it_stands_under(change: dict[str, str | None]) -> None:
    world, process = await frozen()
    world.commit(change)
    await turns(world, process)
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    await turns(world, process)
    process.head.judged_at = 0.0
    await turns(world, process)
    assert holds(process) == {"": HoldKind.FROZEN, "arena": HoldKind.FROZEN}
    fresh = await world.process()
    await turns(world, fresh)
    assert len(world.pods("arena")) == 3, "nor does a restart"
    await at(world, fresh, 3 * HOUR)
    assert not fresh.lane.wanted.holds
    assert len(world.pods("arena")) == 5


async def test_a_commit_that_brings_a_freeze_stands_under_it() -> None:
    world = World()
    world.commit({"gamekeeper.yaml": config(""), **BOTH})
    process = await world.process()
    await world.settle(process)
    await at(world, process, HOUR + 60)
    world.commit({"gamekeeper.yaml": config(), "schedulers/arena.yaml": spec("arena", 5)})
    await turns(world, process)
    assert holds(process) == {"": HoldKind.FROZEN, "arena": HoldKind.FROZEN}
    world.commit({"gamekeeper.yaml": config("")})
    await turns(world, process)
    assert holds(process) == {"arena": HoldKind.FROZEN}, "taking it out again lifts nothing"
    await at(world, process, 3 * HOUR)
    assert len(world.pods("arena")) == 5


async def test_what_waits_can_be_approved_and_the_rest_waits_on() -> None:
    world, process = await frozen()
    world.commit({"schedulers/arena.yaml": spec("arena", 5, SECOND), "schedulers/lobby.yaml": None})
    await turns(world, process)
    (change_hash,) = {hold.change_hash for hold in process.lane.wanted.holds}
    world.approve(change_hash)
    await turns(world, process, 40)
    assert not process.lane.wanted.holds
    assert (len(world.pods("arena")), images(world, "arena")) == (5, {SECOND})
    assert not world.pods("lobby")
    world.commit({"schedulers/arena.yaml": spec("arena", 6, SECOND)})
    await turns(world, process)
    assert holds(process) == {"arena": HoldKind.FROZEN}
    assert len(world.pods("arena")) == 5


@pytest.mark.parametrize("approved", ["arena", "lobby"])
async def test_what_waits_for_the_end_and_what_takes_too_much_have_hashes_of_their_own(
    approved: str,
) -> None:
    world, process = await begun(12, 3)
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    await turns(world, process)
    assert holds(process) == {"arena": HoldKind.OVER_BUDGET}
    await at(world, process, HOUR + 1800)
    world.commit({"schedulers/lobby.yaml": spec("lobby", 5)})
    await turns(world, process)
    hashes = {hold.key: hold.change_hash for hold in process.lane.wanted.holds}
    assert len({*hashes.values()}) == 2, "each its own"
    assert shown(process, world) == hashes, "status shows what the loop tells"
    world.approve(hashes[WorkloadKey("Scheduler", approved, approved)])
    await turns(world, process, 40)
    (left,) = process.lane.wanted.holds
    assert left.key != WorkloadKey("Scheduler", approved, approved)
    assert left.change_hash == hashes[left.key], "which is still what lets it through"
    counts = {"arena": (1, 3), "lobby": (12, 5)}[approved]
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == counts


async def test_one_approval_lets_a_frozen_scale_in_act_however_much_it_takes() -> None:
    world, process = await begun(12, 12)
    world.commit({"schedulers/lobby.yaml": None})
    await turns(world, process)
    assert holds(process) == {"lobby": HoldKind.OVER_BUDGET}
    await at(world, process, HOUR + 1800)
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    await turns(world, process)
    hashes = {hold.key: hold.change_hash for hold in process.lane.wanted.holds}
    assert holds(process) == {"arena": HoldKind.FROZEN, "lobby": HoldKind.OVER_BUDGET}
    assert shown(process, world) == hashes
    world.approve(hashes[ARENA])
    await turns(world, process, 40)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (2, 12)
    assert {hold.key: hold.change_hash for hold in process.lane.wanted.holds} == {
        LOBBY: hashes[LOBBY]
    }


async def test_what_review_printed_of_a_later_commit_is_offered_beside_a_frozen_scale_in() -> None:
    world, process = await frozen()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    await turns(world, process)
    record = process.lane.store.repository
    await turns(world, process, 200)
    assert process.lane.store.repository == record, "at rest nothing is offered and closed anew"
    (first,) = process.lane.wanted.holds
    world.commit({"schedulers/lobby.yaml": spec("lobby", 5)})
    await turns(world, process)
    offers = process.lane.store.repository.offers
    new = [offer for offer in offers if len(offer.asks) == 1 and not offer.end]
    assert [offer.lines[0].split()[2] for offer in new] == ["lobby/lobby"]
    world.approve(new[0].change_hash)
    await turns(world, process, 40)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (3, 5)
    assert process.lane.wanted.holds == (first,)


async def test_a_frozen_change_has_no_hash_that_lets_a_stray_go() -> None:
    world, process = await frozen()
    store = process.lane.store
    record = store.state(LOBBY)
    await store.change_state(LOBBY, lambda newest: replace(newest, deleting=True))
    await store.drop_state(LOBBY)
    world.commit({"schedulers/arena.yaml": spec("arena", 5), "schedulers/lobby.yaml": None})
    await turns(world, process)
    assert record.accepted is not None
    assert holds(process) == {"arena": HoldKind.FROZEN, "lobby": HoldKind.NO_ACCEPTED_COMMIT}
    hashes = {hold.key: hold.change_hash for hold in process.lane.wanted.holds}
    assert shown(process, world)[ARENA] == hashes[ARENA] != hashes[LOBBY]
    world.approve(shown(process, world)[ARENA])
    await turns(world, process, 40)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (5, 3)


async def test_an_approved_change_of_the_config_lifts_the_freeze() -> None:
    world, process = await frozen()
    world.commit({"gamekeeper.yaml": config("")})
    await turns(world, process)
    (hold,) = process.lane.wanted.holds
    world.approve(hold.change_hash)
    await turns(world, process)
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    await turns(world, process)
    assert not process.lane.wanted.holds
    assert len(world.pods("arena")) == 5


async def test_what_takes_too_much_is_refused_when_the_freeze_ends() -> None:
    world = World()
    world.commit({"gamekeeper.yaml": config(), "schedulers/arena.yaml": spec("arena", 12)})
    process = await world.process()
    await world.settle(process)
    await at(world, process, HOUR + 60)
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    await turns(world, process)
    assert holds(process) == {"arena": HoldKind.FROZEN}
    await at(world, process, 3 * HOUR)
    assert holds(process) == {"arena": HoldKind.OVER_BUDGET}
    assert len(world.pods("arena")) == 12


async def test_who_approves_what_a_freeze_holds_is_told_what_of_it_takes_too_much() -> None:
    """One hash stands for all of it, so no word beside it may say that all of it is usual."""
    world, process = await begun(3, 20)
    await at(world, process, HOUR + 1800)
    world.commit({"schedulers/arena.yaml": spec("arena", 3, SECOND), "schedulers/lobby.yaml": None})
    await turns(world, process)
    record = process.lane.store.repository
    told = {hold.key: hold.reason for hold in process.lane.wanted.holds}
    assert holds(process) == dict.fromkeys(["arena", "lobby"], HoldKind.FROZEN)
    assert told[ARENA].endswith("what people changed waits, and acts then by itself")
    assert told[LOBBY].endswith(
        "what people changed waits; then it takes too much: Scheduler/lobby would lose 20 of 20 "
        "rooms within 600 s; 3 may go without approval"
    )
    await turns(world, process, 200)
    assert process.lane.store.repository == record
    world.commit({"schedulers/lobby.yaml": spec("lobby", 2)})
    await turns(world, process)
    told = {hold.key: hold.reason for hold in process.lane.wanted.holds}
    assert "then it takes too much: Scheduler/lobby would lose 18 of 20 rooms" in told[LOBBY]
    await at(world, process, 3 * HOUR)
    await turns(world, process, 40)
    assert holds(process) == {"lobby": HoldKind.OVER_BUDGET}
    assert (images(world, "arena"), len(world.pods("lobby"))) == ({SECOND}, 20)


TIGHT = "  budgets: {total: {rooms: 1, percent: 1}}\n"


@pytest.mark.parametrize(
    ("files", "lost", "allowed"),
    [
        pytest.param({"schedulers/arena.yaml": spec("arena", 10)}, 4, 3, id="by all of it"),
        pytest.param({"gamekeeper.yaml": config(more=TIGHT)}, 2, 1, id="by budgets that wait, too"),
    ],
)
async def test_what_takes_too_much_together_is_told_so_in_a_freeze_as_it_is_held_at_its_end(
    files: dict[str, str | None], lost: int, allowed: int
) -> None:
    world, process = await begun(12, 2)
    await at(world, process, HOUR + 1800)
    world.commit({**files, "schedulers/lobby.yaml": None})
    await turns(world, process)
    together = (
        f"all workloads together would lose {lost} of 14 rooms within 600 s; {allowed} may go"
    )
    told = {hold.key: hold.reason for hold in process.lane.wanted.holds if hold.key}
    assert set(holds(process).values()) == {HoldKind.FROZEN}
    assert [f"then it takes too much: {together}" in each for each in told.values()] == [
        True for _ in told
    ]
    await at(world, process, 3 * HOUR)
    ends = {hold.key: hold.reason for hold in process.lane.wanted.holds}
    assert ends.keys() == told.keys()
    assert all(each.startswith(together) for each in ends.values())


async def test_what_leaves_the_paths_in_a_freeze_waits_for_a_person_as_review_said() -> None:
    paths = "  paths: [schedulers, lobbies]\n"
    lobby = {"schedulers/lobby.yaml": None, "lobbies/lobby.yaml": spec("lobby", 3)}
    world, process = await frozen(**{"gamekeeper.yaml": config(more=paths), **lobby})
    world.commit({"gamekeeper.yaml": config(more=paths.replace(", lobbies", ""))})
    await turns(world, process)
    assert holds(process) == {"": HoldKind.FROZEN, "lobby": HoldKind.PATHS_CHANGED}
    edit, lost = (hold.change_hash for hold in sorted(process.lane.wanted.holds))
    assert edit != lost, "who ends the freeze for the paths lets no room go"
    await at(world, process, 3 * HOUR)
    assert holds(process) == {"lobby": HoldKind.PATHS_CHANGED}
    assert len(world.pods("lobby")) == 3


async def test_the_only_workload_that_is_renamed_in_a_freeze_is_not_told_to_be_no_spec_at_all() -> (
    None
):
    world, process = await frozen(**{"schedulers/lobby.yaml": None})
    world.commit({"schedulers/arena.yaml": spec("duel", 3)})
    await turns(world, process)
    assert holds(process) == {"arena": HoldKind.FROZEN, "duel": HoldKind.FROZEN}
    await at(world, process, 3 * HOUR + 60)
    await world.settle(process)
    assert (holds(process), len(world.pods("duel"))) == ({}, 3)
    assert "arena" not in world.namespaces(), "at the end what waits acts by itself"


async def test_a_head_that_was_force_pushed_in_a_freeze_deletes_nothing_at_its_end() -> None:
    world, process = await frozen()
    world.host.rewrite({"gamekeeper.yaml": config(), "schedulers/arena.yaml": spec("arena", 3)})
    await turns(world, process)
    assert holds(process)["lobby"] is HoldKind.FORCE_PUSHED
    await at(world, process, 3 * HOUR)
    assert holds(process)["lobby"] is HoldKind.FORCE_PUSHED
    assert len(world.pods("lobby")) == 3


async def test_a_clock_that_jumps_for_a_moment_opens_and_ends_no_freeze() -> None:
    world, process = await frozen()
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    await turns(world, process)
    for jump in (2 * HOUR, 2 * HOUR, -2 * HOUR, 0.0):
        process.head.judged_at = 0.0
        await head.look(process.head, world.time.now() + jump)
        assert holds(process) == {"arena": HoldKind.FROZEN}
        world.pass_time(60.0)


async def test_a_clock_that_stays_where_it_was_set_is_believed_in_the_end_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world, process = await frozen()
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    await turns(world, process)
    for minute in range(7):
        await head.look(process.head, world.time.now() + 2 * HOUR)
        assert bool(holds(process)) == (minute < 5), minute
        world.pass_time(60.0)
    said = [each.getMessage() for each in caplog.records if "clock" in each.getMessage()]
    assert len(said) == 1
    assert said[0].startswith("the clock of this machine was set 7200 seconds forward: ")


async def test_a_suspension_ends_by_itself() -> None:
    until = {"reason": "the database moves", "until": "2027-01-15T09:00:00Z"}
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3), **PLAIN})
    process = await world.process()
    await world.settle(process)
    world.commit({"schedulers/arena.yaml": spec("arena", 5, suspend=until)})
    await turns(world, process)
    (hold,) = process.lane.wanted.holds
    assert hold.reason == (
        "suspended by schedulers/arena.yaml:18: the database moves, until 2027-01-15 09:00 UTC: "
        "nothing is written"
    )
    assert len(world.pods("arena")) == 3
    await at(world, process, HOUR)
    assert not process.lane.wanted.holds
    await turns(world, process, 10)
    assert len(world.pods("arena")) == 5


PLAIN = {"gamekeeper.yaml": config("")}
