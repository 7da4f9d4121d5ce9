"""One folder of a repository is read (`--path`): what vanishes with it is not what was removed."""

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.model.errors import Unavailable
from reconciler.model.holds import HoldKind
from tests.loop.world import CONFIG, Process, World, spec

CONFIG_FILE = "envs/eu/gamekeeper.yaml"
ARENA, LOBBY = "envs/eu/schedulers/arena.yaml", "envs/eu/schedulers/lobby.yaml"
OTHER = "envs/us/schedulers/west.yaml"


async def two_environments() -> tuple[World, Process]:
    """Return a world of which the folder envs/eu is read, and settled."""
    world = World(path="envs/eu")
    eu = {CONFIG_FILE: CONFIG, ARENA: spec("arena", 2), LOBBY: spec("lobby", 1)}
    world.commit({**eu, "envs/us/gamekeeper.yaml": CONFIG, OTHER: spec("west", 2)})
    process = await world.process()
    await world.settle(process)
    return world, process


async def turns(world: World, process: Process, number: int = 6) -> None:
    for _ in range(number):
        await process.turn()
        world.pass_time(2.0)


def holds(process: Process) -> set[HoldKind]:
    return {hold.kind for hold in process.lane.wanted.holds}


async def test_the_folder_makes_rooms_and_what_stands_beside_it_none() -> None:
    world, process = await two_environments()
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (2, 1)
    assert not world.pods("west")
    world.commit({OTHER: "}{", "schedulers/top.yaml": spec("top", 3)})
    world.commit({LOBBY: None})
    await turns(world, process)
    assert not holds(process)
    assert (len(world.pods("arena")), world.pods("lobby"), world.pods("top")) == (2, [], [])


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param({}, 'there is no folder "envs/eu"', id="it is gone"),
        pytest.param({"envs/eu": "prod\n"}, "a file stands", id="a file stands there"),
        pytest.param(
            {
                "envs/eu2/gamekeeper.yaml": CONFIG,
                "envs/eu2/schedulers/arena.yaml": spec("arena", 2),
            },
            'there is no folder "envs/eu"',
            id="it was renamed",
        ),
        pytest.param({"envs/eu/x.yaml": ""}, "there is no gamekeeper.yaml", id="it is emptied"),
    ],
)
async def test_a_folder_that_vanished_holds_all_that_was_in_it(
    files: dict[str, str], told: str
) -> None:
    world, process = await two_environments()
    gone: dict[str, str | None] = dict.fromkeys((CONFIG_FILE, ARENA, LOBBY))
    world.commit({**gone, **files})
    before = sorted(world.names("arena") + world.names("lobby"))
    await turns(world, process)
    assert sorted(world.names("arena") + world.names("lobby")) == before
    assert holds(process) == {HoldKind.CONFIG}
    assert told in process.lane.wanted.holds[0].reason
    world.commit({**dict.fromkeys(files), CONFIG_FILE: CONFIG, ARENA: spec("arena", 3)})
    await turns(world, process)
    assert len(world.pods("arena")) == 3
    assert not world.pods("lobby"), "its file left a folder that is there again"


async def test_a_folder_that_cannot_be_read_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, process = await two_environments()
    world.commit({ARENA: None})

    async def damaged(self: MemoryRepository, revision: str) -> None:
        raise Unavailable("the mirror is damaged and could not be made anew")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryRepository, "tree", damaged)
        await turns(world, process)
        assert len(world.pods("arena")) == 2
    await turns(world, process)
    assert not world.pods("arena")


async def test_another_path_deletes_nothing_before_it_is_approved() -> None:
    world, _ = await two_environments()
    world.path = "envs/us"
    process = await world.process()
    await turns(world, process)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (2, 1)
    assert len(world.pods("west")) == 2, "what is new acts"
    (change_hash,) = {hold.change_hash for hold in process.lane.wanted.holds}
    assert holds(process) == {HoldKind.REPOSITORY_CHANGED}
    world.approve(change_hash)
    await turns(world, process, 10)
    assert (world.pods("arena"), world.pods("lobby")) == ([], [])


async def test_a_record_of_the_top_holds_a_path_that_is_new() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2), "eu/gamekeeper.yaml": CONFIG})
    await world.settle(await world.process())
    world.path = "eu"
    process = await world.process()
    await turns(world, process)
    assert len(world.pods("arena")) == 2
    assert holds(process) == {HoldKind.REPOSITORY_CHANGED}


async def test_a_path_that_was_given_up_is_new_when_it_comes_again() -> None:
    world = World(path="eu")
    top = {"gamekeeper.yaml": CONFIG, "schedulers/lobby.yaml": spec("lobby", 2)}
    eu = {"eu/gamekeeper.yaml": CONFIG, "eu/schedulers/arena.yaml": spec("arena", 2)}
    world.commit({**top, **eu})
    await turns(world, await world.process())
    world.path = ""
    process = await world.process()
    await turns(world, process)
    (change_hash,) = {hold.change_hash for hold in process.lane.wanted.holds}
    world.approve(change_hash)
    await turns(world, process, 10)
    assert (len(world.pods("arena")), len(world.pods("lobby"))) == (0, 2)
    world.path = "eu"
    process = await world.process()
    await turns(world, process, 10)
    assert len(world.pods("lobby")) == 2
    assert holds(process) == {HoldKind.REPOSITORY_CHANGED}
