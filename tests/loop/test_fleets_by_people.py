"""A Fleet that a person has made or removed over HTTP: one commit, judged as any other."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.loop import head
from reconciler.loop.landing import Terms
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.pushes import Person
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.signatures import SigningRules
from reconciler.room_ports import Unmade
from reconciler.service.fleets import RACES, FleetCommits
from tests.loop.world import CONFIG, Process, World, spec

POD: Json = {"containers": [{"name": "game", "image": "registry.example/openarena:1"}]}
ARENA: Json = {"metadata": {"name": "openarena"}, "spec": {"replicas": 2, "template": POD}}
TERMS = Terms(Person("Gamekeeper", "gamekeeper@example.com"))
FILE = "schedulers/openarena.yaml"
OPENARENA = WorkloadKey("Fleet", "openarena", "openarena")


def config(written: str) -> str:
    """Return a gamekeeper.yaml."""
    return f"apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {written}\n"


class Place:
    """A repository with a Scheduler, a process that has taken it in, and a person who asks."""

    def __init__(self, world: World, process: Process) -> None:
        self.world = world
        self.process = process
        self.terms: Terms | None = TERMS
        self.woken = 0
        self.fleets = FleetCommits(
            process.head, MemoryRepository(world.host), self, lambda: self.terms, self.wake
        )

    @classmethod
    async def make(cls, **files: str) -> "Place":
        world = World()
        world.commit({"gamekeeper.yaml": CONFIG, "schedulers/duel.yaml": spec("duel", 1), **files})
        process = await world.process()
        await world.settle(process)
        return cls(world, process)

    def now(self) -> float:
        return self.world.time.now()

    async def sleep(self, seconds: float) -> None:
        """Let the loop look at Git, as it does when it is woken."""
        await head.look(self.process.head, self.now())

    def wake(self) -> None:
        self.woken += 1

    def files(self) -> dict[str, bytes]:
        host = self.world.host
        return dict(host.commits[host.branches["main"]].files)

    async def commit(self, files: dict[str, str | None]) -> None:
        """Have a person commit, and the loop take it in."""
        self.world.commit(files)
        await self.settle()

    async def settle(self) -> None:
        """Let the loop take the head in and act: rooms that report are not ready by themselves."""
        for _ in range(3):
            await self.process.turn()
            self.world.pass_time(2.0)

    def pods(self) -> int:
        namespaces = self.world.namespaces()
        return len(self.world.pods("openarena")) if "openarena" in namespaces else 0


async def test_a_fleet_is_made_by_a_commit_that_names_who_asked() -> None:
    place = await Place.make()
    commit = await place.fleets.make(ARENA, "ada")
    made = place.world.host.commits[commit]
    assert place.world.host.branches["main"] == commit
    assert made.subject == (
        "Make Fleet openarena\n\nRequested-by: ada\nGamekeeper-Instance: main\n"
    )
    assert b"kind: Fleet" in made.files[FILE]
    assert place.woken == 1
    await place.settle()
    assert place.pods() == 2


async def test_a_fleet_in_a_namespace_of_another_name_is_asked_for_and_made_there() -> None:
    place = await Place.make()
    elsewhere = {**ARENA, "metadata": {"name": "openarena", "namespace": "games"}}
    asked = place.fleets.wanted(elsewhere)
    await place.fleets.make(elsewhere, "ada")
    await place.settle()
    assert asked == WorkloadKey("Fleet", "games", "openarena"), "whose right it is, is asked there"
    assert place.fleets.known("openarena") == asked
    assert len(place.world.pods("games")) == 2


async def test_the_name_of_who_asked_gives_no_orders_to_the_host() -> None:
    place = await Place.make()
    commit = await place.fleets.make(ARENA, "@all closes #3 [skip ci]")
    told = place.world.host.commits[commit].subject
    assert "Requested-by: @ all closes # 3 (skip ci)\n" in told


async def test_where_all_of_the_repository_is_read_it_stands_at_the_root() -> None:
    place = await Place.make(**{"gamekeeper.yaml": config("{paths: [.]}")})
    await place.fleets.make(ARENA, "ada")
    assert "openarena.yaml" in place.files()
    await place.settle()
    assert place.pods() == 2


async def test_of_specs_that_several_environments_share_nobody_asks_for_more() -> None:
    values = "apiVersion: gamekeeper.dev/v1\nkind: Values\n"
    place = await Place.make(**{"environments/eu.yaml": values})
    lane = place.process.head
    lane.permissions = replace(lane.permissions, values=("environments/eu.yaml",))
    before = place.files()
    with pytest.raises(Unmade, match="several environments") as refused:
        await place.fleets.make(ARENA, "ada")
    assert (refused.value.status, place.files()) == (409, before)


async def test_it_leaves_by_a_commit_and_its_rooms_with_it() -> None:
    place = await Place.make()
    await place.fleets.make(ARENA, "ada")
    await place.settle()
    await place.fleets.remove(OPENARENA, "ada")
    assert FILE not in place.files()
    assert "schedulers/duel.yaml" in place.files()


async def refuse_twice(place: Place) -> None:
    await place.fleets.make(ARENA, "ada")
    await place.settle()
    await place.fleets.make(ARENA, "ada")


async def refuse_unknown(place: Place) -> None:
    await place.fleets.remove(OPENARENA._replace(name="nowhere"), "ada")


async def refuse_a_scheduler(place: Place) -> None:
    await place.fleets.remove(OPENARENA._replace(name="duel"), "ada")


async def refuse_another_file(place: Place) -> None:
    await place.fleets.make({**ARENA, "metadata": {"name": "duel"}}, "ada")


async def refuse_no_pod(place: Place) -> None:
    await place.fleets.make(
        {**ARENA, "spec": {"replicas": 2, "template": {"containers": []}}}, "ada"
    )


async def refuse_privilege(place: Place) -> None:
    pod = {"hostPID": True, **POD}
    await place.fleets.make({**ARENA, "spec": {"replicas": 2, "template": pod}}, "ada")


async def refuse_when_off(place: Place) -> None:
    place.terms = None
    await place.fleets.make(ARENA, "ada")


async def refuse_what_has_a_branch_of_its_own(place: Place) -> None:
    await place.commit({"gamekeeper.yaml": config("{writeBack: {branch: counts}}")})
    await place.fleets.make(ARENA, "ada")


async def refuse_what_is_broken(place: Place) -> None:
    await place.fleets.make(ARENA, "ada")
    await place.settle()
    text = place.files()[FILE].decode()
    await place.commit({FILE: text.replace("replicas: 2", "replicas: two")})
    await place.fleets.remove(OPENARENA, "ada")


async def refuse_beside_what_is_broken(place: Place) -> None:
    with pytest.raises(Unmade, match="has a mistake"):
        await refuse_what_is_broken(place)
    await place.fleets.make(ARENA, "ada")


async def refuse_without_a_config(place: Place) -> None:
    await place.fleets.make(ARENA, "ada")
    await place.settle()
    await place.commit({"gamekeeper.yaml": config("{writeBack: {branch: counts}}")})
    await place.commit({"gamekeeper.yaml": "]["})
    await place.fleets.remove(OPENARENA, "ada")


async def refuse_when_down(place: Place) -> None:
    place.world.host.refusal = Unavailable("no route to host")
    await place.fleets.make(ARENA, "ada")


async def refuse_when_protected(place: Place) -> None:
    place.world.host.refusal = Denied("the branch takes merge requests only")
    await place.fleets.make(ARENA, "ada")


async def refuse_when_others_push_all_the_time(place: Place) -> None:
    place.world.host.rivals = [{"README": str(n)} for n in range(RACES)]
    await place.fleets.make(ARENA, "ada")


@pytest.mark.parametrize(
    ("asked", "status", "why"),
    [
        pytest.param(refuse_twice, 409, "stands in Git already", id="it is there"),
        pytest.param(refuse_unknown, 404, "no Fleet of this name", id="none of that name is there"),
        pytest.param(
            refuse_a_scheduler, 404, "no Fleet of this name", id="a Scheduler is no Fleet"
        ),
        pytest.param(refuse_another_file, 409, "another document's file", id="the file is taken"),
        pytest.param(refuse_no_pod, 400, "no valid Fleet", id="a pod without containers"),
        pytest.param(refuse_privilege, 400, "hostPID", id="more than repositories may ask for"),
        pytest.param(refuse_when_off, 409, "writeBack.mode is off", id="nothing is committed"),
        pytest.param(
            refuse_what_has_a_branch_of_its_own, 409, "commits on counts", id="a branch of counts"
        ),
        pytest.param(
            refuse_what_is_broken, 409, "openarena.yaml:7: .* Mend it", id="it has a mistake"
        ),
        pytest.param(
            refuse_beside_what_is_broken, 409, "has a mistake in Git", id="one has a mistake"
        ),
        pytest.param(
            refuse_without_a_config, 409, "gamekeeper.yaml is missing", id="a broken Config"
        ),
        pytest.param(refuse_when_down, 503, "no route to host", id="the host is down"),
        pytest.param(refuse_when_protected, 409, "merge requests", id="a protected branch"),
        pytest.param(
            refuse_when_others_push_all_the_time, 503, "ask again", id="every race is lost"
        ),
    ],
)
async def test_what_cannot_be_is_told(
    asked: Callable[[Place], Awaitable[None]], status: int, why: str
) -> None:
    place = await Place.make()
    with pytest.raises(Unmade, match=why) as refused:
        await asked(place)
    assert refused.value.status == status


async def test_who_may_remove_one_fleet_removes_no_other_of_its_name() -> None:
    place = await Place.make()
    await place.fleets.make(ARENA, "ada")
    asked = place.fleets.known("openarena")
    text = place.files()[FILE].decode()
    await place.commit({FILE: text.replace("spec:", "spec:\n  namespace: servers", 1)})
    assert place.fleets.known("openarena") == OPENARENA._replace(namespace="servers")
    with pytest.raises(Unmade, match="another Fleet has this name") as refused:
        await place.fleets.remove(asked, "ada")
    assert refused.value.status == 409
    assert FILE in place.files()


async def test_a_file_of_several_documents_is_left_to_people() -> None:
    place = await Place.make()
    await place.fleets.make(ARENA, "ada")
    text = place.files()[FILE].decode()
    place.world.commit({FILE: f"{text}---\n{spec('other', 1)}"})
    await place.settle()
    with pytest.raises(Unmade, match="holds other documents"):
        await place.fleets.remove(OPENARENA, "ada")


async def test_a_file_that_ends_in_three_dashes_holds_one_document() -> None:
    place = await Place.make()
    await place.fleets.make(ARENA, "ada")
    text = place.files()[FILE].decode()
    await place.commit({FILE: f"---\n{text}---\n# and no other\n"})
    await place.fleets.remove(OPENARENA, "ada")
    assert FILE not in place.files()


async def test_a_lost_race_loses_nothing() -> None:
    place = await Place.make()
    place.world.host.rivals = [{"README": "somebody else's"}]
    await place.fleets.make(ARENA, "ada")
    assert {"README", FILE} <= place.files().keys()
    assert not any(move.forced for move in place.world.host.moves)


async def test_where_commits_must_be_signed_none_is_made_without_a_key() -> None:
    place = await Place.make()
    before = place.world.host.branches["main"]
    place.process.head.rules = SigningRules(strict=True)
    for asked in (place.fleets.make(ARENA, "ada"), place.fleets.remove(OPENARENA, "ada")):
        with pytest.raises(Unmade, match="must be signed here"):
            await asked
    assert place.world.host.branches["main"] == before
