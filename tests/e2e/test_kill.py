"""`gamekeeper run` for real: killed at random while commits come, and two at once."""

import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

from tests.e2e.processes import Fleet, fleet, until
from tests.loop.world import CONFIG, spec

KILLS = 20
CONVERGED_SECONDS = 30.0
SURGE = {"maxSurge": 1, "maxUnavailable": 0}
IMAGES = ("registry.example/game:1", "registry.example/game:2")


class _Ledger:
    """Follows the rooms from outside: names and uids ever seen, and the most alive at once."""

    def __init__(self, there: Fleet) -> None:
        self._there = there
        self.uids: dict[str, str] = {}
        self.alive: Counter[str] = Counter()

    def look(self) -> None:
        pods = self._there.ask("/api/v1/pods")["items"]
        for pod in pods:
            metadata = pod["metadata"]
            name = f"{metadata['namespace']}/{metadata['name']}"
            assert self.uids.setdefault(name, metadata["uid"]) == metadata["uid"], name
        alive = Counter(
            pod["metadata"]["namespace"]
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"]
        )
        self.alive |= alive


def _wanted(number: int) -> tuple[int, str]:
    return 3 + number % 3, IMAGES[number // 3 % 2]


def _commit(there: Fleet, number: int) -> None:
    replicas, image = _wanted(number)
    there.commit(schedulers__arena=spec("arena", replicas, image, rollout=SURGE))


def _is_converged(there: Fleet, number: int) -> bool:
    replicas, image = _wanted(number)
    pods = there.pods("arena")
    good = [
        pod
        for pod in pods
        if pod["spec"]["containers"][0]["image"] == image and _is_ready(pod["status"])
    ]
    return len(pods) == len(good) == replicas


def _is_ready(status: dict[str, list[dict[str, str]]]) -> bool:
    conditions = status.get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def _versions(there: Fleet) -> dict[str, str]:
    """What is there, to see that nothing is written any more."""
    kinds = ("/api/v1/pods", "/api/v1/configmaps", "/api/v1/namespaces", "/api/v1/serviceaccounts")
    return {
        item["metadata"]["uid"]: item["metadata"]["resourceVersion"]
        for kind in kinds
        for item in there.ask(kind)["items"]
    }


def _rest(there: Fleet, number: int) -> None:
    """Nothing is left to repair: all stays as it is."""
    until("it is at rest", lambda: _is_converged(there, number), CONVERGED_SECONDS)
    time.sleep(2.0)
    before = _versions(there)
    time.sleep(3.0)
    assert _versions(there) == before


def _kill(loop: "subprocess.Popen[bytes]") -> None:
    loop.send_signal(signal.SIGKILL)
    loop.wait()


def test_run_killed_twenty_times_at_random_converges_after_each_restart(tmp_path: Path) -> None:
    chance = random.Random(7)
    with fleet(tmp_path) as there:
        there.commit(gamekeeper=CONFIG)
        ledger = _Ledger(there)
        for number in range(KILLS):
            loop = there.start_loop()
            _commit(there, number)
            ends_at = time.monotonic() + chance.uniform(0.3, 2.0)
            while time.monotonic() < ends_at:
                ledger.look()
                time.sleep(0.02)
            assert loop.poll() is None, there.log()
            _kill(loop)
        there.start_loop()
        took = until("it converged", lambda: _is_converged(there, KILLS - 1), CONVERGED_SECONDS)
        _rest(there, KILLS - 1)
        ledger.look()
    print(f"{KILLS} kills: converged {took:.1f} s after the last restart")
    # Counts between 3 and 5, one more at a time.
    assert ledger.alive["arena"] <= 6


def test_two_loops_without_a_lease_make_nothing_twice_and_do_not_fight(tmp_path: Path) -> None:
    with fleet(tmp_path) as there:
        there.commit(gamekeeper=CONFIG)
        ledger = _Ledger(there)
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
