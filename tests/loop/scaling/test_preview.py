"""`diff --live` shows counts that were decided in a bucket of their own: no difference from Git."""

import json

from reconciler.cli.lanes import Lanes
from reconciler.cli.live_diff import show
from reconciler.service.doors.codes import RoomCodes
from reconciler.wiring.clusters import OneCluster
from tests.loop.scaling.house import FILE, Scene, scaled, scene
from tests.loop.scaling.test_trouble_ends import OFF
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import Process
from tests.unit.cli.screens import console, text_of

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""
DECIDED = "decided: Scheduler/arena 2 -> 6, on its way into Git (schedule: "
OF_ITS_OWN = "decided: Scheduler/arena 2 -> 6, and Git keeps its own number (schedule: "


async def shown(there: Scene, output: str = "text") -> tuple[str, int]:
    """What `diff --live` prints of the head, and its exit code."""
    process, screen = Process(there.world), console()
    codes = RoomCodes(process.cluster, "gamekeeper")
    one = OneCluster(process.cluster, process.view, process.lane, codes, there.world.time)
    code = (await show(Lanes(one, process.head, ""), output, screen)).code
    return text_of(screen.out), code


def test_a_decided_count_is_a_bucket_and_no_difference() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            there.start("one")
            there.world.host.protected["main"] = "no"
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            assert await shown(there) == (f"commit {there.head()[:12]}\nNothing to do.\n", 0)
            await there.until("a third room is made", lambda: there.pods() > 2, 340.0)
            said, code = await shown(there)
            assert code == 0, "rooms are made that only the decision asks for"
            assert DECIDED in said
            await there.until("six rooms", lambda: there.rooms() == 6, 60.0)
            said, code = await shown(there)
            assert (DECIDED in said, said.endswith("Nothing else to do.\n"), code) == (
                True,
                True,
                0,
            )
            (intent,) = json.loads((await shown(there, "json"))[0])["intents"]
            assert (intent["name"], intent["from"], intent["to"]) == ("arena", 2, 6)
            assert "notice" in (await shown(there, "github"))[0]

    in_virtual_time(main())


def test_where_git_is_not_written_the_bucket_says_so() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            there.start("one")
            there.world.commit({"gamekeeper.yaml": OFF})
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            said, code = await shown(there)
            assert (OF_ITS_OWN in said, "on its way" in said, code) == (True, False, 0)
            said, _ = await shown(there, "github")
            assert "decided: 2 -> 6, and Git keeps its own number (" in said

    in_virtual_time(main())


def test_a_count_that_a_person_sets_is_a_difference_and_the_decision_is_gone() -> None:
    async def main() -> None:
        text = scaled(2, FROM_EIGHT)
        async with scene(text) as there:
            one = there.start("one")
            there.world.host.protected["main"] = "no"
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await one.kill()
            there.world.host.protected.clear()
            there.world.commit({FILE: text.replace("replicas: 2", "replicas: 9", 1)})
            said, code = await shown(there)
            assert ("decided:" in said, code) == (False, 2)
            assert "3 rooms to create" in said

    in_virtual_time(main())
