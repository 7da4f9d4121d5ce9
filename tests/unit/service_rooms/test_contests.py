"""Two that believe they lead, and somebody with kubectl: who writes against whom, how often."""

import asyncio
import logging

import pytest
from prometheus_client import CollectorRegistry

from reconciler.model import labels
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Mark
from reconciler.service.room_metrics import RoomMetrics, RoomObserver
from reconciler.service.rooms import contests
from reconciler.service.rooms.desk import RoomDesk
from reconciler.service.rooms.lines import Line
from tests.loop.virtual_time import elapsed
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, on_stage, players

FOUGHT_SECONDS = 60.0


async def rival(
    it: Stage, observer: RoomObserver | None = None
) -> tuple[RoomDesk, asyncio.Task[None]]:
    """Begin another process that believes it leads; both see what each other writes."""
    one, two = it.desk, it.new_desk(observer)

    def changed(key: WorkloadKey, pod: LivePod) -> None:
        for desk in (one, two):
            desk.room_changed(key, pod)
            desk.book.of(key)  # as each one's lane does

    it.view.room_changed = changed
    return two, asyncio.create_task(two.run())


def counted(registry: CollectorRegistry, result: str) -> float:
    """Return how many flips the page of metrics shows, to whatever mark."""
    found = [each for family in registry.collect() for each in family.samples]
    flips = [each for each in found if each.name == "gamekeeper_room_flips_total"]
    return sum(each.value for each in flips if each.labels["result"] == result)


async def stands_busy(it: Stage, seconds: float) -> float:
    """Return the share of some time for which the room stands as busy."""
    looks = int(seconds * 100)
    busy = 0
    for _ in range(looks):
        await asyncio.sleep(0.01)
        busy += it.label() == "busy"
    return busy / looks


@pytest.mark.long
@pytest.mark.parametrize("on_change", [False, True])
def test_two_that_heard_two_things_of_a_room_write_a_few_times_a_minute(
    on_change: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(it: Stage) -> None:
        registry = CollectorRegistry()
        two, task = await rival(it, RoomMetrics(registry))
        await it.say(players(4) if on_change else OCCUPIED)
        empty = players(0) if on_change else READY
        await two.report(two.find("arena", "arena-0"), empty)
        await asyncio.sleep(6.0)
        before = len(it.patches)
        share = await stands_busy(it, FOUGHT_SECONDS)
        assert 4 < len(it.patches) - before <= 30
        assert share > 0.9, "players are protected meanwhile"
        told = [each for each in caplog.records if "sets back what we write" in each.message]
        assert 1 <= len(told) <= 2 * 2, "once a minute, by each"
        words = "another process that believes it leads"
        assert all(words in each.message for each in told)
        assert counted(registry, "contested") == 1, "once for as long as they do"
        task.cancel()
        two.forget()
        await asyncio.sleep(contests.LONGEST_BUSY_SECONDS + 0.1)
        assert it.label() == "busy"

    with caplog.at_level(logging.WARNING, "gamekeeper"):
        on_stage(act)


def test_who_heard_that_a_room_is_empty_says_so_soon_after_the_other_has_ended() -> None:
    async def act(it: Stage) -> None:
        two, task = await rival(it)
        await two.report(two.find("arena", "arena-0"), OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(40.0)
        task.cancel()
        two.forget()
        await asyncio.sleep(contests.LONGEST_SECONDS + 0.1)
        assert it.label() == "idle"

    on_stage(act)


def test_what_a_room_says_anew_is_written_at_once_in_the_midst_of_it() -> None:
    async def act(it: Stage) -> None:
        two, task = await rival(it)
        await two.report(two.find("arena", "arena-0"), OCCUPIED)
        await it.say(READY)
        for _ in range(100):
            if contests.rest_seconds(line_of(it), elapsed()) > 5.0:
                break
            await asyncio.sleep(0.5)
        else:
            raise AssertionError("nobody waits")
        await it.say(OCCUPIED)
        assert it.label() == "busy", "before the answer"
        await two.report(two.find("arena", "arena-0"), READY)
        await it.say(READY)
        await asyncio.sleep(5.0)
        assert it.label() == "busy"
        await asyncio.sleep(0.1)
        assert it.label() == "idle", "as soon as in any other room"
        task.cancel()

    on_stage(act)


def line_of(it: Stage) -> Line:
    line = it.desk.book.pages.find(it.live().uid)
    assert line is not None
    return line


def test_who_was_overtaken_unknowingly_sets_nothing_back_of_what_the_next_leader_heard() -> None:
    # A game that tells its players on change says to nobody again that they left.
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await asyncio.sleep(1.0)
        written = len(it.patches)
        it.overtaken = True
        await it.mark(Mark.IDLE, **{labels.REPORT: '{"players":0,"at":1}'})
        await it.seen()
        it.desk.book.of(line_of(it).key)
        await asyncio.sleep(30.0)
        assert (it.label(), len(it.patches)) == ("idle", written)

    on_stage(act)


def test_a_label_that_a_person_sets_back_is_written_again_at_once() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        for _ in range(3):
            await it.mark(Mark.BUSY)
            await it.seen()
            it.desk.book.of(line_of(it).key)
            await asyncio.sleep(5.1)
            assert it.label() == "idle"
            assert it.note(labels.SAFE_TO_EVICT) == "true"
            await asyncio.sleep(contests.CALM_SECONDS)
        assert len(it.patches) == 4

    on_stage(act)
