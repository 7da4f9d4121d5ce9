"""Two hundred rooms that ping, a scale-in under way, and the leader killed or told to go."""

import json
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

import pytest

from reconciler.model import labels
from tests.e2e.crowd import Crowd, Game, Ping, playing
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import spec

pytestmark = pytest.mark.long

ROOMS, BUSY = 200, 100
HEARD_SHARE = 0.99
LONGEST_SECONDS = 90.0
"""Far above the Lease's 15 s: how long it takes is measured in `benchmarks/rooms_failover.py`."""
ALL = "{rooms: 1000, percent: 100}"
CONFIG = (
    "apiVersion: gamekeeper.dev/v1\nkind: Config\n"
    f"spec: {{budgets: {{workload: {ALL}, total: {ALL}}}}}\n"
)


def _ping(room: str) -> Ping:
    def said(busy: bool) -> bytes:
        status = "occupied" if busy else "ready"
        body = json.dumps({"status": status, "timestamp": 1760000000, "runningMatches": int(busy)})
        head = (
            f"PUT /scheduler/arena/rooms/{room}/ping HTTP/1.1",
            "Host: gamekeeper-rooms",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        return ("\r\n".join(head) + "\r\n\r\n" + body).encode()

    return said


def _commit(there: Fleet, rooms: int) -> None:
    text = spec("arena", rooms, reports="required", removal={"quietSeconds": 3})
    there.commit(gamekeeper=CONFIG, schedulers__arena=text)


def _start(there: Fleet, name: str, rooms_address: str) -> None:
    address = free_address()
    words = ["--token", name, "--poll-seconds", "1", "--listen", address]
    words += ["--rooms-listen", rooms_address, "--rooms-without-token", "127.0.0.0/8"]
    there.start_loop(name, *words)
    until(f"{name} is ready", lambda: _answers(f"http://{address}/readyz"), LONGEST_SECONDS)


def _answers(url: str) -> bool:
    with urlopen(url, timeout=5) as answer:
        return bool(answer.status == 200)


def _marked(there: Fleet, mark: str) -> list[str]:
    pods = there.pods("arena")
    return [
        pod["metadata"]["name"]
        for pod in pods
        if pod["metadata"]["labels"].get(labels.STATE) == mark
    ]


def _running(there: Fleet) -> list[str]:
    pods = there.pods("arena")
    return [pod["metadata"]["name"] for pod in pods if pod["status"].get("phase") == "Running"]


def _heard_again(crowd: Crowd, since: float) -> float:
    until("99 % are heard", lambda: crowd.heard_since(since) >= HEARD_SHARE, LONGEST_SECONDS)
    return time.monotonic() - since


def _judge(crowd: Crowd, busy: Sequence[str], there: Fleet) -> None:
    """No room with players was removed or told to stop, and nothing but 503 was ever answered."""
    assert set(busy) <= set(_marked(there, "busy"))
    assert not [game.name for game in crowd.gone() if game.busy]
    statuses = {name for name in crowd.answers if name.isdecimal()}
    assert statuses <= {"200", "503", "404", "410"}, crowd.answers


def test_rooms_that_ping_find_the_next_leader_and_no_match_is_ended(tmp_path: Path) -> None:
    with fleet(tmp_path) as there:
        first, second = free_address(), free_address()
        _commit(there, ROOMS)
        _start(there, "one", first)
        until("the rooms run", lambda: len(_running(there)) == ROOMS, LONGEST_SECONDS)
        _start(there, "two", second)
        games = {name: Game(name, _ping(name)) for name in sorted(_running(there))}
        crowd = Crowd((first, second), games, every_seconds=1.0)
        busy = list(games)[::2]
        assert len(busy) == BUSY
        with playing(crowd):
            until("all are heard", lambda: len(_marked(there, "idle")) == ROOMS, LONGEST_SECONDS)
            for name in busy:
                games[name].busy = True
            until(
                "half are busy", lambda: set(_marked(there, "busy")) == set(busy), LONGEST_SECONDS
            )

            _commit(there, 150)
            until("the scale-in is under way", lambda: _marked(there, "draining"), LONGEST_SECONDS)
            killed_at = time.monotonic()
            there.loops[0].send_signal(signal.SIGKILL)
            there.loops[0].wait()
            killed_seconds = _heard_again(crowd, killed_at)
            until("50 are gone", lambda: len(there.pods("arena")) == 150, LONGEST_SECONDS)
            _judge(crowd, busy, there)

            _start(there, "one", first)
            _commit(there, 110)
            until("the scale-in is under way", lambda: _marked(there, "draining"), LONGEST_SECONDS)
            told_at = time.monotonic()
            there.loops[1].send_signal(signal.SIGTERM)
            assert there.loops[1].wait(timeout=30.0) == 0, there.log("two")
            told_seconds = _heard_again(crowd, told_at)
            until("40 are gone", lambda: len(there.pods("arena")) == 110, LONGEST_SECONDS)
            _judge(crowd, busy, there)
    print(f"99 % heard: killed {killed_seconds:.1f} s, told to go {told_seconds:.1f} s")
    print(dict(crowd.answers))


def _autoscaled(there: Fleet, busy: int, buffer: int) -> None:
    """Let a policy that acts at once keep `buffer` empty rooms beside those with players."""
    autoscaling = {
        "min": 1,
        "max": 300,
        "policy": {"fixedBuffer": {"amount": buffer}},
        "scaleDown": {"stabilizationSeconds": 0},
    }
    text = spec("arena", busy + buffer, reports="required", autoscaling=autoscaling)
    there.commit(gamekeeper=CONFIG, schedulers__arena=text)


def test_a_fail_over_under_load_moves_no_policy(tmp_path: Path) -> None:
    busy, buffer = 30, 10
    with fleet(tmp_path) as there:
        addresses = [free_address(), free_address()]
        _autoscaled(there, 0, busy + buffer)
        _start(there, "one", addresses[0])
        until("the rooms run", lambda: len(_running(there)) == busy + buffer, LONGEST_SECONDS)
        _start(there, "two", addresses[1])
        games = {name: Game(name, _ping(name)) for name in sorted(_running(there))}
        crowd = Crowd((addresses[0], addresses[1]), games, every_seconds=1.0)
        with playing(crowd):
            until("all are heard", lambda: len(_marked(there, "idle")) == len(games), 60.0)
            _autoscaled(there, busy, buffer)
            for name in list(games)[:busy]:
                games[name].busy = True
            until("most are busy", lambda: len(_marked(there, "busy")) == busy, LONGEST_SECONDS)
            until("it rests", lambda: _rests(there, 5.0), LONGEST_SECONDS)
            stays = _running(there)
            assert len(stays) >= busy + buffer

            for number, how in enumerate((signal.SIGKILL, signal.SIGTERM)):
                ended_at = time.monotonic()
                there.loops[number].send_signal(how)
                there.loops[number].wait(timeout=30.0)
                _heard_again(crowd, ended_at)
                assert _rests(there, 10.0), there.log("one") + there.log("two")
                assert _running(there) == stays
                if number == 0:
                    _start(there, "one", addresses[0])
        _judge(crowd, list(games)[:busy], there)


def _rests(there: Fleet, seconds: float) -> bool:
    """Whether no room comes or goes for so long."""
    first, over = _running(there), time.monotonic() + seconds
    while time.monotonic() < over:
        if len(there.pods("arena")) != len(first) or _running(there) != first:
            return False
        time.sleep(0.2)
    return True
