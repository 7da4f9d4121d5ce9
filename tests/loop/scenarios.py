"""What happens to fleets in crash and fault tests: small, and every stage of a tick in them."""

import json
from collections.abc import Awaitable, Callable

from reconciler.model.refs import Json
from reconciler.sandbox.kinds import POD
from tests.loop.convergence import Event, Scenario
from tests.loop.safety import Bounds
from tests.loop.world import World, spec

SURGE = {"maxSurge": 1, "maxUnavailable": 0}
UNAVAILABLE = {"maxSurge": 0, "maxUnavailable": 1}
PORTS = {"start": 20000, "end": 20010}
SECOND = "registry.example/game:2"


def fleet(**files: str) -> Callable[[], Awaitable[World]]:
    """Return how a world is made in which these specs have become rooms."""

    async def prepare() -> World:
        world = World()
        world.commit({f"schedulers/{name}.yaml": text for name, text in files.items()})
        await world.settle(await world.process())
        return world

    return prepare


async def nothing() -> World:
    """Return a world in which nothing has happened yet."""
    return World()


async def refused() -> World:
    """Return a world in which a mass deletion waits for an approval."""
    world = await fleet(arena=spec("arena", 1), lobby=spec("lobby", 4))()
    world.commit({"schedulers/lobby.yaml": None})
    await world.settle(await world.process())
    return world


def _objects(**texts: str | None) -> dict[str, str | None]:
    """Return the templates of ConfigMaps by their names, each with a text."""
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {motd: %s}\n"
    return {
        f"objects/configmap-{name}.yaml.j2": text and head % (name, text)
        for name, text in texts.items()
    }


async def with_objects() -> World:
    """Return a world in which a fleet has two ConfigMaps beside its rooms."""
    world = World(kinds=("ConfigMap",))
    arena = spec("arena", 2, rollout=SURGE, objects="objects")
    world.commit({"schedulers/arena.yaml": arena, **_objects(old="a", kept="a")})
    await world.settle(await world.process())
    return world


def changes_objects(world: World) -> None:
    """Let one ConfigMap come, one change and one go, while the fleet gets a new image."""
    arena = spec("arena", 2, SECOND, rollout=SURGE, objects="objects")
    world.commit({"schedulers/arena.yaml": arena, **_objects(old=None, kept="b", new="a")})


def commits(**files: str | None) -> Event:
    """Commit specs; None removes one."""

    def commit(world: World) -> None:
        world.commit({f"schedulers/{name}.yaml": text for name, text in files.items()})

    return commit


def loses(*ordinals: int) -> Event:
    """Delete rooms by hand, by their place among the names."""

    def lose(world: World) -> None:
        names = world.names("arena")
        for place in ordinals:
            world.delete(f"/api/v1/namespaces/arena/pods/{names[place]}")

    return lose


def breaks(place: int) -> Event:
    """Let a room end by itself."""

    def edit(pod: Json) -> None:
        pod["status"] |= {"phase": "Failed", "conditions": []}

    def end(world: World) -> None:
        name = world.names("arena")[place]
        world.sandbox.world.change(POD, "arena", name, edit)

    return end


def approves(world: World) -> None:
    """Approve what is offered."""
    record = world.ask("/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main")
    world.approve(str(_offers(record)[-1][0]))


def _offers(record: Json) -> list[list[str]]:
    found: list[list[str]] = json.loads(record["data"]["record"])["offers"]
    return found


def server(name: str) -> str:
    """Return the text of a Fleet of one room in the namespace that such fleets share."""
    text = spec(name, 1).replace("kind: Scheduler", "kind: Fleet")
    return text.replace("spec:\n", "spec:\n  namespace: servers\n", 1)


SERVERS = {"lobby": spec("lobby", 1), "duel": server("duel"), "quake": server("quake")}
PAIR = {"arena": spec("arena", 2), "lobby": spec("lobby", 2)}

SCENARIOS = (
    Scenario("create a fleet", nothing, {0: commits(**PAIR)}, {"arena": Bounds(2)}),
    Scenario(
        "scale out",
        fleet(arena=spec("arena", 2)),
        {0: commits(arena=spec("arena", 4))},
        {"arena": Bounds(4, 2)},
    ),
    Scenario(
        "scale in",
        fleet(arena=spec("arena", 4)),
        {0: commits(arena=spec("arena", 2))},
        {"arena": Bounds(4, 2)},
    ),
    Scenario(
        "roll out within a surge",
        fleet(arena=spec("arena", 3, rollout=SURGE)),
        {0: commits(arena=spec("arena", 3, SECOND, rollout=SURGE))},
        {"arena": Bounds(4, 3)},
    ),
    Scenario(
        "roll out without a surge, and scale, over host ports",
        fleet(arena=spec("arena", 2, rollout=UNAVAILABLE, portRange=PORTS)),
        {0: commits(arena=spec("arena", 3, SECOND, rollout=UNAVAILABLE, portRange=PORTS))},
        {"arena": Bounds(3, 2)},
    ),
    Scenario(
        "prune a removed spec",
        fleet(**PAIR),
        {0: commits(arena=None)},
        {"arena": Bounds(2), "lobby": Bounds(2, 2)},
    ),
    Scenario(
        "objects come, change and go beside a roll-out",
        with_objects,
        {0: changes_objects},
        {"arena": Bounds(3, 2)},
    ),
    Scenario(
        "fleets that share a namespace leave it together",
        fleet(**SERVERS),
        {0: commits(duel=None, quake=None)},
        {"servers": Bounds(2), "lobby": Bounds(1, 1)},
    ),
    Scenario(
        "heal rooms deleted by hand and rooms that failed",
        fleet(arena=spec("arena", 4)),
        {0: loses(0), 1: breaks(0), 3: loses(0, 1)},
        {"arena": Bounds(4, 1)},
    ),
    Scenario(
        "approve a mass deletion",
        refused,
        {0: approves},
        {"arena": Bounds(1, 1), "lobby": Bounds(4)},
    ),
    Scenario(
        "a spec returns while it is deleted",
        fleet(**PAIR),
        {0: commits(arena=None), 1: commits(arena=spec("arena", 2))},
        {"arena": Bounds(2), "lobby": Bounds(2, 2)},
    ),
    Scenario(
        "a spec returns while its namespace goes",
        fleet(**PAIR),
        {0: commits(arena=None), 3: commits(arena=spec("arena", 2))},
        {"arena": Bounds(2), "lobby": Bounds(2, 2)},
    ),
    Scenario(
        "a mass deletion that nobody approves, beside a spec that is broken",
        fleet(arena=spec("arena", 2), lobby=spec("lobby", 4)),
        {0: commits(arena=spec("arena", 2).replace("replicas: 2", "replicas: many"), lobby=None)},
        {"arena": Bounds(2, 2), "lobby": Bounds(4, 4)},
    ),
    Scenario(
        "scale out, roll out and a change of mind",
        fleet(arena=spec("arena", 2, rollout=SURGE)),
        {
            0: commits(arena=spec("arena", 4, SECOND, rollout=SURGE)),
            1: commits(arena=spec("arena", 2, rollout=SURGE)),
        },
        {"arena": Bounds(5, 2)},
    ),
)
