"""Counts follow what others tell; what they do not tell moves no room."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reconciler.model.scaling import Signal
from tests.loop.scaling.house import FILE, scene
from tests.loop.scaling.outsiders import AskingScene, AskingService, lost, number
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import START, spec

METRIC = {"metric": {"query": "sum(queue)", "targetPerRoom": 10}}
AGONES = {"webhook": {"url": "https://scaler.example.com/arena", "form": "agones"}}
HOUR = 3600.0


def asking(policy: dict[str, Any], **more: Any) -> str:
    autoscaling = {"min": 1, "max": 20, "policy": policy, **more}
    return spec("arena", 2, autoscaling=autoscaling)


@asynccontextmanager
async def asking_scene(
    policy: dict[str, Any], tells: Callable[[Any, float], Signal], **more: Any
) -> AsyncIterator[AskingScene]:
    async with scene(asking(policy, **more), made=AskingScene) as there:
        assert isinstance(there, AskingScene)
        there.tells = tells
        yield there


def test_a_metric_moves_a_count_and_git_follows() -> None:
    async def main() -> None:
        async with asking_scene(METRIC, number(60.0)) as there:
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 60.0)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 90.0)
            there.tells = number(95.0)
            await there.until("ten rooms", lambda: there.rooms() == 10, 45.0)

    in_virtual_time(main())


def test_how_soon_a_count_follows_an_answer_is_measured() -> None:
    async def main() -> None:
        async with asking_scene(
            METRIC, number(60.0), scaleDown={"stabilizationSeconds": 0}
        ) as there:
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 150.0)
            (ledger,) = there.ledgers
            assert [stage for stage, _ in ledger.reactions] == ["decided", "recorded", "requested"]
            there.tells = number(30.0)
            await there.until("three rooms", lambda: there.rooms() == 3, 1500.0)
            stages = [stage for stage, _ in ledger.reactions]
            assert stages[3:6] == ["decided", "recorded", "requested"], "the way down, too"
            seconds = [seconds for _, seconds in ledger.reactions]
            assert 0.0 < seconds[0] < seconds[1] < seconds[2] < 0.25

    in_virtual_time(main())


LOST = {
    "nobody answers": lost(),
    "the time of the answers stands still": lambda asked, now: Signal(START + 300.0, 10.0),
}


@pytest.mark.long
@pytest.mark.parametrize("how", LOST)
def test_a_signal_lost_for_an_hour_takes_no_room_and_comes_back(how: str) -> None:
    async def main() -> None:
        async with asking_scene(METRIC, number(100.0)) as there:
            there.start("one")
            await there.until("ten rooms", lambda: there.rooms() == 10, 90.0)
            await asyncio.sleep(400.0)
            there.tells = LOST[how]
            await asyncio.sleep(HOUR)
            assert (there.rooms(), there.counts()) == (10, [10])
            there.tells = number(120.0)
            await there.until("twelve rooms", lambda: there.rooms() == 12, 60.0)
            there.tells = number(90.0)
            await there.until("nine rooms", lambda: there.rooms() == 9, 1200.0)

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize(
    ("policy", "answer"),
    [
        pytest.param(METRIC, lambda count: 10.0 * count, id="a metric"),
        pytest.param(
            {"webhook": {"url": "https://scaler.example.com/arena"}},
            lambda count: {"replicas": count},
            id="a webhook",
        ),
    ],
)
def test_who_answers_too_late_for_three_hours_costs_no_room_and_is_asked_once_at_a_time(
    policy: dict[str, Any], answer: Callable[[int], Any]
) -> None:
    async def main() -> None:
        async with asking_scene(policy, lambda asked, now: Signal(now, answer(10))) as there:
            service = there.start("one")
            assert isinstance(service, AskingService)
            outsiders, (ledger,) = service.outsiders, there.ledgers
            await there.until("ten rooms", lambda: there.rooms() == 10, 90.0)
            outsiders.seconds, before = 5.0, len(outsiders.asked)
            there.tells = lost("it did not answer within 5 s")
            await asyncio.sleep(3 * HOUR)
            assert (there.rooms(), there.counts(), there.count_in_git()) == (10, [10], 10)
            assert set(outsiders.most_at_once.values()) == {1}
            assert len(outsiders.asked) - before <= 3 * HOUR / 30.0
            paused = ledger.pauses[-1][1]
            assert paused is not None
            assert "did not answer within 5 s" in str(paused)
            outsiders.seconds = 0.05
            there.tells = lambda asked, now: Signal(now, answer(12))
            await there.until("twelve rooms", lambda: there.rooms() == 12, 60.0)
            assert ledger.pauses[-1][1] is None

    in_virtual_time(main())


@pytest.mark.long
def test_a_signal_lost_amid_a_scale_in_takes_no_further_room() -> None:
    async def main() -> None:
        slow = {"scaleDown": {"stabilizationSeconds": 0, "step": 1, "cooldownSeconds": 40}}
        async with asking_scene(METRIC, number(200.0), **slow) as there:
            there.start("one")
            await there.until("twenty rooms", lambda: there.rooms() == 20, 90.0)
            await asyncio.sleep(60.0)
            there.tells = number(10.0)
            await there.until("one fewer", lambda: there.counts()[-1] == 19, 240.0)
            there.tells = lost()
            await asyncio.sleep(1200.0)
            assert there.counts()[-1] == 19, "not even by the answer that was young still"

    in_virtual_time(main())


def test_one_lost_answer_hinders_no_growth() -> None:
    async def main() -> None:
        told = iter([Signal(START, trouble="busy")])

        def sometimes(asked: Any, now: float) -> Signal:
            return next(told, Signal(now, 90.0))

        async with asking_scene(METRIC, number(50.0)) as there:
            there.start("one")
            await there.until("five rooms", lambda: there.rooms() == 5, 90.0)
            there.tells = sometimes
            await there.until("nine rooms", lambda: there.rooms() == 9, 75.0)

    in_virtual_time(main())


def test_a_level_is_multiplied_once_however_often_rooms_are_looked_at() -> None:
    async def main() -> None:
        level = {"metric": {"query": "avg(load)", "target": 0.5, "everySeconds": 60}}
        told = iter([0.5, 0.75])

        def of_each_minute(asked: Any, now: float) -> Signal:
            return Signal(now, next(told, 0.5))

        async with asking_scene(level, of_each_minute) as there:
            there.world.commit({FILE: asking(level).replace("replicas: 2", "replicas: 10")})
            there.start("one")
            await there.until("ten rooms", lambda: there.rooms() == 10, 55.0)
            await asyncio.sleep(300.0)
            assert there.counts() == [15], "half as many again, once"

    in_virtual_time(main())


@pytest.mark.parametrize("echoes", [True, False], ids=["its uid comes back", "another uid"])
def test_agones_webhooks_are_asked_in_their_form(echoes: bool) -> None:
    def answer(review: Any, now: float) -> Signal:
        request = review["request"]
        uid = request["uid"] if echoes else "another"
        wanted = {"uid": uid, "scale": True, "replicas": request["status"]["replicas"] + 1}
        return Signal(now, {"request": request, "response": wanted})

    async def main() -> None:
        async with asking_scene(AGONES, answer) as there:
            service = there.start("one")
            assert isinstance(service, AskingService)
            await asyncio.sleep(200.0)
            reviews = [body["request"] for body in service.outsiders.bodies]
            assert len({review["uid"] for review in reviews}) == len(reviews) >= 6
            assert reviews[-1]["namespace"] == reviews[-1]["name"] == "arena"
            if echoes:
                assert reviews[-1]["status"]["readyReplicas"] > 2
                assert there.rooms() > 4
            else:
                assert there.counts() == []

    in_virtual_time(main())


def test_who_asks_no_more_is_not_asked_for() -> None:
    async def main() -> None:
        async with asking_scene(METRIC, number(60.0)) as there:
            service = there.start("one")
            assert isinstance(service, AskingService)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)
            off = asking(METRIC, enabled=False).replace("replicas: 2", "replicas: 6")
            there.world.commit({FILE: off})
            await asyncio.sleep(120.0)
            asked = len(service.outsiders.asked)
            await asyncio.sleep(600.0)
            assert len(service.outsiders.asked) == asked

    in_virtual_time(main())


def test_only_who_leads_asks() -> None:
    async def main() -> None:
        async with asking_scene(METRIC, number(60.0)) as there:
            first = there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 90.0)
            second = there.start("two")
            assert isinstance(first, AskingService)
            assert isinstance(second, AskingService)
            await asyncio.sleep(120.0)
            assert second.outsiders.asked == []
            await first.kill()
            assert first.outsiders.closed
            there.tells = number(80.0)
            await there.until("eight rooms", lambda: there.rooms() == 8, 120.0)

    in_virtual_time(main())
