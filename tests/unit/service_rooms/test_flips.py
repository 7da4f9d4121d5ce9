"""Flips: what rooms say stands on their pods, before the answer or soon."""

import asyncio

from reconciler.model.rooms import Mark
from tests.loop.virtual_time import in_virtual_time
from tests.unit.service_rooms.stage import OCCUPIED, READY, stage


def test_a_room_that_turns_busy_is_busy_on_its_pod_before_it_is_answered() -> None:
    async def main() -> None:
        async with stage() as it:
            shown = await it.say(OCCUPIED)
            assert it.label() == "busy"
            assert shown.pod.mark is Mark.BUSY
            assert shown.judged.protected

    in_virtual_time(main())


def test_the_first_word_of_an_empty_room_makes_it_idle_soon() -> None:
    async def main() -> None:
        async with stage() as it:
            shown = await it.say(READY)
            assert shown.judged.up
            await asyncio.sleep(0.5)
            assert it.label() == "idle"

    in_virtual_time(main())


def test_a_room_turns_idle_when_it_was_empty_for_five_seconds() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(OCCUPIED)
            await it.say(READY)
            await asyncio.sleep(4.9)
            assert it.label() == "busy"
            await asyncio.sleep(0.2)
            assert it.label() == "idle"

    in_virtual_time(main())
