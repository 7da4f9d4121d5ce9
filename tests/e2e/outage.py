"""The Git host goes away in a rush, and who leads is killed with its disk: rooms follow on.

`python -m benchmarks outage` plays it for five minutes, the tests for half of one.
"""

import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.hosted import Hosted, hosted
from tests.e2e.processes import free_address, until
from tests.e2e.surge import AMOUNT, Players, surging
from tests.loop.scaling.commits import foreign_bytes, steps_of
from tests.loop.scaling.counts import count_of

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {quietSeconds: 2}}\n"
STEPS = 20
FOLLOWED_SECONDS = 90.0
LANDED_SECONDS = 400.0
"""A host that was away for long is asked again after five minutes at the latest."""


@dataclass(frozen=True, slots=True)
class Outage:
    """What came of it: how long fewer rooms ran than were wanted, and what stands in Git."""

    seconds: float
    late_seconds: float
    caught_up_seconds: float
    rooms: int
    count: int
    steps: tuple[tuple[str, int, int], ...]
    commits: int
    foreign: tuple[str, ...]
    forced: int

    def __str__(self) -> str:
        """Return the figures in a sentence."""
        return (
            f"{self.seconds:.0f} s without Git: {len(self.steps)} steps to {self.rooms} rooms,"
            f" fewer than wanted for {self.late_seconds:.0f} s of it (a new leader was elected);"
            f" {self.commits} commit {self.caught_up_seconds:.0f} s after the host's return"
        )


def play(folder: Path, seconds: float) -> Outage:
    """Let the host be away for so long, and the leader die in the middle of it."""
    with hosted(folder) as served:
        served.there.commit(gamekeeper=CONFIG, schedulers__arena=surging())
        addresses = [free_address(), free_address()]
        leader = _start(served, "one", addresses[0])
        with Players(served.there, addresses) as players:
            until("two rooms", lambda: players.follow, FOLLOWED_SECONDS)
            served.host.go_away()
            # It never sees the repository: it knows what is on record in the cluster.
            _start(served, "two", addresses[1])
            began, late = time.monotonic(), players.late
            for number in range(1, STEPS + 1):
                players.busy = number
                if number == STEPS // 2:
                    leader.send_signal(signal.SIGKILL)
                    leader.wait()
                    shutil.rmtree(served.there.folder / "one")
                time.sleep(seconds / STEPS)
            try:
                until("rooms follow", lambda: players.follow, FOLLOWED_SECONDS)
            except AssertionError as missed:
                raise AssertionError(f"{missed}\n{served.there.log('two')}") from missed
            away, late = time.monotonic() - began, players.late - late
            served.host.come_back()
            caught = until("all in Git", lambda: _count(served) == STEPS + AMOUNT, LANDED_SECONDS)
            assert caught <= LANDED_SECONDS
            time.sleep(6.0)  # three quiet times: nothing comes after it
            ours = [commit for commit in served.commits() if commit.ours]
            steps = tuple(step for commit in ours for step in steps_of(commit.message))
            foreign, forced = foreign_bytes(ours), served.bare.forced_updates()
            return Outage(
                *(away, late, caught, players.rooms, _count(served), steps, len(ours)),
                tuple(foreign),
                forced,
            )


def _start(served: Hosted, name: str, rooms_address: str) -> subprocess.Popen[bytes]:
    listen = ("--listen", "127.0.0.1:0", "--rooms-listen", rooms_address)
    rooms = ("--rooms-without-token", "127.0.0.0/8")
    return served.there.start_loop(
        name, "--token", name, "--poll-seconds", "5", *listen, *rooms, *served.flags()
    )


def _count(served: Hosted) -> int:
    return count_of(served.texts()["schedulers/arena.yaml"])
