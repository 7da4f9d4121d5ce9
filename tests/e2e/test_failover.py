"""Two replicas of `gamekeeper run` and one Lease: the leader dies, freezes, or is told to go."""

import signal
import socket
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from reconciler.service.lease import DURATION_SECONDS, RETRY_SECONDS
from tests.e2e.ledger import Ledger, is_ready, versions
from tests.e2e.processes import Fleet, Write, fleet, free_address, until
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

SURGE = {"maxSurge": 1, "maxUnavailable": 0}
FIRST, SECOND, THIRD = (f"registry.example/game:{number}" for number in (1, 2, 3))
ROOMS = 6
TAKEN_SECONDS = DURATION_SECONDS + 2 * RETRY_SECONDS + 10.0
"""The lease's time from its last renewal, seen and tried every two seconds; ten for the machine."""
LEASE = "/leases"


def _start(there: Fleet, name: str) -> None:
    """Start a loop and wait until it is ready, whether it leads or not."""
    address = free_address()
    there.start_loop(name, "--token", name, "--poll-seconds", "1", "--listen", address)
    until(f"{name} is ready", lambda: _answers(f"http://{address}/readyz"), 30.0)


def _answers(url: str) -> bool:
    with urlopen(url, timeout=5) as answer:
        return bool(answer.status == 200)


def _commit(there: Fleet, image: str, rooms: int = ROOMS) -> None:
    there.commit(schedulers__arena=spec("arena", rooms, image, rollout=SURGE))


def _ready(there: Fleet, image: str) -> int:
    """How many rooms of an image are ready."""
    return sum(
        pod["spec"]["containers"][0]["image"] == image and is_ready(pod["status"])
        for pod in there.pods("arena")
    )


def _is_converged(there: Fleet, ledger: Ledger, image: str, rooms: int = ROOMS) -> bool:
    ledger.look()
    return len(there.pods("arena")) == _ready(there, image) == rooms


def _writes(there: Fleet, who: str, since: float) -> list[Write]:
    """What somebody wrote with effect; the Lease is no room."""
    return [
        each
        for each in there.journal()
        if each.who == who and each.at > since and each.took_effect and LEASE not in each.path
    ]


def _midway(there: Fleet, ledger: Ledger, image: str) -> None:
    """Wait until a roll-out is under way."""
    until("the roll-out has begun", lambda: ledger.look() and _ready(there, image) >= 2, 20.0)
    assert _ready(there, image) < ROOMS


def _led(there: Fleet) -> Ledger:
    """Let `one` lead a fleet that stands, with `two` beside it."""
    there.commit(gamekeeper=CONFIG)
    _commit(there, FIRST)
    _start(there, "one")
    ledger = Ledger(there)
    until("a fleet", lambda: _is_converged(there, ledger, FIRST), 30.0)
    _start(there, "two")
    return ledger


def _rest(there: Fleet) -> None:
    time.sleep(1.0)
    before = versions(there)
    time.sleep(2.0)
    assert versions(there) == before


def test_a_leader_that_is_killed_in_a_roll_out_is_followed_within_the_leases_time(
    tmp_path: Path,
) -> None:
    with fleet(tmp_path) as there:
        ledger = _led(there)
        _commit(there, SECOND)
        _midway(there, ledger, SECOND)
        killed_at = time.monotonic()
        there.loops[0].send_signal(signal.SIGKILL)
        there.loops[0].wait()
        until("two acts", lambda: ledger.look() and _writes(there, "two", 0), TAKEN_SECONDS + 5)
        took = _writes(there, "two", 0)[0].at - killed_at
        until("it converged", lambda: _is_converged(there, ledger, SECOND), 30.0)
        _rest(there)
        ledger.look()
    print(f"killed: followed after {took:.1f} s")
    assert took <= TAKEN_SECONDS
    assert ledger.alive["arena"] <= ROOMS + SURGE["maxSurge"]
    # Nobody was made twice: the old ones, and the new ones, each under a name of its own.
    assert len(ledger.uids) == 2 * ROOMS


def test_a_leader_that_was_frozen_writes_nothing_and_one_that_is_told_to_go_hands_over_at_once(
    tmp_path: Path,
) -> None:
    with fleet(tmp_path) as there:
        ledger = _led(there)
        one, two = there.loops
        _commit(there, SECOND)
        _midway(there, ledger, SECOND)
        one.send_signal(signal.SIGSTOP)
        until("two acts", lambda: ledger.look() and _writes(there, "two", 0), TAKEN_SECONDS + 5)
        # What `one` knew as wanted is not wanted any more when it wakes, in the midst of it.
        _commit(there, THIRD)
        _midway(there, ledger, THIRD)
        woken_at = time.monotonic()
        one.send_signal(signal.SIGCONT)
        until("it converged", lambda: _is_converged(there, ledger, THIRD), 30.0)
        _rest(there)
        assert one.poll() is None, there.log("one")
        assert _writes(there, "one", woken_at) == []
        _commit(there, SECOND)
        _midway(there, ledger, SECOND)
        told_at = time.monotonic()
        two.send_signal(signal.SIGTERM)
        assert two.wait(timeout=120.0) == 0, there.log("two")
        until("one acts", lambda: _writes(there, "one", told_at), 30.0)
        took = _writes(there, "one", told_at)[0].at - told_at
        until("it converged", lambda: _is_converged(there, ledger, SECOND), 30.0)
        _rest(there)
        ledger.look()
    print(f"told to go: followed after {took:.1f} s")
    # The lease is free when it looks next; it need not run out.
    assert took < DURATION_SECONDS
    assert ledger.alive["arena"] <= ROOMS + SURGE["maxSurge"]


def test_a_replica_whose_address_is_taken_ends_and_says_what_to_do(tmp_path: Path) -> None:
    with fleet(tmp_path) as there, socket.create_server(("127.0.0.1", 0)) as taken:
        there.commit(gamekeeper=CONFIG)
        address = "{}:{}".format(*taken.getsockname())
        loop = there.start_loop("one", "--listen", address)
        assert loop.wait(timeout=120.0) == 1
        said = there.log("one")
        assert f"cannot listen at {address}" in said
        assert "choose another --listen" in said
        assert "Traceback" not in said
        assert there.journal() == []
