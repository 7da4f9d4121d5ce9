import asyncio
from dataclasses import dataclass

from reconciler.model.errors import Unavailable
from reconciler.service.head_lane import LONGEST_SECONDS
from reconciler.service.health import DEAD_SECONDS, Health, keep_beating


@dataclass
class Watch:
    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


def beating(watch: Watch, health: Health, seconds: int) -> None:
    for _ in range(seconds):
        watch.seconds += 1
        health.beat()


def test_a_lane_that_comes_round_is_healthy() -> None:
    watch = Watch()
    health = Health(watch)
    health.expect("local", lambda: 10.0, lambda: True)
    for _ in range(100):
        beating(watch, health, 10)
        health.passed("local", 1, 0.1)
    assert health.problem() == ""


def test_a_lane_that_stops_is_told_after_three_intervals_and_the_grace() -> None:
    watch = Watch()
    health = Health(watch)
    health.expect("local", lambda: 10.0, lambda: True)
    beating(watch, health, 60)
    assert health.problem() == ""
    beating(watch, health, 1)
    assert health.problem() == "local has not come round for 61 s, 60 s are allowed"


def test_a_standby_may_stand_still_and_counts_from_when_it_leads() -> None:
    watch = Watch()
    health = Health(watch)
    leading = False
    health.expect("local", lambda: 10.0, lambda: leading)
    beating(watch, health, 1000)
    assert health.problem() == ""
    leading = True
    beating(watch, health, 60)
    assert health.problem() == ""
    beating(watch, health, 1)
    assert "local" in health.problem()


def test_git_being_down_is_no_reason_for_a_restart() -> None:
    watch = Watch()
    health = Health(watch)
    health.expect("repository", lambda: 10.0, lambda: True)
    for _ in range(5):
        health.blind(Unavailable("git is down"))
        beating(watch, health, int(LONGEST_SECONDS) + 60)
        assert health.problem() == ""
    beating(watch, health, int(LONGEST_SECONDS))
    assert "repository" in health.problem()


def test_an_event_loop_that_no_longer_turns_is_told() -> None:
    watch = Watch()
    health = Health(watch)
    watch.seconds += DEAD_SECONDS + 1
    assert "heartbeat" in health.problem()


async def test_the_probe_sees_a_block_of_the_event_loop() -> None:
    loop = asyncio.get_running_loop()
    lags: list[float] = []
    health = Health(loop.time)
    task = asyncio.create_task(keep_beating(health, lags.append, loop.time))
    await asyncio.sleep(0.1)
    before = loop.time()
    while loop.time() < before + 0.3:
        pass
    await asyncio.sleep(0.3)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert max(lags) > 0.1
