"""What we made and no watch tells of, for an event was lost: its record goes last."""

import pytest

from tests.loop.test_shared_namespace import BOTH, budgets, records, settled
from tests.loop.world import Process, World, spec

SCHEDULER, FLEET = (
    "gamekeeper-main-local-scheduler-arena.arena",
    "gamekeeper-main-local-fleet-servers.duel",
)
ARENA = {"schedulers/arena.yaml": spec("arena", 1)}
DUEL = {"schedulers/duel.yaml": BOTH["schedulers/duel.yaml"]}
NAMESPACES = "/api/v1/namespaces/"
UNSEEN = [
    pytest.param(ARENA, SCHEDULER, "Namespace", f"{NAMESPACES}arena", id="a namespace"),
    pytest.param(DUEL, FLEET, "Namespace", f"{NAMESPACES}servers", id="a shared one, by the last"),
    pytest.param(
        BOTH,
        FLEET,
        "PodDisruptionBudget",
        "/apis/policy/v1/namespaces/servers/poddisruptionbudgets/duel",
        id="a budget in a namespace that stays",
    ),
]


async def left(world: World, process: Process) -> list[str]:
    """Let a workload leave Git; return what failed meanwhile."""
    failures = []
    for _ in range(30):
        report = await process.turn()
        failures += [item.failure for item in report.settled if item.failure]
        world.pass_time(2.0)
    return failures


@pytest.mark.parametrize(("files", "record", "kind", "path"), UNSEEN)
async def test_the_record_stays_until_what_was_not_seen_is_gone(
    files: dict[str, str], record: str, kind: str, path: str
) -> None:
    world, process = await settled(files)
    lost, read, name = world.ask(path), process.view.read, "read"

    async def read_all_but_one() -> None:
        await read()
        process.view._objects[kind].drop(lost)

    setattr(process.view, name, read_all_but_one)
    world.commit({min(files): None})
    failures = await left(world, process)
    assert record in records(world)
    assert world.ask(path)["metadata"]["uid"] == lost["metadata"]["uid"]
    assert "is there, and no watch told of it: decided anew" in failures[-1]

    setattr(process.view, name, read)
    assert await left(world, process) == []
    assert record not in records(world)
    assert budgets(world) == ({"quake"} if files is BOTH else set())
    assert world.namespaces() & {"arena", "servers"} == ({"servers"} if files is BOTH else set())
