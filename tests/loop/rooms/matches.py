"""A house in which matches are played that do not end: whoever loses one was thrown out."""

import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from reconciler.model.labels import STATE
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.wires import Weather
from tests.loop.world import CONFIG, World

LONG = (86_400.0, 86_400.0)
PIECES = (
    Piece("arena", Voice.MAESTRO, 5),
    Piece("lobby", Voice.NATIVE, 4, 3),
    Piece("duel", Voice.COLLECTIONS, 4, namespace="servers"),
)


@asynccontextmanager
async def in_match(
    pieces: Sequence[Piece] = PIECES,
    *,
    free: int = 0,
    config: str = CONFIG,
    made: Callable[..., Playhouse] = Playhouse,
) -> AsyncIterator[tuple[Playhouse, Wish]]:
    """Open a house in which all rooms are full, but `free` of each workload.

    Budgets are those that a repository has which says nothing of them, or those of `config`.
    """
    world = World()
    wish = Wish(world, pieces)
    world.commit({"gamekeeper.yaml": config})
    plain = partial(Nature, match_seconds=LONG, warm_up_seconds=1)
    natures = defaultdict(lambda: plain) | {
        piece.place: partial(plain, voice=piece.voice, matches=piece.matches) for piece in pieces
    }
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, natures, air, Laws.of(pieces), made) as there:
        there.start("process-0")
        rooms = sum(piece.rooms for piece in pieces)
        await there.until("a fleet", lambda: len(marks(there)) == rooms, 90.0)
        await there.until("its rooms", lambda: set(marks(there).values()) == {"idle"}, 90.0)
        for piece in pieces:
            playing = sorted(there.cast.playing(piece.place), key=lambda each: each.game.where.room)
            for actor in playing[free:]:
                assert there.cast.join(actor, 1)
        busy = rooms - free * len(pieces)
        await there.until(
            "the matches", lambda: list(marks(there).values()).count("busy") == busy, 60.0
        )
        yield there, wish
        there.judge()


def marks(there: Playhouse) -> dict[str, str]:
    """The state that each room carries, by uid: of all that are not on their way out."""
    pods = there.world.sandbox.world.store.shelves[POD].objects.values()
    return {pod.uid: pod.labels[STATE] for pod in pods if STATE in pod.labels and not pod.ending}


def full(there: Playhouse) -> set[str]:
    """The uids of the rooms in which somebody plays."""
    return {actor.uid for actor in there.cast.playing() if actor.game.players}
