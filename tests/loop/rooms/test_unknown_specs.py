"""The record of a workload is lost or cannot be read, and what Git says of it is held.

Nobody knows its spec for as long as that stands, and matches begin and end in its rooms all the
same: who begins to play is protected at once, and what a person approved goes on.
"""

import asyncio
from collections.abc import Callable

import pytest

from tests.loop.rooms.cast import Actor
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.matches import PIECES, in_match, marks
from tests.loop.rooms.mishaps import REFUSED, evict
from tests.loop.rooms.wishes import Wish
from tests.loop.virtual_time import in_virtual_time

RECORD = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main-local-{kind}-{space}.{name}"
REPOSITORY = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main"
FREE = 2


def record_of(name: str) -> str:
    piece = next(each for each in PIECES if each.name == name)
    kind = "fleet" if piece.namespace else "scheduler"
    return RECORD.format(kind=kind, space=piece.place, name=name)


def lost(there: Playhouse, name: str) -> None:
    there.world.delete(record_of(name))


def unreadable(there: Playhouse, name: str) -> None:
    data = there.world.ask(record_of(name))["data"]
    there.world.patch(record_of(name), {"data": dict.fromkeys(data, "{")})


def another_image(wish: Wish, name: str) -> None:
    wish.change(name, 5, 2)


def removed(wish: Wish, name: str) -> None:
    wish.change(name, 0, 1)


def mistaken(wish: Wish, name: str) -> None:
    wish.world.commit({wish.pieces[name].file: "a: [\n"})


def as_it_was(wish: Wish, name: str) -> None:
    """Git says what it said."""


WAYS: dict[str, tuple[Callable[[Playhouse, str], None], Callable[[Wish, str], None]]] = {
    "lost, another image": (lost, another_image),
    "lost, removed": (lost, removed),
    "lost, a mistake": (lost, mistaken),
    "unreadable": (unreadable, as_it_was),
}


async def held(there: Playhouse, wish: Wish, name: str, way: str) -> None:
    """Stop who leads, do that to its record and its spec, and let another one lead."""
    await there.services[-1].stop()
    lose, commit = WAYS[way]
    lose(there, name)
    commit(wish, name)
    there.start("process-1")
    await asyncio.sleep(60.0)
    assert there.leader is not None
    assert not any(key.name == name for key in there.leader.lane.wanted.effective)


def at(there: Playhouse, wish: Wish, name: str) -> list[Actor]:
    """The rooms of a workload that run."""
    return list(there.cast.playing(wish.pieces[name].place))


@pytest.mark.parametrize("name", ["arena", "lobby", "duel"])
@pytest.mark.parametrize("way", WAYS)
def test_who_begins_to_play_is_protected(name: str, way: str) -> None:
    async def main() -> None:
        async with in_match(free=FREE) as (there, wish):
            await held(there, wish, name, way)
            actor = next(each for each in at(there, wish, name) if not each.game.players)
            assert marks(there)[actor.uid] == "idle"
            assert there.cast.join(actor, 1)
            await there.until("it is busy", lambda: marks(there)[actor.uid] == "busy", 30.0)
            room = f"{wish.pieces[name].place}/{actor.game.where.room}"
            assert evict(there, room) == REFUSED
            await asyncio.sleep(600.0)
            assert marks(there)[actor.uid] == "busy"

    in_virtual_time(main())


@pytest.mark.parametrize("name", ["arena", "lobby", "duel"])
def test_what_left_git_goes_once_that_is_approved_and_its_matches_are_over(name: str) -> None:
    async def main() -> None:
        async with in_match(free=FREE) as (there, wish):
            await held(there, wish, name, "lost, removed")
            assert there.leader is not None
            for hold in there.leader.lane.wanted.holds:
                if hold.key is not None and hold.key.name == name:
                    there.world.approve(hold.change_hash)
            there.changed()
            rooms = wish.pieces[name].rooms - FREE
            await there.until(
                "who is free goes", lambda: len(at(there, wish, name)) == rooms, 600.0
            )
            await asyncio.sleep(60.0)
            assert len(at(there, wish, name)) == rooms, "in those matches run"
            there.cast.end_all()
            await there.until("all go", lambda: not at(there, wish, name), 600.0)

    in_virtual_time(main())


@pytest.mark.parametrize("name", ["arena", "lobby", "duel"])
def test_who_plays_is_protected_though_nobody_can_read_what_was_accepted(name: str) -> None:
    """The repository's record is of a newer version, say: nothing is wanted until it is mended."""

    async def main() -> None:
        async with in_match(free=FREE) as (there, wish):
            await there.services[-1].stop()
            kept = there.world.ask(REPOSITORY)["data"]
            there.world.patch(REPOSITORY, {"data": {**kept, "schema": "99"}})
            there.start("process-1")
            await asyncio.sleep(60.0)
            actor = next(each for each in at(there, wish, name) if not each.game.players)
            assert there.cast.join(actor, 1)
            await there.until("it is busy", lambda: marks(there)[actor.uid] == "busy", 30.0)
            assert evict(there, f"{wish.pieces[name].place}/{actor.game.where.room}") == REFUSED
            await asyncio.sleep(300.0)
            there.world.patch(REPOSITORY, {"data": kept})
            wish.change(name, wish.pieces[name].rooms + 1, 1)
            more = wish.pieces[name].rooms + 1
            await there.until("it goes on", lambda: len(at(there, wish, name)) == more, 120.0)

    in_virtual_time(main())
