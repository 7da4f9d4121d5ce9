"""Others are asked at their own pace, few at once; a slow host holds up its own askers alone."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Literal

import pytest

from reconciler.core.policies.policy import Ask
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Bounds, Signal
from reconciler.service.signal_voice import SignalVoice
from reconciler.service.signals import MOST_AT_ONCE_A_HOST, SignalObserver, Signals
from tests.loop.scaling.outsiders import Outsiders, Silence
from tests.loop.virtual_time import LoopTime, elapsed, in_virtual_time
from tests.unit.core.policies.looks import a_load

LOAD, BOUNDS = a_load(ready=3), Bounds(1, 9)


def key(number: int) -> WorkloadKey:
    return WorkloadKey("Scheduler", f"w{number}", f"w{number}")


def webhook(host: str, every_seconds: float = 30.0) -> Ask:
    url = f"https://{host}/x"
    return Ask(f"webhook {url}", "webhook", url, every_seconds=every_seconds)


class Stage:
    """Signals that run, and who is told of new answers."""

    def __init__(self, observer: SignalObserver | None = None) -> None:
        self.outsiders = Outsiders()
        self.silence = Silence()
        self.signals = Signals(self.outsiders, LoopTime(), observer or self.silence)
        self.woken: list[tuple[float, WorkloadKey]] = []
        self.leads = True

    def wake(self, keys: Iterable[WorkloadKey]) -> None:
        self.woken += [(elapsed(), one) for one in keys]

    async def play(self, scene: Any) -> None:
        running = asyncio.create_task(self.signals.run(lambda: self.leads, self.wake))
        try:
            await scene(self)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        assert self.outsiders.closed
        assert self.outsiders.at_once == 0


def test_an_answer_wakes_its_workload_only_where_it_says_something_new() -> None:
    async def scene(stage: Stage) -> None:
        stage.outsiders.tells = lambda asked, now: Signal(now, {"replicas": 4, "id": now})
        assert stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS) == {}
        await asyncio.sleep(100.0)
        assert len(stage.outsiders.asked) == 4
        assert [one for _, one in stage.woken] == [key(1)]
        stage.outsiders.tells = lambda asked, now: Signal(now, {"replicas": 5})
        await asyncio.sleep(30.0)
        assert len(stage.woken) == 2
        told = stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS)
        assert told["webhook https://a/x"].value == {"replicas": 5, "reason": ""}

    in_virtual_time(Stage().play(scene))


class Deaf(Silence):
    """Fails at what it is told."""

    def told(self, key: WorkloadKey, ask: Ask, signal: Signal) -> None:
        """Fail."""
        raise ValueError("a pipe is full")


def test_who_fails_to_hear_an_answer_ends_no_asking(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(stage: Stage) -> None:
        stage.outsiders.tells = lambda asked, now: Signal(now, {"replicas": int(now) % 7})
        stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS)
        await asyncio.sleep(100.0)
        assert len(stage.outsiders.asked) == 4
        assert "a pipe is full" in caplog.text

    in_virtual_time(Stage(Deaf()).play(scene))


def test_the_last_answer_stays_with_the_trouble_since() -> None:
    async def scene(stage: Stage) -> None:
        stage.outsiders.tells = lambda asked, now: Signal(now, {"replicas": 4})
        stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS)
        await asyncio.sleep(1.0)
        stage.outsiders.tells = lambda asked, now: Signal(now, trouble="busy")
        await asyncio.sleep(60.0)
        (told,) = stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS).values()
        assert (told.value, told.trouble) == ({"replicas": 4, "reason": ""}, "busy")
        assert len(stage.woken) == 2

    in_virtual_time(Stage().play(scene))


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        pytest.param("metric", 40.0, -3.0, id="a negative number"),
        pytest.param("webhook", {"replicas": 4}, {"replicas": -3}, id="a negative count"),
        pytest.param("webhook", {"replicas": 4}, {"reason": "a cup"}, id="no count"),
    ],
)
def test_an_answer_that_counts_no_rooms_is_trouble_until_there_is_a_better_one(
    caplog: pytest.LogCaptureFixture, kind: Literal["webhook", "metric"], good: Any, bad: Any
) -> None:
    def tells(value: Any) -> Callable[[Any, float], Signal]:
        return lambda asked, now: Signal(now, value)

    async def scene(stage: Stage) -> None:
        stage.outsiders.tells = lambda asked, now: Signal(now, trouble="busy")
        ask = Ask("it", kind, "https://a/x")
        stage.signals.of(key(1), [ask], LOAD, BOUNDS)
        for value in (bad, bad, good, bad):
            await asyncio.sleep(30.0)
            stage.outsiders.tells = tells(value)
        await asyncio.sleep(5.0)
        (told,) = stage.signals.of(key(1), [ask], LOAD, BOUNDS).values()
        assert told.value is not None
        assert told.trouble != ""
        stage.outsiders.tells = tells(good)
        await asyncio.sleep(30.0)

    caplog.set_level(logging.INFO, "gamekeeper")
    in_virtual_time(Stage(SignalVoice()).play(scene))
    words = [record.message.partition(": ")[0] for record in caplog.records]
    lost, back = f"the {kind} told nothing to count by", f"the {kind} answers again"
    assert words == [lost, lost, back, lost, back]


def test_a_slow_host_has_few_asking_it_and_holds_up_no_other() -> None:
    async def scene(stage: Stage) -> None:
        stage.outsiders.seconds = 5.0
        for number in range(90):
            stage.signals.of(key(number), [webhook("slow")], LOAD, BOUNDS)
        stage.signals.of(key(90), [webhook("other")], LOAD, BOUNDS)
        await asyncio.sleep(6.0)
        assert stage.outsiders.most_at_once["https://slow/x"] <= MOST_AT_ONCE_A_HOST + 1
        assert any(what == "https://other/x" for _, what in stage.outsiders.asked)
        assert stage.woken.count((5.0, key(90))) == 1

    in_virtual_time(Stage().play(scene))


def test_many_hosts_are_not_asked_all_at_once() -> None:
    async def scene(stage: Stage) -> None:
        stage.outsiders.seconds = 5.0
        for number in range(200):
            stage.signals.of(key(number), [webhook(f"h{number}")], LOAD, BOUNDS)
        await asyncio.sleep(1.0)
        assert stage.outsiders.at_once == 64

    in_virtual_time(Stage().play(scene))


def test_one_thing_is_asked_once_and_as_often_as_the_most_impatient_wants() -> None:
    async def scene(stage: Stage) -> None:
        asks = [webhook("a", 60.0), webhook("a", 10.0)]
        stage.signals.of(key(1), asks, LOAD, BOUNDS)
        await asyncio.sleep(29.0)
        assert len(stage.outsiders.asked) == 3

    in_virtual_time(Stage().play(scene))


def test_what_is_asked_no_more_is_forgotten_in_the_middle_of_a_question() -> None:
    async def scene(stage: Stage) -> None:
        stage.outsiders.seconds = 5.0
        stage.signals.of(key(1), [webhook("a"), webhook("b")], LOAD, BOUNDS)
        await asyncio.sleep(1.0)
        stage.signals.of(key(1), [webhook("b")], LOAD, BOUNDS)
        await asyncio.sleep(1.0)
        assert stage.outsiders.at_once == 1
        stage.signals.forget(key(1))
        await asyncio.sleep(1.0)
        assert stage.outsiders.at_once == 0
        await asyncio.sleep(100.0)
        assert len(stage.outsiders.asked) == 2
        assert stage.woken == []

    in_virtual_time(Stage().play(scene))


def test_who_does_not_lead_asks_nobody() -> None:
    async def scene(stage: Stage) -> None:
        stage.leads = False
        stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS)
        await asyncio.sleep(60.0)
        assert stage.outsiders.asked == []
        stage.leads = True
        await asyncio.sleep(2.0)
        assert len(stage.outsiders.asked) == 1

    in_virtual_time(Stage().play(scene))


def test_the_question_holds_what_was_looked_at_last() -> None:
    async def scene(stage: Stage) -> None:
        stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS)
        await asyncio.sleep(1.0)
        stage.signals.of(key(1), [webhook("a")], a_load(ready=7), Bounds(2, 50))
        await asyncio.sleep(35.0)
        first, second = stage.outsiders.bodies
        assert (first["replicas"], second["replicas"]) == (3, 7)
        assert second["bounds"] == {"min": 2, "max": 50}

    in_virtual_time(Stage().play(scene))


def test_a_defect_is_trouble_and_ends_nothing() -> None:
    async def scene(stage: Stage) -> None:
        def broken(asked: Any, now: float) -> Signal:
            raise ZeroDivisionError

        stage.outsiders.tells = broken
        stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS)
        await asyncio.sleep(1.0)
        assert "ZeroDivisionError" in stage.silence.heard[0].trouble
        stage.outsiders.tells = lambda asked, now: Signal(now, {"replicas": 4})
        await asyncio.sleep(35.0)
        (told,) = stage.signals.of(key(1), [webhook("a")], LOAD, BOUNDS).values()
        assert told.value == {"replicas": 4, "reason": ""}

    in_virtual_time(Stage().play(scene))
