"""A cluster that refuses rooms for an hour: told, asked for ever more seldom, and nobody goes."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.core.backoff import LONGEST_DELAY_SECONDS
from reconciler.model.refs import Json
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

HOUR = 3600.0
PIECES = (Piece("arena", Voice.NATIVE, 4), Piece("lobby", Voice.NATIVE, 4))
QUOTA = 'pods "a" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: 4'
POLICY = 'ValidatingAdmissionPolicy "audit" with binding "audit" denied request: not today'
WEBHOOK = (
    'Internal error occurred: failed calling webhook "audit.example.com": failed to call webhook: '
    'Post "https://audit.audit.svc:443/": dial tcp 10.0.0.7:443: connect: connection refused'
)
LIMIT = 'pods "a" is forbidden: maximum cpu usage per Container is 100m, but limit is 500m'


class Gate:
    """Refuses every room of a namespace while it is closed, and counts who asks."""

    def __init__(self, there: Playhouse, status: int, message: str) -> None:
        self.closed = False
        self.places = 0
        """So many rooms it lets stand even while it is closed, as a quota does."""
        self.asked: list[float] = []
        self._refusal = partial(refusal, status=status, body={"message": message})
        (service,) = there.services
        self._before = service.transport.before
        self._pods = partial(there.world.pods, "arena")
        service.transport.before = self._judge

    def _judge(self, number: int, call: Call) -> None:
        self._before(number, call)
        is_room = call.verb == "create" and call.kind == "Pod" and "/arena/" in call.path
        if is_room and self.closed and len(self._pods()) >= self.places:
            self.asked.append(elapsed())
            raise self._refusal(call.what)


@asynccontextmanager
async def scene(kinds: tuple[str, ...] = ()) -> AsyncIterator[tuple[Playhouse, Wish]]:
    """Open a house with two workloads in which short matches begin and end all the time."""
    world = World(kinds=kinds)
    wish = Wish(world, PIECES)
    nature = partial(Nature, voice=Voice.NATIVE, match_seconds=(20.0, 60.0))
    natures: dict[str, Callable[[], Nature]] = {piece.name: nature for piece in PIECES}
    air, weather = Air(random.Random(1)), Weather(random.Random(1))
    async with playhouse(world, weather, natures, air, Laws.of(PIECES)) as there:
        there.start("one")
        await there.until("all stand", lambda: are_standing(there, 4, 4), 60.0)
        yield there, wish
        there.judge()
        assert not there.warden.removed_alive


def are_standing(there: Playhouse, arena: int, lobby: int) -> bool:
    return all(
        sum("gamekeeper.dev/state" in pod["metadata"]["labels"] for pod in there.world.pods(name))
        == number
        for name, number in (("arena", arena), ("lobby", lobby))
    )


async def play(there: Playhouse, seconds: float) -> None:
    """Let players come to every room again and again."""
    over = elapsed() + seconds
    while elapsed() < over:
        for actor in there.cast.playing():
            if not actor.game.players:
                there.cast.join(actor, 2)
        await asyncio.sleep(5.0)


def ready(there: Playhouse) -> Json:
    """Return the condition Ready of the arena, as it stands in memory and on record."""
    (key,) = (key for key in there.services[0].lane.wanted.keys if key.name == "arena")
    conditions = there.services[0].lane.store.state(key).conditions
    (ready,) = (each for each in conditions if each.type == "Ready")
    return {"message": ready.message, "since": ready.since}


def ordinals(there: Playhouse) -> int:
    """Return how many names the arena has taken by now."""
    (key,) = (key for key in there.services[0].lane.wanted.keys if key.name == "arena")
    record = there.services[0].lane.store.ordinals(key)
    assert record is not None
    return record.next


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "message"),
    [
        pytest.param(403, QUOTA, id="a quota that lasts"),
        pytest.param(422, POLICY, id="a policy"),
        pytest.param(403, LIMIT, id="a LimitRange"),
    ],
)
def test_rooms_that_are_refused_for_an_hour_are_asked_for_ever_more_seldom(
    status: int, message: str
) -> None:
    async def main() -> None:
        async with scene() as (there, wish):
            gate = Gate(there, status, message)
            gate.closed = True
            before = {pod["metadata"]["uid"] for pod in there.world.pods("arena")}
            wish.change("arena", 8, 1)
            await play(there, 60.0)
            told = ready(there)
            assert message[:60] in told["message"]
            wish.change("lobby", 6, 1)
            await play(there, 120.0)
            assert are_standing(there, 4, 6), "others are not disturbed"
            await play(there, HOUR - 180.0)
            assert ready(there) == told, "it is told once, and as long as it is so"
            assert before == {pod["metadata"]["uid"] for pod in there.world.pods("arena")}
            steps = gate.asked[4:]  # four rooms at once, and then one alone finds out
            for step, (last, this) in enumerate(pairwise(steps)):
                assert this - last > 0.9 * min(2.0**step, LONGEST_DELAY_SECONDS)
            assert len(gate.asked) <= 4 + 11 + HOUR / LONGEST_DELAY_SECONDS
            gate.closed = False
            took = await there.until("they are made", lambda: are_standing(there, 8, 6), 330.0)
            print(f"asked {len(gate.asked)} times in an hour; made {took:.0f} s after its end")

    in_virtual_time(main())


@pytest.mark.long
def test_the_place_that_a_room_leaves_in_a_full_quota_is_taken_at_once() -> None:
    async def main() -> None:
        async with scene() as (there, wish):
            gate = Gate(there, 403, QUOTA)
            gate.closed, gate.places = True, 4
            wish.change("arena", 8, 1)
            await play(there, 600.0)
            assert gate.asked[-1] - gate.asked[-2] > 60.0, "it is asked for seldom by now"
            for _ in range(2):
                asked, (gone, *_) = len(gate.asked), there.world.names("arena")
                there.world.delete(f"/api/v1/namespaces/arena/pods/{gone}")
                there.changed()
                await there.until("another stands", partial(_replaced, there, gone), 60.0)
                await play(there, 30.0)
                assert len(gate.asked) <= asked + 3, "one is made, two hear that it is full"

    in_virtual_time(main())


def test_a_refusal_is_told_no_more_where_no_room_is_to_be_made() -> None:
    """Nobody asks for the rooms any more, and those that play on are as they should be."""

    async def main() -> None:
        async with scene() as (there, wish):
            gate = Gate(there, 403, QUOTA)
            gate.closed = True
            wish.change("arena", 8, 1)
            await play(there, 60.0)
            assert "exceeded quota" in ready(there)["message"]
            wish.change("arena", 1, 1)
            there.services[0].app.head_service.wake()
            for actor in there.cast.playing("arena"):
                there.cast.join(actor, 2)
            waits = "not every room is as wanted"
            await there.until("it is told", lambda: ready(there)["message"] == waits, 15.0)
            assert len(there.world.pods("arena")) > 1, "who plays there plays on"

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize(
    ("message", "names"),
    [
        pytest.param(WEBHOOK, 4, id="a webhook that is down: no name was used"),
        pytest.param("etcdserver: request timed out", 40, id="a store that does not answer"),
    ],
)
def test_a_cluster_that_fails_is_asked_ever_more_seldom_and_soon_used_again(
    message: str, names: int
) -> None:
    """Nobody knows of a name whose POST failed in the store: each one is looked for and is over."""

    async def main() -> None:
        async with scene() as (there, wish):
            gate = Gate(there, 500, message)
            gate.closed = True
            wish.change("arena", 8, 1)
            await play(there, 600.0)
            assert 10 < len(gate.asked) <= 40
            assert message[:40] in ready(there)["message"]
            gate.closed = False
            took = await there.until("they are made", lambda: are_standing(there, 8, 4), 30.0)
            assert ordinals(there) <= 8 + names
            print(f"asked {len(gate.asked)} times in 10 minutes; made {took:.0f} s after its end")

    in_virtual_time(main())


@pytest.mark.parametrize("message", [WEBHOOK, "etcdserver: request timed out"])
def test_rooms_that_fail_once_are_asked_for_again_at_once(message: str) -> None:
    async def main() -> None:
        async with scene() as (there, wish):
            gate = Gate(there, 500, message)
            gate.closed = True
            wish.change("arena", 8, 1)
            there.services[0].app.head_service.wake()
            await there.until("they fail", lambda: bool(gate.asked), 30.0)
            gate.closed = False
            pods = partial(there.world.pods, "arena")
            took = await there.until("they are made", lambda: len(pods()) == 8, 30.0)
            assert took <= 1.0

    in_virtual_time(main())


@pytest.mark.long
def test_credentials_that_are_good_again_make_no_room_wait() -> None:
    async def main() -> None:
        async with scene() as (there, wish):
            gate = Gate(there, 401, "Unauthorized")
            gate.closed = True
            wish.change("arena", 8, 1)
            await play(there, 600.0)
            gate.closed = False
            await there.until("they are made", lambda: are_standing(there, 8, 4), 30.0)

    in_virtual_time(main())


def _replaced(there: Playhouse, gone: str) -> bool:
    return gone not in there.world.names("arena") and are_standing(there, 4, 4)
