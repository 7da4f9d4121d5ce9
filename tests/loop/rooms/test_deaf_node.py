"""The way from one node to us is cut for long, and players come there all the same."""

import asyncio
import random
from functools import partial

import pytest

from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.sandbox.players.sayings import Saying
from reconciler.service.rooms import suspicion
from tests.loop.rooms.cast import Actor
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import MATCHES, PINGS_SECONDS, TRIO, VOICES, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

CUT_SECONDS = 15.0 * PINGS_SECONDS
LONG = (7200.0, 7200.0)
CONVERGED_SECONDS = 900.0


@pytest.fixture(autouse=True)
def _one_node_tells_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of so few nodes one is more than a fifth of all rooms.
    monkeypatch.setattr(suspicion, "DEAF_SHARE", 0.9)


def _nodes(there: Playhouse) -> dict[str, str]:
    """The node of each room, by the uid of its pod."""
    return {
        pod["metadata"]["uid"]: pod["spec"].get("nodeName", "")
        for name in VOICES
        for pod in there.world.pods(name)
    }


def _cut_off(there: Playhouse, nodes: set[str]) -> None:
    """Let nothing that rooms on `nodes` say come to us."""
    say, places = there.cast._say, dict[str, str]()

    async def carried(actor: Actor, saying: Saying) -> int:
        known = places.get(actor.uid)
        if known is None:
            known = places[actor.uid] = _nodes(there).get(actor.uid, "")
        if known in nodes:
            await asyncio.sleep(2.0)
            return 0
        return await say(actor, saying)

    there.cast._say = carried


def _standing(there: Playhouse, node: str) -> list[Actor]:
    """The rooms of a node."""
    nodes = _nodes(there)
    return [actor for actor in there.cast.playing() if nodes.get(actor.uid) == node]


def _is_marked(there: Playhouse) -> bool:
    pods = [pod for name in VOICES for pod in there.world.pods(name)]
    marked = ["gamekeeper.dev/state" in pod["metadata"]["labels"] for pod in pods]
    return len(marked) == sum(piece.rooms for piece in TRIO) and all(marked)


def test_rooms_that_fill_up_on_a_node_that_is_not_heard_are_not_replaced() -> None:
    async def main() -> None:
        world = World()
        wish = Wish(world)
        air = Air(random.Random(1))
        # All repeat themselves: the silence of the others would tell nothing.
        voices = {name: Voice.MAESTRO if name == "arena" else Voice.NATIVE for name in VOICES}
        natures = {
            name: partial(Nature, voice=voice, matches=MATCHES[name], match_seconds=LONG)
            for name, voice in voices.items()
        }
        async with playhouse(world, Weather(random.Random(1)), natures, air, Laws.of(TRIO)) as it:
            it.start("one")
            await it.until("a fleet", lambda: _is_marked(it), 60.0)
            node = max(set(_nodes(it).values()), key=lambda each: len(_standing(it, each)))
            rooms = {actor.uid for actor in _standing(it, node)}
            assert suspicion.PAIR <= len(rooms) < len(_nodes(it))
            cut = {node}
            _cut_off(it, cut)
            await asyncio.sleep(PINGS_SECONDS / 2)
            for actor in _standing(it, node):
                assert it.cast.join(actor, 1)
            wish.change("arena", 1, 2)
            wish.change("lobby", 1, 2)
            await asyncio.sleep(CUT_SECONDS)
            assert rooms <= _nodes(it).keys(), "a room that players came to was removed"
            assert rooms <= {actor.uid for actor in it.cast.playing()}
            cut.clear()
            await asyncio.sleep(120.0)
            assert rooms <= _nodes(it).keys()
            it.cast.end_all()

            def is_done() -> bool:
                counts = [len(it.world.pods(name)) for name in VOICES]
                return counts == [wish.wanted[name][0] for name in VOICES]

            await it.until("what was asked for", is_done, CONVERGED_SECONDS)
            it.judge()

    in_virtual_time(main())
