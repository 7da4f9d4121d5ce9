"""A leader that begins reads what it inherits once, and not each room anew."""

import asyncio
from typing import cast

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark
from reconciler.ports import LiveView
from reconciler.sandbox.faults import Fault
from reconciler.service.rooms.hindsight import Hindsight
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, on_stage
from tests.unit.service_views.scripted import NoCluster


class Server(NoCluster):
    """Says that this is the newest version, after a while."""

    version = 0
    """Of the view: it has seen nothing."""

    def __init__(self, newest: str, seconds: float = 0.0) -> None:
        self.newest = newest
        self.seconds = seconds
        self.asked = 0

    async def raw_get(self, path: str) -> Json | None:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        return {"metadata": {"resourceVersion": self.newest}}


def _count(it: Stage) -> list[Call]:
    calls: list[Call] = []
    it.transport.refuse = calls.append
    return calls


def test_a_busy_room_that_was_inherited_is_read_anew_until_the_view_has_caught_up() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.BUSY)
        await asyncio.sleep(1)
        it.desk = it.new_desk()
        calls = _count(it)
        await it.say(OCCUPIED)
        assert [call.verb for call in calls] == ["get"]

    on_stage(act)


def test_when_the_view_has_caught_up_an_inherited_room_costs_no_read() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.BUSY)
        await asyncio.sleep(3)
        calls = _count(it)
        await it.say(OCCUPIED)
        assert calls == []
        await it.say(READY)
        await asyncio.sleep(6)
        assert it.label() == "idle"

    on_stage(act)


def test_what_the_one_before_took_back_unseen_stands_again_before_a_room_is_answered() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.BUSY)
        await it.seen()
        it.desk.forget()
        it.flows.clear()
        await it.mark(Mark.IDLE)
        await asyncio.sleep(3)
        assert it.live().mark is Mark.BUSY
        await it.say(OCCUPIED)
        assert it.label() == "busy"

    on_stage(act)


def test_a_read_that_tells_of_the_past_is_not_believed_over_what_is_seen() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.BUSY)
        await it.mark(Mark.IDLE)
        await it.seen()
        it.desk.book.pages.line(a_key(), it.live()).doubtful = True
        it.world.sandbox.faults.plant(Fault(verbs=("get",), stale_revisions=1))
        await it.say(OCCUPIED)
        assert it.label() == "busy"

    on_stage(act)


def test_a_cluster_that_is_away_is_asked_in_its_own_time() -> None:
    async def act(it: Stage) -> None:
        asked = 0

        def away(call: Call) -> None:
            nonlocal asked
            asked += call.verb == "get"
            raise Unavailable("the API server is away")

        it.desk.forget()
        it.transport.refuse = away
        await asyncio.sleep(120)
        assert 3 < asked < 20

    on_stage(act)


def test_of_versions_that_are_no_numbers_nothing_is_known_to_be_seen() -> None:
    async def main() -> None:
        server = Server("not-a-number")
        hindsight = Hindsight(server, cast(LiveView, server), elapsed)
        for _ in range(3):
            await hindsight.look()
        assert not hindsight.complete
        assert server.asked == 1

    in_virtual_time(main())


def test_a_server_that_hangs_holds_up_no_sweep() -> None:
    async def main() -> None:
        server, began_at = Server("7", 3600.0), elapsed()
        await Hindsight(server, cast(LiveView, server), elapsed).look()
        assert elapsed() - began_at < 5.0

    in_virtual_time(main())
