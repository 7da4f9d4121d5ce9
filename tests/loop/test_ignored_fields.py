"""Fields of our objects that others own (`spec.ignore`): kept as they are, the rest set back."""

from typing import Any, cast

from reconciler.model.specs import Permissions
from tests.loop.compiler import read_whole
from tests.loop.denying import Denying
from tests.loop.test_additional_objects import (
    ARENA,
    ASKING,
    FILE,
    PATH,
    SETTINGS,
    maps,
    standing,
)
from tests.loop.world import CONFIG, World, spec
from tests.unit.core.reading import tree_of

LEFT = spec(
    "arena",
    3,
    objects="objects/arena",
    ignore=[{"kind": "ConfigMap", "name": "arena-settings", "paths": ["/data/motd"]}],
)
TWO = SETTINGS + "  level: hard\n"


def theirs(world: World) -> None:
    """Let the community team write its greeting, and somebody else what is not theirs to write."""
    world.patch(f"{PATH}/arena-settings", {"data": {"motd": "mine", "level": "easy"}})


async def test_a_field_of_others_stays_and_the_rest_is_set_back() -> None:
    world, process = await standing(**{"schedulers/arena.yaml": LEFT, FILE: TWO})
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome", "level": "hard"}
    theirs(world)
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "mine", "level": "hard"}
    again = await world.process()
    assert not [each.changed for each in await world.settle(again) if each.changed]

    world.commit({FILE: TWO.replace("hard", "medium").replace("welcome", "farewell")})
    await world.settle(again)
    assert maps(world)["arena-settings"]["data"] == {"motd": "mine", "level": "medium"}

    world.commit({"schedulers/arena.yaml": ASKING})
    await world.settle(again)
    assert maps(world)["arena-settings"]["data"] == {"motd": "farewell", "level": "medium"}


async def test_a_field_that_was_ours_is_not_taken_away_when_it_is_left_to_others() -> None:
    world, process = await standing(**{FILE: TWO})
    world.commit({"schedulers/arena.yaml": LEFT, FILE: TWO.replace("hard", "easy")})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome", "level": "easy"}

    world.patch(f"{PATH}/arena-settings", {"data": {"motd": None}})
    world.commit({FILE: TWO})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"level": "hard"}, "they took it away"


async def test_one_that_git_names_no_more_goes_once_it_is_left_to_others_no_more() -> None:
    world, process = await standing(**{"schedulers/arena.yaml": LEFT, FILE: TWO})
    world.commit({FILE: TWO.replace("  motd: welcome\n", "")})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome", "level": "hard"}
    world.commit({"schedulers/arena.yaml": ASKING})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"level": "hard"}


def owners(world: World, name: str) -> set[str]:
    """Who owns an entry of the ConfigMap."""
    entries = maps(world)["arena-settings"]["metadata"]["managedFields"]
    return {
        each["manager"] for each in entries if f"f:{name}" in each["fieldsV1"].get("f:data", {})
    }


async def test_one_that_another_manager_owns_is_owned_by_us_no_more() -> None:
    world, process = await standing(**{"schedulers/arena.yaml": LEFT, FILE: TWO})
    assert owners(world, "motd") == {"gamekeeper-main"}
    world.patch(f"{PATH}/arena-settings?fieldManager=community", {"data": {"motd": "mine"}})
    world.commit({FILE: TWO.replace("hard", "medium")})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "mine", "level": "medium"}
    assert (owners(world, "motd"), owners(world, "level")) == ({"community"}, {"gamekeeper-main"})
    world.commit({"schedulers/arena.yaml": ASKING, FILE: TWO})
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome", "level": "hard"}


async def test_one_that_is_gone_begins_again_as_git_says() -> None:
    world, process = await standing(**{"schedulers/arena.yaml": LEFT})
    theirs(world)
    world.delete(f"{PATH}/arena-settings")
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "welcome"}


class Late:
    """A cluster in which somebody writes to the ConfigMap right after we have read it."""

    def __init__(self, cluster: Any, world: World) -> None:
        self._cluster, self._world, self.left = cluster, world, 2

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def get(self, ref: Any) -> Any:
        found = await self._cluster.get(ref)
        if ref.kind == "ConfigMap" and self.left:
            self.left -= 1
            self._world.patch(f"{PATH}/arena-settings", {"data": {"motd": f"word {self.left}"}})
        return found


async def test_a_word_that_comes_between_our_look_and_our_write_is_not_lost() -> None:
    world, process = await standing(**{"schedulers/arena.yaml": LEFT, FILE: TWO})
    theirs(world)
    process.lane.cluster = cast("Any", Late(process.lane.cluster, world))
    await world.settle(process)
    assert maps(world)["arena-settings"]["data"] == {"motd": "word 0", "level": "hard"}


async def test_a_word_of_theirs_outlasts_an_old_answer_that_nothing_is_there() -> None:
    world, process = await standing(**{"schedulers/arena.yaml": LEFT, FILE: TWO})
    theirs(world)
    denying = Denying(process, "get", "ConfigMap", "arena")
    await world.settle(process)
    assert not denying.left, "it was said"
    assert maps(world)["arena-settings"]["data"] == {"motd": "mine", "level": "hard"}


async def test_a_path_into_a_list_is_told_at_its_spec() -> None:
    policy = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: players}
spec: {podSelector: {}, ingress: [{}]}
"""
    asked = spec(
        "arena",
        3,
        objects="objects/arena",
        ignore=[{"kind": "NetworkPolicy", "paths": ["/spec/ingress/0"]}],
    )
    file = "objects/arena/networkpolicy.yaml.j2"
    reading = read_whole(
        tree_of({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": asked, file: policy}),
        Permissions(kinds=("NetworkPolicy",), instance="main"),
    )
    assert [(one.rule, one.path, one.file) for one in reading.findings if one.rule == "ignore"] == [
        ("ignore", "spec.ignore", "schedulers/arena.yaml")
    ]
    assert ARENA in reading.invalid


async def test_an_object_that_a_copy_is_to_be_too_is_told_at_its_spec() -> None:
    source = {"kind": "ConfigMap", "namespace": "shared", "name": "arena-settings"}
    asked = spec("arena", 3, objects="objects/arena", copyFrom=[source])
    reading = read_whole(
        tree_of({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": asked, FILE: SETTINGS}),
        Permissions(kinds=("ConfigMap",), instance="main", copy_from=("shared",)),
    )
    assert [(one.rule, one.path) for one in reading.invalid[ARENA]] == [
        ("duplicate-name", "spec.copyFrom")
    ]
