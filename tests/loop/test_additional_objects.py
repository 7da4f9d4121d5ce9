"""Additional objects from Git to the cluster, and away again: no room goes for them."""

from typing import Any, cast

import pytest

from reconciler.core.ending import LATE_SECONDS
from reconciler.model import labels
from reconciler.model.errors import Denied
from reconciler.model.holds import HoldKind
from reconciler.model.refs import Json, WorkloadKey
from tests.loop.convergence import (
    Ports,
    Scenario,
    Stage,
    State,
    compare,
    copy_of,
    play,
    reference_of,
)
from tests.loop.safety import Bounds
from tests.loop.test_shared_namespace import fleet
from tests.loop.world import CONFIG, Process, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")
SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ workload.name ~ "-settings" }}
  labels: {team: blue}
data:
  motd: welcome
"""
FILE = "objects/arena/configmap.yaml.j2"
OTHER = "objects/arena/configmap-maps.yaml.j2"
MAPS = SETTINGS.replace("-settings", "-maps")
ASKING = spec("arena", 3, objects="objects/arena")
LOBBY = {"gamekeeper.yaml": CONFIG, "schedulers/lobby.yaml": spec("lobby", 1)}
PATH = "/api/v1/namespaces/arena/configmaps"


async def standing(**files: str) -> tuple[World, Process]:
    world = World(kinds=("ConfigMap",))
    world.commit({**LOBBY, "schedulers/arena.yaml": ASKING, FILE: SETTINGS, **files})
    process = await world.process()
    await world.settle(process)
    return world, process


def maps(world: World, namespace: str = "arena") -> dict[str, Json]:
    """The ConfigMaps that are neither records nor Kubernetes' own."""
    items = world.objects(f"/api/v1/namespaces/{namespace}/configmaps")
    return {
        item["metadata"]["name"]: item
        for item in items
        if labels.RECORD not in (item["metadata"].get("labels") or {})
        and item["metadata"]["name"] != "kube-root-ca.crt"
    }


def held(process: Process, kind: HoldKind) -> list[str]:
    return [hold.reason for hold in process.lane.wanted.holds if hold.kind is kind]


async def test_an_object_stands_beside_the_rooms_with_our_labels_over_its_own() -> None:
    world, process = await standing()
    (settings,) = maps(world).values()
    assert settings["data"] == {"motd": "welcome"}
    marks = settings["metadata"]["labels"]
    assert marks["team"] == "blue"
    assert marks[labels.INSTANCE] == "main"
    assert marks[labels.WORKLOAD] == "arena"
    for _ in range(3):
        assert not (await process.turn()).changed


async def test_a_changed_object_is_applied_and_replaces_no_room() -> None:
    world, process = await standing()
    before = world.names("arena")
    world.commit({FILE: SETTINGS.replace("welcome", "farewell")})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "farewell"}
    assert world.names("arena") == before


async def test_what_an_object_names_no_more_is_taken_out_of_it() -> None:
    world, process = await standing(**{FILE: SETTINGS + "  rules: none\n  more: x\n"})
    world.patch(f"{PATH}/arena-settings", {"data": {"mine": "stays"}})
    world.commit({FILE: SETTINGS.replace("labels: {team: blue}", "labels: {}")})
    await world.settle(process)
    (settings,) = maps(world).values()
    assert settings["data"] == {"motd": "welcome", "mine": "stays"}
    assert "team" not in settings["metadata"]["labels"]
    for _ in range(3):
        assert not (await process.turn()).changed


class Refusing:
    """A cluster that refuses every ConfigMap that is applied."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        if body["kind"] == "ConfigMap":
            raise Denied("apply ConfigMap: no (403)")
        return dict(await self._cluster.apply(body, dry_run=dry_run, force=force))


async def test_a_change_that_is_refused_stops_no_healing() -> None:
    world, process = await standing()
    process.lane.cluster = cast("Any", Refusing(process.lane.cluster))
    world.commit({FILE: SETTINGS.replace("welcome", "farewell")})
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    for _ in range(4):
        report = await process.turn()
        world.pass_time(2.0)
    assert world.names("arena") == ["arena-1", "arena-2", "arena-3"]
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome"}
    (item,) = [each for each in report.settled if each.plan.key == ARENA]
    assert [one.error for one in item.outcomes if one.error] == [
        "apply ConfigMap arena/arena-settings: apply ConfigMap: no (403)"
    ]


async def test_no_room_is_made_before_what_it_needs() -> None:
    world = World(kinds=("ConfigMap",))
    process = await world.process()
    process.lane.cluster = cast("Any", Refusing(process.lane.cluster))
    world.commit({**LOBBY, "schedulers/arena.yaml": ASKING, FILE: SETTINGS})
    for _ in range(4):
        await process.turn()
        world.pass_time(2.0)
    assert world.names("arena") == []
    assert len(world.names("lobby")) == 1


async def test_what_people_change_of_it_is_set_back() -> None:
    world, process = await standing()
    world.patch(f"{PATH}/arena-settings", {"data": {"motd": "mine"}})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome"}


async def test_one_that_leaves_git_is_deleted_and_the_other_stays() -> None:
    world, process = await standing(**{OTHER: MAPS})
    assert maps(world).keys() == {"arena-settings", "arena-maps"}
    rooms = world.names("arena")
    world.commit({OTHER: None})
    await world.settle(process)
    assert maps(world).keys() == {"arena-settings"}
    assert world.names("arena") == rooms


async def test_it_stays_while_a_room_of_the_revision_that_used_it_lives() -> None:
    world, process = await standing(**{OTHER: MAPS})
    changed = spec("arena", 3, image="registry.example/game:2", objects="objects/arena")
    world.commit({OTHER: None, "schedulers/arena.yaml": changed})
    seen = []
    for _ in range(20):
        await process.turn()
        images = {pod["spec"]["containers"][0]["image"] for pod in world.pods("arena")}
        seen.append(("registry.example/game:1" in images, "arena-maps" in maps(world)))
        world.pass_time(2.0)
    assert (True, True) in seen
    assert (True, False) not in seen
    assert seen[-1] == (False, False)


async def test_a_directory_that_vanished_deletes_nothing() -> None:
    world, process = await standing()
    world.commit({FILE: None})
    for _ in range(5):
        await process.turn()
        world.pass_time(2.0)
    assert maps(world).keys() == {"arena-settings"}
    (reason,) = held(process, HoldKind.FINDING)
    assert 'there is no template in "objects/arena"' in reason
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    await world.settle(process)
    assert not maps(world)


async def test_a_broken_template_holds_its_workload_at_what_was_accepted() -> None:
    world, process = await standing()
    broken = SETTINGS.replace("kind: ConfigMap", "kind: Secret")
    grown = spec("arena", 5, objects="objects/arena")
    lobby = spec("lobby", 2)
    world.commit({FILE: broken, "schedulers/arena.yaml": grown, "schedulers/lobby.yaml": lobby})
    await world.settle(process)
    assert len(world.names("arena")) == 3
    assert len(world.names("lobby")) == 2
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome"}
    (reason,) = held(process, HoldKind.FINDING)
    assert reason.startswith(f"{FILE}:0: a Secret does not belong in Git") or FILE in reason


async def test_they_go_with_their_workload_after_its_rooms() -> None:
    world, process = await standing()
    world.commit({"schedulers/arena.yaml": None})
    for _ in range(30):
        await process.turn()
        if world.namespaces() & {"arena"} and world.pods("arena"):
            assert maps(world), "a room is still there"
        world.pass_time(2.0)
    assert "arena" not in world.namespaces()


async def test_a_restart_without_git_knows_them() -> None:
    world, _ = await standing()
    world.delete(f"{PATH}/arena-settings")
    world.host.down()
    process = await world.process()
    await world.settle(process)
    assert maps(world).keys() == {"arena-settings"}


async def test_somebody_elses_object_of_that_name_is_left_alone() -> None:
    world = World(kinds=("ConfigMap",))
    world.commit({**LOBBY, "schedulers/arena.yaml": spec("arena", 3), FILE: SETTINGS})
    process = await world.process()
    await world.settle(process)
    theirs: Json = {"metadata": {"name": "arena-settings"}, "data": {"motd": "theirs"}}
    world.create(PATH, {"apiVersion": "v1", "kind": "ConfigMap", **theirs})
    world.commit({"schedulers/arena.yaml": ASKING})
    report: Any = None
    for _ in range(3):
        report = await process.turn()
        world.pass_time(2.0)
    assert maps(world)["arena-settings"]["data"] == {"motd": "theirs"}
    (item,) = [each for each in report.settled if each.plan.key == ARENA]
    assert "ConfigMap arena/arena-settings exists and is not ours" in item.holds[0].reason
    assert len(world.names("arena")) == 3


async def test_an_object_passes_from_one_fleet_to_another_only_when_it_was_let_go() -> None:
    shared = SETTINGS.replace('{{ workload.name ~ "-settings" }}', "shared")
    file, quake = "objects/duel/configmap.yaml.j2", "objects/quake/configmap.yaml.j2"
    asking = {
        name: fleet(name).replace("  reports:", f"  objects: objects/{name}\n  reports:")
        for name in ("duel", "quake")
    }
    world = World(kinds=("ConfigMap",))
    plain = {"schedulers/quake.yaml": fleet("quake"), "schedulers/duel.yaml": asking["duel"]}
    world.commit({**LOBBY, **plain, file: shared})
    process = await world.process()
    await world.settle(process)
    both: dict[str, str | None] = {"schedulers/quake.yaml": asking["quake"], quake: shared}
    world.commit(both)
    await process.turn()
    assert len(held(process, HoldKind.FINDING)) == 2
    assert maps(world, "servers")["shared"]["metadata"]["labels"][labels.WORKLOAD] == "duel"

    world.commit({"schedulers/duel.yaml": fleet("duel"), file: None})
    for _ in range(4):
        await process.turn()
        world.pass_time(2.0)
    assert maps(world, "servers")["shared"]["metadata"]["labels"][labels.WORKLOAD] == "quake"
    assert world.names("servers") == ["duel-0", "quake-0"]


async def test_a_kind_that_is_allowed_no_more_is_left_as_it_is_and_holds_the_end() -> None:
    world, _ = await standing()
    world.kinds = ()
    process = await world.process()
    await world.settle(process)
    assert maps(world).keys() == {"arena-settings"}
    (reason,) = held(process, HoldKind.FINDING)
    assert "does not let this repository make a ConfigMap" in reason

    world.commit({"schedulers/arena.yaml": None})
    report: Any = None
    for _ in range(12):
        report = await process.turn()
        world.pass_time(2.0)
    assert not world.pods("arena")
    assert maps(world).keys() == {"arena-settings"}
    (item,) = [each for each in report.settled if each.plan.key == ARENA]
    assert any("--allow-kinds" in hold.reason for hold in item.plan.holds)

    world.kinds = ("ConfigMap",)
    again = await world.process()
    world.pass_time(LATE_SECONDS)
    for _ in range(12):
        await again.turn()
        world.pass_time(2.0)
    assert "arena" not in world.namespaces()


GAME = "registry.example/game:1"


def asking(image: str = GAME, **names: str) -> dict[str, str | None]:
    """Return the files of fleets that each ask for the ConfigMap of a name, "" for none."""
    files: dict[str, str | None] = {}
    for fleet_name, name in names.items():
        spec_text = fleet(fleet_name).replace(GAME, image)
        if name:
            line = f"  objects: objects/{fleet_name}\n  reports:"
            spec_text = spec_text.replace("  reports:", line)
        body = SETTINGS.replace('{{ workload.name ~ "-settings" }}', name)
        text = body.replace("welcome", f"{fleet_name}s") if name else None
        files[f"objects/{fleet_name}/configmap.yaml.j2"] = text
        files[f"schedulers/{fleet_name}.yaml"] = spec_text
    return files


class Swap:
    """Two fleets in one namespace, each with a ConfigMap of its own, which they exchange."""

    def __init__(self) -> None:
        self.world = World(kinds=("ConfigMap",))
        self.give(duel="maps", quake="rules")

    def give(self, image: str = GAME, **names: str) -> None:
        """Commit that each fleet asks for the ConfigMap of a name, "" for none."""
        self.world.commit({**LOBBY, **asking(image, **names)})

    def owners(self) -> dict[str, tuple[str, str]]:
        """Whose each ConfigMap is by its label, and by its content."""
        return {
            name: (item["metadata"]["labels"][labels.WORKLOAD], item["data"]["motd"])
            for name, item in maps(self.world, "servers").items()
        }

    async def pass_turns(self, process: Process, turns: int = 6) -> None:
        for _ in range(turns):
            await process.turn()
            self.world.pass_time(2.0)


@pytest.mark.parametrize("image", [GAME, "registry.example/game:2"])
async def test_fleets_that_swap_their_objects_do_not_wait_for_each_other(image: str) -> None:
    swap = Swap()
    process = await swap.world.process()
    await swap.world.settle(process)
    uids = {name: item["metadata"]["uid"] for name, item in maps(swap.world, "servers").items()}
    assert swap.owners() == {"maps": ("duel", "duels"), "rules": ("quake", "quakes")}

    swap.give(image, duel="rules", quake="maps")
    swap.world.delete("/api/v1/namespaces/servers/pods/duel-0")
    await swap.pass_turns(process, 12)

    assert swap.owners() == {"rules": ("duel", "duels"), "maps": ("quake", "quakes")}
    assert [pod["spec"]["containers"][0]["image"] for pod in swap.world.pods("servers")] == [
        image
    ] * 2
    after = {name: item["metadata"]["uid"] for name, item in maps(swap.world, "servers").items()}
    assert after == uids, "none was gone in between"
    await swap.world.settle(process)
    swap.give(image, duel="", quake="maps")
    await swap.pass_turns(process)
    assert swap.owners() == {"maps": ("quake", "quakes")}


class Touching:
    """A cluster in which somebody writes to a ConfigMap right before it is taken over."""

    def __init__(self, world: World, cluster: Any) -> None:
        self._world, self._cluster, self.left = world, cluster, 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        if self.left and "resourceVersion" in body["metadata"]:
            self.left -= 1
            path = f"/api/v1/namespaces/servers/configmaps/{body['metadata']['name']}"
            self._world.patch(path, {"data": {"touched": "yes"}})
        return dict(await self._cluster.apply(body, dry_run=dry_run, force=force))


async def test_an_object_is_taken_over_exactly_as_it_was_seen() -> None:
    swap = Swap()
    process = await swap.world.process()
    await swap.world.settle(process)
    process.lane.cluster = cast("Any", Touching(swap.world, process.lane.cluster))
    swap.give(duel="rules", quake="maps")
    report = await process.turn()
    (error,) = [one.error for item in report.settled for one in item.outcomes if one.error]
    assert "has been modified" in error
    assert "duel" not in [owner for owner, _ in swap.owners().values()]
    await swap.pass_turns(process)
    assert swap.owners() == {"rules": ("duel", "duels"), "maps": ("quake", "quakes")}


async def test_what_a_suspended_owner_has_is_not_taken() -> None:
    swap = Swap()
    process = await swap.world.process()
    await swap.world.settle(process)
    text = fleet("duel").replace("  reports:", "  suspend: true\n  reports:")
    swap.give(duel="", quake="maps")
    swap.world.commit({"schedulers/duel.yaml": text})
    await swap.pass_turns(process)
    assert swap.owners()["maps"] == ("duel", "duels")
    swap.world.commit({"schedulers/duel.yaml": fleet("duel")})
    await swap.pass_turns(process)
    assert swap.owners() == {"maps": ("quake", "quakes")}


async def test_what_another_asks_for_does_not_go_with_who_leaves_git() -> None:
    swap = Swap()
    process = await swap.world.process()
    await swap.world.settle(process)
    uid = maps(swap.world, "servers")["maps"]["metadata"]["uid"]
    swap.give(duel="", quake="maps")
    text = fleet("quake").replace(
        "  reports:", "  objects: objects/quake\n  suspend: true\n  reports:"
    )
    swap.world.commit({"schedulers/quake.yaml": text, "schedulers/duel.yaml": None})
    report: Any = None
    for _ in range(8):
        report = await process.turn()
        swap.world.pass_time(2.0)
    assert swap.world.names("servers") == ["quake-0"]
    assert swap.owners()["maps"] == ("duel", "duels")
    duel = WorkloadKey("Fleet", "servers", "duel")
    (ending,) = [each.plan for each in report.settled if each.plan.key == duel]
    assert "is left for the workload that asks for it now" in ending.holds[-1].reason
    swap.world.commit({"schedulers/quake.yaml": text.replace("  suspend: true\n", "")})
    await swap.world.settle(process)
    assert swap.owners() == {"maps": ("quake", "quakes")}
    assert maps(swap.world, "servers")["maps"]["metadata"]["uid"] == uid
    assert duel not in process.lane.wanted.deleting


@pytest.mark.long
async def test_a_swap_comes_to_the_same_end_wherever_a_process_dies() -> None:
    async def prepare() -> World:
        swap = Swap()
        await swap.world.settle(await swap.world.process())
        return swap.world

    def exchange(world: World) -> None:
        world.commit(asking("registry.example/game:2", duel="rules", quake="maps"))

    scenario = Scenario("swap", prepare, {0: exchange}, {"servers": Bounds(4), "lobby": Bounds(1)})
    world, reference = await reference_of(scenario)
    points: dict[State, tuple[int, str]] = {}
    for number in range(len(reference.calls)):
        for side in ("before", "after"):
            points.setdefault(reference.ports.states[(number, side)], (number, side))
    assert len(points) > 20
    for number, side in points.values():
        ending = await play(Stage(copy_of(world), scenario), Ports(number, side))
        compare(ending, reference)
