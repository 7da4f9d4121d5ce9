"""What is let through is said once, with who did it: in the log and in an Event."""

import asyncio
import logging

import pytest

from reconciler.model.records import Approved
from reconciler.model.wanted import Wanted
from reconciler.service.events import Events
from reconciler.service.voice import LogVoice
from tests.loop.world import World, spec

ENTRY = Approved(
    "a cluster Scheduler arena/arena scale-in to=2", 9.0, "bea@example.test in commit c2"
)
SAID = f"{ENTRY.line} is approved by {ENTRY.by}"


async def test_an_approval_is_said_once_with_who_gave_it(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await world.settle(process)
    voice = LogVoice(Events(process.cluster, "main", world.time))
    with caplog.at_level(logging.INFO, "gamekeeper"):
        for _ in range(2):
            voice.looked(Wanted("c2", approved=(ENTRY,)), None, 0.1)
            await asyncio.sleep(0.01)
    assert [record.getMessage() for record in caplog.records].count(SAID) == 1
    events = world.objects("/api/v1/namespaces/arena/events")
    told = [(event["type"], event["message"]) for event in events if event["reason"] == "Approved"]
    assert told == [("Normal", SAID)]
