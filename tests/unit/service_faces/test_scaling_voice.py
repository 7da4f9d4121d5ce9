"""What a person can mend is told in an Event; what lasts stands in the log once."""

import asyncio
import logging

import pytest

from reconciler.loop.landing import Landed
from reconciler.model.edits import Edit, Refusal
from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.pauses import Pause
from reconciler.model.refs import Json
from reconciler.service.events import Events
from reconciler.service.scaling_voice import ScalingVoice
from reconciler.service.scaling_voices import ScalingVoices
from tests.loop.world import Process, World, spec
from tests.unit.core.making import a_key

REFUSED = Landed(refused=(Refusal(Edit(a_key(), ("spec", "replicas"), 5), 7, "an alias"),))
BY_HAND = Pause("HumanHold", "the number was set by hand in abababababab", 9.0, 9.0)


class Room:
    """A namespace `arena`, ours, and a voice that writes Events there."""

    def __init__(self, world: World, process: Process) -> None:
        self.world = world
        events = Events(process.cluster, "main", world.time)
        self.voice = ScalingVoice(events, process.lane.store.repository_ref)

    @classmethod
    async def make(cls) -> "Room":
        world = World()
        world.commit({"schedulers/arena.yaml": spec("arena", 1)})
        process = await world.process()
        await world.settle(process)
        return cls(world, process)

    async def events(self, namespace: str) -> list[Json]:
        await asyncio.sleep(0.02)
        found = self.world.objects(f"/api/v1/namespaces/{namespace}/events")
        reasons = ("HumanHold", "CountNotCommitted", "CountsNotCommitted")
        return [event for event in found if event["reason"] in reasons]


async def test_a_persons_hold_is_told_on_the_namespace_of_the_workload() -> None:
    room = await Room.make()
    room.voice.paused(a_key(), BY_HAND)
    (event,) = await room.events("arena")
    assert (event["reason"], event["type"]) == ("HumanHold", "Normal")
    assert event["message"] == f"the policy waits: {BY_HAND.message}"
    assert event["involvedObject"]["kind"] == "Namespace"


async def test_an_edit_that_is_refused_is_told_once_and_again_while_it_lasts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = await Room.make()
    with caplog.at_level(logging.WARNING, "gamekeeper"):
        for _ in range(3):
            room.voice.landed(REFUSED)
            assert len(await room.events("arena")) == 1
        room.world.time.at += 300
        room.voice.landed(REFUSED)
    events = await room.events("arena")
    assert {event["message"] for event in events} == {
        "a count cannot be committed: line 7: an alias"
    }
    assert len(events) == 2
    assert len([each for each in caplog.records if "an alias" in each.getMessage()]) == 1


async def test_an_edit_that_is_refused_anew_after_a_person_mended_it_is_told_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = await Room.make()
    with caplog.at_level(logging.WARNING, "gamekeeper"):
        for landed in (REFUSED, Landed("ab" * 20), REFUSED):
            room.voice.landed(landed)
    assert len([each for each in caplog.records if "an alias" in each.getMessage()]) == 2


async def test_a_branch_that_takes_nothing_is_told_on_our_own_record() -> None:
    room = await Room.make()
    room.voice.unlanded(Denied("the host says: changes go through merge requests"))
    (event,) = await room.events("gamekeeper")
    assert event["reason"] == "CountsNotCommitted"
    assert "merge requests" in event["message"]
    assert event["involvedObject"]["kind"] == "ConfigMap"


async def test_a_host_that_is_down_is_no_event_for_it_comes_back_by_itself() -> None:
    room = await Room.make()
    room.voice.unlanded(Unavailable("no route to host"))
    assert await room.events("gamekeeper") == []
    room.voice.paused(a_key(), Pause("PolicyHold", "the signal is old", 9.0, 9.0))
    room.voice.paused(a_key(), None)
    assert await room.events("arena") == []


def test_a_trouble_that_comes_again_after_nothing_waited_is_logged_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    voice = ScalingVoice()
    for _ in range(2):
        voice.unlanded(Unavailable("no route to host"))
        voice.unlanded(Unavailable("no route to host"))
        voice.landed(Landed())
    assert caplog.text.count("no route to host") == 2


class Broken(ScalingVoice):
    """Fails at what it is told."""

    def unlanded(self, error: PortError) -> None:
        """Fail."""
        raise OSError("a pipe is full")


def test_a_voice_that_fails_ends_nothing_and_the_others_hear(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ScalingVoices([Broken(), ScalingVoice()]).unlanded(Unavailable("the host is away"))
    assert "a pipe is full" in caplog.text
    assert "not committed yet: the host is away" in caplog.text
