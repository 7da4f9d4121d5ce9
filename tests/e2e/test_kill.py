"""`gamekeeper run` for real: killed at random while commits come, and two at once."""

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.ledger import Ledger, is_ready, versions
from tests.e2e.processes import Fleet, fleet, until
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

KILLS = 20
CONVERGED_SECONDS = 30.0
QUIET_SECONDS = 3.0
SURGE = {"maxSurge": 1, "maxUnavailable": 0}
IMAGES = ("registry.example/game:1", "registry.example/game:2")


def _wanted(number: int) -> tuple[int, str]:
    return 3 + number % 3, IMAGES[number // 3 % 2]


def _commit(there: Fleet, number: int) -> None:
    replicas, image = _wanted(number)
    # How long a room is left alone before it goes is the user's: each step of a roll-out takes it.
    removal = {"quietSeconds": 1}
    there.commit(schedulers__arena=spec("arena", replicas, image, rollout=SURGE, removal=removal))


def _is_converged(there: Fleet, number: int) -> bool:
    replicas, image = _wanted(number)
    pods = there.pods("arena")
    good = [
        pod
        for pod in pods
        if pod["spec"]["containers"][0]["image"] == image and is_ready(pod["status"])
    ]
    return len(pods) == len(good) == replicas


def _rest(there: Fleet, number: int) -> None:
    """Nothing is left to repair: no room comes or goes, and soon nothing is written any more."""
    until("it is at rest", lambda: _is_converged(there, number), CONVERGED_SECONDS)
    rooms = _uids(there)
    until("nothing is written any more", lambda: _is_quiet(there), CONVERGED_SECONDS)
    assert _uids(there) == rooms


def _is_quiet(there: Fleet) -> bool:
    before = versions(there)
    time.sleep(QUIET_SECONDS)
    return versions(there) == before


def _uids(there: Fleet) -> set[str]:
    return {pod["metadata"]["uid"] for pod in there.pods("arena")}


def _kill(loop: "subprocess.Popen[bytes]") -> None:
    loop.send_signal(signal.SIGKILL)
    loop.wait()


def test_run_killed_twenty_times_at_random_converges_within_30_seconds(tmp_path: Path) -> None:
    chance = random.Random(7)
    took: list[float] = []
    with fleet(tmp_path) as there:
        there.commit(gamekeeper=CONFIG)
        ledger = Ledger(there)
        for number in range(KILLS):
            loop = there.start_loop()
            if number % 4 == 3:  # the others are killed again before they are done
                took.append(_converges(there, ledger, number - 1))
            _commit(there, number)
            ends_at = time.monotonic() + chance.uniform(0.3, 2.0)
            while time.monotonic() < ends_at:
                ledger.look()
                time.sleep(0.02)
            assert loop.poll() is None, there.log()
            _kill(loop)
        there.start_loop()
        took.append(_converges(there, ledger, KILLS - 1))
        _rest(there, KILLS - 1)
        ledger.look()
    print(f"{KILLS} kills, {len(took)} restarts left alone: converged in {max(took):.1f} s at most")
    assert max(took) <= CONVERGED_SECONDS
    # Counts between 3 and 5, one more at a time.
    assert ledger.alive["arena"] <= 6


def _converges(there: Fleet, ledger: Ledger, number: int) -> float:
    """Wait for what a commit asks for; return the seconds since the restart."""
    return until(
        "it converged", lambda: ledger.look() and _is_converged(there, number), CONVERGED_SECONDS
    )


def test_two_loops_without_a_lease_make_nothing_twice_and_do_not_fight(tmp_path: Path) -> None:
    with fleet(tmp_path) as there:
        there.commit(gamekeeper=CONFIG)
        ledger = Ledger(there)
        loops = [there.start_loop("one"), there.start_loop("two")]
        for number in range(8):
            _commit(there, number)
            ends_at = time.monotonic() + 3.0
            while time.monotonic() < ends_at:
                ledger.look()
                time.sleep(0.02)
        _rest(there, 7)
        ledger.look()
        assert [loop.poll() for loop in loops] == [None, None], there.log("one")
    assert ledger.alive["arena"] <= 6
