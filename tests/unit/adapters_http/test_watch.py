"""The watch: all rooms first, whatever was seen before; then what changes; then signs of life."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from reconciler.adapters.http import watching
from reconciler.model.refs import WorkloadKey
from reconciler.room_ports import Change, Happening
from tests.loop.virtual_time import in_virtual_time
from tests.unit.adapters_http.office import ADMIN, ARENA, NOW, Desk, Office, whole


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


async def test_a_watch_begins_with_all_rooms_and_goes_on_with_changes(office: Office) -> None:
    room = office.desk.known["arena", "arena-7"]
    goal = Happening("room", "goal", {"by": "p1"}, NOW)
    office.desk.coming = [
        Change("room", room),
        Change("event", room, goal),
        Change("gone", room),
    ]
    answer = await office.ask("GET", "/v1/watch", token=ADMIN, headers={"last-event-id": "77"})
    seen = events(await whole(answer))

    assert answer.endless
    assert [name for name, _ in seen] == [
        *["room"] * 3,
        "listed",
        "room",
        "event",
        "gone",
    ]
    assert seen[3][1] == {"rooms": 3}
    assert (seen[5][1]["room"], seen[5][1]["name"]) == ("arena-7", "goal")
    assert seen[6][1] == {"namespace": "arena", "name": "arena-7", "uid": "uid-arena-7"}


async def test_one_workload_alone_is_watched(office: Office) -> None:
    answer = await office.ask("GET", "/v1/watch?workload=Scheduler/arena/arena", token=ADMIN)
    seen = events(await whole(answer))

    assert [shown["name"] for name, shown in seen if name == "room"] == ["arena-7", "arena-8"]


class Quiet(Desk):
    """A desk at which nothing happens, and where one can see who still waits."""

    async def changes(self, workload: WorkloadKey | None = None) -> AsyncIterator[Change]:
        self.waiting += 1
        try:
            await asyncio.Event().wait()
            yield Change("room", self.known["arena", "arena-7"])
        finally:
            self.waiting -= 1


def test_a_quiet_watch_shows_signs_of_life_and_leaves_nothing_behind() -> None:
    async def watched() -> None:
        office = Office(Quiet)
        answer = await office.ask("GET", "/v1/watch", token=ADMIN)
        assert answer.stream is not None
        begun = asyncio.get_running_loop().time()
        pieces = []
        async for piece in answer.stream:
            pieces.append(piece)
            if pieces.count(b": still here\n\n") == 3:
                break
        await answer.stream.aclose()

        passed = asyncio.get_running_loop().time() - begun
        assert 3 * watching.HEARTBEAT_SECONDS <= passed < 4 * watching.HEARTBEAT_SECONDS
        assert office.desk.waiting == 0

    in_virtual_time(watched())


class Racing(Desk):
    """A desk where a room changes while the list is written: it is told to who follows already."""

    followed = False

    async def changes(self, workload: WorkloadKey | None = None) -> AsyncIterator[Change]:
        self.followed = True
        yield Change("gone", self.known["arena", "arena-8"])

    def rooms(self, workload: WorkloadKey | None = None) -> list[Any]:
        assert self.followed, "listed before it is followed: a change in between is lost"
        return [self.known["arena", "arena-7"]] if workload == ARENA else []


async def test_changes_are_followed_before_rooms_are_listed() -> None:
    answer = await Office(Racing).ask("GET", "/v1/watch", token=ADMIN)

    assert [name for name, _ in events(await whole(answer))] == ["room", "listed", "gone"]


async def test_more_than_so_many_do_not_watch_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "WATCHES", 1)
    office = Office(Quiet)
    first = await office.ask("GET", "/v1/watch", token=ADMIN)
    assert first.stream is not None
    await anext(first.stream)
    second = await office.ask("GET", "/v1/watch", token=ADMIN)
    await first.stream.aclose()
    third = await office.ask("GET", "/v1/watch", token=ADMIN)

    assert (second.status, third.status) == (503, 200)
    assert second.headers["Retry-After"] == "15"
