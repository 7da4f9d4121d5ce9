import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

import pytest

from reconciler.model.errors import Denied, Expired, PortError, Unavailable
from reconciler.model.refs import Followed, Json
from reconciler.ports import WatchEvent
from reconciler.service.reflector import (
    LONGEST_PAUSE_SECONDS,
    OLDER_ACCEPTED_SECONDS,
    RELIST_SECONDS,
    Reflector,
)
from tests.unit.service_views.scripted import Scripted, VirtualClock, bookmark, event, room


class Names:
    """A shelf of names."""

    def __init__(self) -> None:
        self.uids: dict[str, str] = {}

    def put(self, obj: Json) -> None:
        self.uids[obj["metadata"]["uid"]] = obj["metadata"]["name"]

    def drop(self, obj: Json) -> None:
        self.uids.pop(obj["metadata"]["uid"], None)

    def keep_only(self, uids: Collection[str], version: str = "") -> None:
        self.uids = {uid: name for uid, name in self.uids.items() if uid in uids}

    @property
    def names(self) -> set[str]:
        return set(self.uids.values())


class Stage:
    """A reflector over a script, until nothing happens any more."""

    def __init__(
        self,
        lists: list[tuple[str, Sequence[Json]] | PortError],
        *watches: Sequence[WatchEvent | PortError | None],
    ) -> None:
        self.cluster = Scripted(lists, list(watches))
        self.shelf = Names()
        self.clock = VirtualClock()
        self.reflector = Reflector(
            self.cluster,
            Followed("v1", "Pod"),
            self.shelf,
            self.clock,
            jitter=lambda: 1.0,
        )

    async def play(self, until: Callable[[], bool] = lambda: False) -> None:
        task = asyncio.create_task(self.reflector.run())
        for _ in range(500):
            await asyncio.sleep(0)
            if until() or task.done():
                break
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_it_lists_and_then_follows_from_there() -> None:
    stage = Stage(
        [("10", [room("a-1"), room("a-2")])],
        [
            bookmark(10),
            event("ADDED", room("a-3", 11)),
            event("DELETED", room("a-1", 12)),
            bookmark(20),
        ],
    )
    assert not stage.reflector.complete
    await stage.play()
    assert stage.shelf.names == {"a-2", "a-3"}
    assert stage.reflector.complete
    assert stage.cluster.asked[:2] == ["list", "watch 10"]


async def test_after_a_quiet_end_it_goes_on_from_the_last_version_seen() -> None:
    stage = Stage([("10", [])], [bookmark(10), event("ADDED", room("a-1", 11)), bookmark(20)])
    stage.cluster.watches[0] = [*stage.cluster.watches[0], None]
    stage.clock.step = 1.0
    await stage.play()
    assert stage.cluster.asked == ["list", "watch 10", "watch 20"]


async def test_a_watch_that_ends_at_once_is_not_opened_in_a_busy_loop() -> None:
    stage = Stage([("10", [])] * 50, *[[None]] * 5)
    await stage.play(lambda: len(stage.clock.slept) == 5)
    assert stage.clock.slept == [0.8, 1.6, 3.2, 6.4, 12.8]


async def test_an_expired_position_is_listed_anew_and_nothing_missed_stays() -> None:
    stage = Stage(
        [("10", [room("a-1")]), ("30", [room("a-2", 25)])],
        [bookmark(10), Expired("too old")],
    )
    await stage.play()
    assert stage.shelf.names == {"a-2"}
    assert stage.cluster.asked == ["list", "watch 10", "list", "watch 30"]
    assert stage.reflector.complete


@pytest.mark.parametrize("error", [Unavailable("down"), Denied("no"), Expired("gone")])
async def test_a_list_that_fails_leaves_the_old_view_standing_and_says_so(
    error: PortError,
) -> None:
    stage = Stage([("10", [room("a-1")]), *[error] * 10], [bookmark(10), Expired("too old")])
    await stage.play(lambda: len(stage.clock.slept) > 3)
    assert stage.shelf.names == {"a-1"}
    assert stage.reflector.synced.is_set()
    assert not stage.reflector.complete


async def test_pauses_double_up_to_their_bound_and_begin_anew_after_two_healthy_minutes() -> None:
    stage = Stage([Unavailable("down")] * 9)
    await stage.play(lambda: len(stage.clock.slept) == 8)
    assert stage.clock.slept == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, *[LONGEST_PAUSE_SECONDS] * 2]


async def test_however_often_it_fails_the_pause_stays_at_its_bound() -> None:
    times = 1100  # two to that many is beyond any float
    stage = Stage([Unavailable("down")] * (times + 1))
    while len(stage.clock.slept) < times:
        await stage.play(lambda: len(stage.clock.slept) >= times)
    assert set(stage.clock.slept[6:]) == {LONGEST_PAUSE_SECONDS}


async def test_what_the_server_asks_to_wait_is_waited() -> None:
    stage = Stage([Unavailable("later", 42.0), ("10", [])])
    await stage.play()
    assert stage.clock.slept == [42.0]


async def test_a_broken_watch_is_opened_again_where_it_was_without_a_list() -> None:
    stage = Stage(
        [("10", [])],
        [bookmark(10), event("ADDED", room("a-1", 11)), Unavailable("reset")],
        [bookmark(11), event("ADDED", room("a-2", 12))],
    )
    await stage.play()
    assert stage.cluster.asked == ["list", "watch 10", "watch 11"]
    assert stage.shelf.names == {"a-1", "a-2"}
    assert stage.reflector.complete


async def test_a_watch_that_fails_twice_without_an_event_is_listed_anew() -> None:
    stage = Stage([("10", []), ("20", [])], [Unavailable("silent")], [Unavailable("silent")])
    await stage.play()
    assert stage.cluster.asked == ["list", "watch 10", "watch 10", "list", "watch 20"]


async def test_while_a_watch_is_down_the_view_is_not_complete() -> None:
    stage = Stage([("10", [])], [bookmark(10), Unavailable("reset")], [])
    await stage.play()
    assert not stage.reflector.complete


async def test_an_answer_older_than_what_was_seen_is_not_believed() -> None:
    stage = Stage(
        [("50", [room("a-1", 50)]), ("40", []), ("60", [room("a-1", 50), room("a-2", 55)])],
        [bookmark(50), Expired("too old")],
    )
    await stage.play()
    assert stage.cluster.asked == ["list", "watch 50", "list", "list", "watch 60"]
    assert stage.shelf.names == {"a-1", "a-2"}


async def test_of_a_restored_cluster_the_older_answer_is_believed_after_a_while() -> None:
    older: list[tuple[str, Sequence[Json]] | PortError] = [("40", [room("a-9", 30)])] * 30
    stage = Stage([("50", [room("a-1", 50)]), *older], [bookmark(50), Expired("too old")])
    await stage.play()
    assert stage.shelf.names == {"a-9"}
    assert sum(stage.clock.slept) >= OLDER_ACCEPTED_SECONDS


async def test_now_and_then_everything_is_listed_anew_whatever_the_watch_says() -> None:
    stage = Stage([("10", [room("a-1")]), ("90", [])], [bookmark(10), bookmark(11)])
    stage.clock.step = RELIST_SECONDS / 2
    await stage.play(lambda: stage.reflector.synced.is_set() and not stage.shelf.names)
    assert stage.cluster.asked[:3] == ["list", "watch 10", "list"]


class Minutes(list[WatchEvent]):
    """A watch that tells one thing a minute."""

    clock: VirtualClock

    def __iter__(self) -> Iterator[WatchEvent]:
        for told in super().__iter__():
            self.clock.at += 60.0
            yield told


async def test_an_event_that_was_lost_is_known_within_five_minutes_by_a_bookmark_a_minute() -> None:
    minutes = Minutes(bookmark(20 + number) for number in range(9))
    stage = Stage([("10", [room("a-1")]), ("90", [])], minutes)
    minutes.clock, began = stage.clock, stage.clock.at
    await stage.play(lambda: stage.reflector.synced.is_set() and not stage.shelf.names)
    assert stage.shelf.names == set()
    assert 60.0 < stage.clock.at - began <= 300.0
