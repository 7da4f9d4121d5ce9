"""What others do to a cluster while a freeze is open: a node is drained, a room is deleted."""

import asyncio
from collections import Counter

import pytest
import yaml

from reconciler.model.refs import Json
from reconciler.service.lookout import written
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.mishaps import EVICTED, REFUSED, cordon, evict
from tests.loop.rooms.test_refusing_clusters import HOUR, are_standing, play, scene
from tests.loop.rooms.wishes import CONFIG
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long


def _frozen(there: Playhouse) -> str:
    """Return a configuration with a freeze that is open for hours."""
    now = there.world.time.at
    window = {"name": "cup", "from": written(now - HOUR), "until": written(now + 9 * HOUR)}
    document: Json = yaml.safe_load(CONFIG)
    document["spec"]["freeze"] = [{**window, "reason": "the final"}]
    return yaml.safe_dump(document)


def _rooms(there: Playhouse, node: str = "") -> list[str]:
    """Return the names of the arena's rooms, of those on one node where one is given."""
    return [
        pod["metadata"]["name"]
        for pod in there.world.pods("arena")
        if node in ("", pod["spec"].get("nodeName"))
    ]


def _images(there: Playhouse) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in there.world.pods("arena")}


def test_a_node_is_drained_and_rooms_are_healed_while_a_freeze_holds_what_people_changed() -> None:
    async def main() -> None:
        async with scene() as (there, wish):
            there.world.commit({"gamekeeper.yaml": _frozen(there)})
            await play(there, 30.0)
            image = _images(there)
            wish.change("arena", 6, 2)
            await play(there, 60.0)
            assert are_standing(there, 4, 4), "it waits for the end of the freeze"
            node = there.world.pods("arena")[0]["spec"]["nodeName"]
            cordon(there, node, True)
            drained: Counter[int] = Counter()
            began = elapsed()
            while rooms := _rooms(there, node):
                assert elapsed() - began < 900.0, "it is not drained"
                for room in rooms:
                    drained[evict(there, f"arena/{room}")] += 1
                await asyncio.sleep(5.0)  # who plays there plays to the end, and nobody else comes
            assert drained[EVICTED]
            there.world.delete(f"/api/v1/namespaces/arena/pods/{_rooms(there)[0]}")
            there.changed()
            await there.until("they are replaced", lambda: are_standing(there, 4, 4), 120.0)
            assert _images(there) == image, "of the image that was accepted"
            print(f"evictions by their answer: {dict(drained)}")
            assert drained[REFUSED], "somebody played there"

    in_virtual_time(main())
