"""In a freeze a person's number waits, also where a commit of ours lies beside it or under it."""

import asyncio
from collections.abc import Callable

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.model.pushes import Change, Pushed
from tests.loop.safety import Bounds
from tests.loop.scaling.counts import counts_of
from tests.loop.scaling.house import FILE, Habits, Scene, scaled, stage
from tests.loop.scaling.test_freezes import CONFIG, ENDS_AT, FROM_TEN_PAST_EIGHT, changed
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import spec

pytestmark = pytest.mark.long

APART = f"{CONFIG.rstrip()}\n  writeBack: {{branch: counts}}\n"
LOBBY_POLICY = {"schedule": [{"from": "08:33", "to": "20:00", "replicas": 5}]}
LOBBY = spec("lobby", 2, autoscaling={"min": 2, "max": 20, "policy": LOBBY_POLICY})
"""Its count is decided shortly before the freeze ends."""
FILES = {FILE: scaled(2, FROM_TEN_PAST_EIGHT), "schedulers/lobby.yaml": LOBBY}
BOUNDS = {"arena": Bounds(30, 0), "lobby": Bounds(30, 0)}


class Followed(MemoryRepository):
    """After a push of ours the host does what the test says, before anybody looks."""

    def __init__(self, host: MemoryHost, then: dict[str, Callable[[], object]]) -> None:
        super().__init__(host)
        self._then = then

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push, and let it happen."""
        pushed = await super().push(change, commit)
        self._then.pop(change.message.partition("\n")[0], lambda: None)()
        return pushed


def apart(there: Scene) -> dict[str, int]:
    """What the branch of counts says."""
    host = there.world.host
    tip = host.branches.get("counts")
    return counts_of(host.commits[tip].files.get("replicas.yaml") if tip else None)


@pytest.mark.parametrize("config", [CONFIG, APART], ids=["one branch", "a branch of counts"])
def test_a_persons_number_holds_though_ours_for_another_arrives_as_the_freeze_ends(
    config: str,
) -> None:
    then: dict[str, Callable[[], object]] = {}
    habits = Habits(repository=lambda world, name: Followed(world.host, then))

    async def main() -> None:
        files = {"gamekeeper.yaml": config, **FILES}
        async with stage(files, BOUNDS, habits) as there:
            host = there.world.host
            then["Scale lobby to 5"] = host.down
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 800.0)
            await asyncio.sleep(120.0)
            if config == APART:
                assert apart(there) == {"Scheduler/arena": 6}
                text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
                host.commit({"replicas.yaml": text.replace(": 6\n", ": 4\n")}, branch="counts")
            else:
                changed(there, replicas=4)
            await there.until("a commit of ours that is not seen", lambda: not then, 1500.0)
            assert there.rooms() == 6
            await asyncio.sleep(ENDS_AT + 5.0 - elapsed())
            host.heal()
            await there.until("four rooms", lambda: there.rooms() == 4, 120.0)
            await asyncio.sleep(700.0)
            assert there.rooms() == 4, "a person's number holds its policy"
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)

    in_virtual_time(main())


@pytest.mark.parametrize("config", [CONFIG, APART], ids=["one branch", "a branch of counts"])
def test_a_revert_of_ours_that_comes_before_we_looked_waits_and_is_not_undone(config: str) -> None:
    then: dict[str, Callable[[], object]] = {}
    habits = Habits(repository=lambda world, name: Followed(world.host, then))

    async def main() -> None:
        async with stage({"gamekeeper.yaml": config, **FILES}, BOUNDS, habits) as there:
            host = there.world.host

            def revert() -> None:
                if config == APART:
                    text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
                    text = text.replace(": 6\n", ": 2\n")
                    host.commit({"replicas.yaml": text}, branch="counts")
                else:
                    changed(there, replicas=2)

            def in_git() -> int:
                return apart(there)["Scheduler/arena"] if config == APART else there.count_in_git()

            then["Scale arena to 6"] = revert
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 800.0)
            await there.until("ours, and its revert", lambda: not then, 300.0)
            while elapsed() < ENDS_AT - 10.0:
                await asyncio.sleep(10.0)
                assert (there.rooms(), in_git()) == (6, 2), "it waits, and so do we"
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(800.0)
            assert (there.rooms(), in_git()) == (2, 2), "a person's number holds its policy"
            await there.until("six rooms", lambda: there.rooms() == 6, 300.0)

    in_virtual_time(main())
