"""What is let through, or changed by others, is said once: in the log and in an Event."""

import asyncio
import logging
from dataclasses import replace

import pytest

from reconciler.model.errors import Unavailable
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Counts, Plan
from reconciler.model.records import Approved
from reconciler.model.refs import WorkloadKey
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


async def test_a_head_that_is_held_whole_is_not_taken_in_and_trouble_is_said_to_be_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    voice, held = LogVoice(), Hold(HoldKind.CONFIG, None, "gamekeeper.yaml is missing")
    with caplog.at_level(logging.INFO, "gamekeeper"):
        voice.looked(Wanted("c1"), None, 0.1)
        for _ in range(2):
            voice.blind(Unavailable("the host does not answer"))
        for _ in range(2):
            voice.looked(Wanted("c2", holds=(held,)), None, 0.1)
        voice.looked(Wanted("c2"), None, 0.1)
    assert [record.getMessage() for record in caplog.records] == [
        "commit taken in",
        "what was accepted stays wanted: the host does not answer",
        "over: the host does not answer",
        "commit read: nothing of it acts",
        "held: gamekeeper.yaml is missing",
        "commit taken in",
        "no longer held",
    ]


async def test_what_somebody_changed_is_said_once_for_each_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await world.settle(process)
    voice, key = (
        LogVoice(Events(process.cluster, "main", world.time)),
        WorkloadKey("S", "arena", "a"),
    )
    calm = Plan(key, Counts())
    changed = replace(calm, holds=(Hold(HoldKind.DRIFTED, key, "somebody changed it"),))
    with caplog.at_level(logging.INFO, "gamekeeper"):
        for plan in (calm, changed, changed, calm, changed):
            voice.planned("local", plan)
            await asyncio.sleep(0.01)
    said = [record.getMessage() for record in caplog.records]
    assert said.count("held: somebody changed it") == 2
    events = world.objects("/api/v1/namespaces/arena/events")
    told = [event["message"] for event in events if event["reason"] == "HeldDrifted"]
    assert told == ["somebody changed it"], "Events of one reason are five minutes apart"


async def test_what_stands_in_the_way_is_said_once_however_often_it_is_asked_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    world.create("/api/v1/namespaces", {"metadata": {"name": "arena"}})
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    voice, asked = LogVoice(), 0
    with caplog.at_level(logging.INFO, "gamekeeper"):
        for _ in range(16):
            report = await process.turn()
            asked += sum(bool(item.holds) for item in report.settled)
            voice.settled(report)
            world.pass_time(2.0)
    assert asked > 2
    (said,) = [each for each in caplog.records if each.getMessage().startswith("held: ")]
    assert said.getMessage().startswith("held: Namespace arena exists and is not ours")
    assert vars(said)["fields"] == {"workload": "Scheduler/arena", "hold": HoldKind.FOREIGN}
