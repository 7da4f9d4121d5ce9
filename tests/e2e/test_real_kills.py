"""Real processes on a real control plane, killed over and over, also inside git, and frozen.

Matches go on in some rooms throughout. `GAMEKEEPER_KILLS` is which kills are played, as `50-99`: a
campaign plays them all, on a machine that is held to the time in which all must be as wanted again
after each. In CI, which shares its machine, that time is told and a generous one is asserted.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane
from tests.e2e.git_strikes import kill_within_git
from tests.e2e.real_removals import made_twice
from tests.e2e.real_rooms import FIRST, SECOND, Installation, Replica, installation, scheduler
from tests.e2e.real_voices import Voice
from tests.loop.rooms.seeds import seeds_of
from tests.scorecard import score

pytestmark = pytest.mark.real

SETTING = "GAMEKEEPER_KILLS"
FEW = "0-19"
IN_CAMPAIGN = SETTING in os.environ
CONVERGED_SECONDS = 30.0 if IN_CAMPAIGN else 120.0
PATIENCE_SECONDS = 120.0
SURGE = 4
PLAYING = 3
FROZEN_SECONDS = 20.0
"""Longer than a Lease lasts."""
LEFT_ALONE_EVERY = 1 if IN_CAMPAIGN else 4
"""Of so many kills one is waited for until all is as wanted; the others come in the midst."""
TWICE_EVERY = 4
"""Where each is waited for, one of so many is followed by another kill in the midst."""


@dataclass
class Run:
    """One installation in which processes die, and what came of it."""

    there: Installation
    name: str
    chance: random.Random
    playing: list[Voice] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)
    longest_seconds: float = 0.0
    wanted: tuple[int, str] = (0, "")

    def begin(self, rooms: int) -> None:
        """Let matches begin in some of the rooms, which never end."""
        self.wanted = rooms, FIRST
        self.playing = self.there.stand(self.name, rooms, PATIENCE_SECONDS)[:PLAYING]
        self.there.play(self.playing)

    def change(self, number: int) -> None:
        """Commit another count, and now and then another image."""
        self.wanted = 5 + number % 3, (FIRST, SECOND)[number // 3 % 2]
        self.there.commit(**{self.name: scheduler(self.name, *self.wanted)})

    def is_converged(self) -> bool:
        """Whether all is as wanted but for those who play: of whatever image, they stay."""
        count, image = self.wanted
        rooms = self.there.house.rooms(self.name)
        free = [room for room in rooms if room.uid not in {each.uid for each in self.playing}]
        as_wanted = [room for room in free if self.there.house.state(room) == "idle"]
        images = {room.pod["spec"]["containers"][0]["image"] for room in free}
        enough = count - PLAYING <= len(free) == len(as_wanted)
        return enough and images <= {image} and len(rooms) <= count + SURGE

    def converge(self) -> None:
        """Wait until all is as wanted, and keep the longest time."""
        took = self.there.wait("all is as wanted", self.is_converged, PATIENCE_SECONDS)
        self.longest_seconds = max(self.longest_seconds, took)
        self.met["times_waited_for"] += 1

    def strike(self, replica: Replica, leads: bool = True) -> None:
        """Kill a process at a moment by chance; who leads every other time while its git works."""
        self.met["kills"] += 1
        if self.met["kills"] % 2 or not leads:
            time.sleep(self.chance.uniform(0.0, 4.0))
            replica.end(signal.SIGKILL)
        else:
            self.met["inside_git"] += kill_within_git(replica.process, PATIENCE_SECONDS / 4)

    def judge(self) -> None:
        """Nobody was thrown out, no name was used twice, nobody had to repair anything."""
        rooms = self.there.house.rooms(self.name)
        lost = [room.room for room in self.playing if room not in rooms]
        twice = made_twice(self.there.cluster, self.name)
        score(9, **self.met, occupied_rooms_lost=len(lost), names_twice=len(twice))
        score(9, most_ms_to_converge=round(1000 * self.longest_seconds))
        assert not lost
        assert not twice
        self.there.judge(self.name)
        assert self.met["inside_git"], "no kill came inside git"
        assert self.longest_seconds <= CONVERGED_SECONDS

    def end(self) -> None:
        """Let all matches end: exactly what is wanted is there, all of the wanted image."""
        self.there.play(self.playing, busy=False)
        count, image = self.wanted

        def is_exact() -> bool:
            rooms = self.there.house.rooms(self.name)
            images = [room.pod["spec"]["containers"][0]["image"] for room in rooms]
            return images == [image] * count

        self.there.wait("exactly what is wanted", is_exact, PATIENCE_SECONDS)
        assert not self.there.house.tally.faults


def _numbers() -> list[int]:
    return list(seeds_of(os.environ.get(SETTING, FEW)))


def _play(
    cluster: ControlPlane, folder: Path, name: str, script: Callable[[Run], None], **more: str
) -> None:
    cluster.add_nodes(2, labels={"pool": name})
    with installation(cluster, folder, name) as there:
        there.commit(**{name: scheduler(name, 6)})
        there.start(**more)
        run = Run(there, name, random.Random(_numbers()[0]))
        run.begin(6)
        script(run)
        run.judge()
        run.end()
        there.report(f"{dict(run.met)}, as wanted after {run.longest_seconds:.1f} s at most")


def test_a_process_killed_at_any_moment_is_gone_on_from_by_the_next_one(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    numbers = [number for number in _numbers() if number % 10 < 7]

    def script(run: Run) -> None:
        [process] = run.there.replicas
        for turn, number in enumerate(numbers):
            run.change(number)
            run.strike(process)
            process.start_again()
            if IN_CAMPAIGN and turn % TWICE_EVERY == TWICE_EVERY - 1:
                run.strike(process)
                process.start_again()
            if turn % LEFT_ALONE_EVERY == LEFT_ALONE_EVERY - 1 or number == numbers[-1]:
                run.converge()

    _play(deployed, tmp_path, "anvil", script, LEASE="false")


def test_leaders_and_standbys_that_are_killed_or_frozen_are_followed(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    numbers = [number for number in _numbers() if number % 10 >= 7]

    def script(run: Run) -> None:
        run.there.start()
        for turn, number in enumerate(numbers):
            leads, stands_by = _in_order(run.there)
            run.change(number)
            struck = stands_by if number % 10 == 9 else leads
            run.strike(struck, struck is leads)
            struck.start_again()
            run.converge()
            if turn % 6 == 0:
                _freeze(run, number + 1)

    _play(deployed, tmp_path, "storm", script)


def _in_order(there: Installation) -> list[Replica]:
    """Return the replicas, who leads first."""
    pods = {replica.pod for replica in there.replicas}
    seen: list[str] = []

    def one_leads() -> bool:
        seen[:] = there.service.endpoints()
        return len(seen) == 1 and seen[0] in pods

    there.wait("one leads", one_leads, CONVERGED_SECONDS)
    return sorted(there.replicas, key=lambda replica: replica.pod != seen[0])


def _freeze(run: Run, number: int) -> None:
    """Stop who leads for longer than its Lease, with a commit before and one in between."""
    frozen, other = _in_order(run.there)
    run.change(number)
    frozen.process.send_signal(signal.SIGSTOP)
    since = time.monotonic()
    run.there.wait("the other one leads", lambda: run.there.leads(other), PATIENCE_SECONDS)
    run.change(number + 1)
    time.sleep(max(0.0, since + FROZEN_SECONDS - time.monotonic()))
    frozen.process.send_signal(signal.SIGCONT)
    run.met["frozen"] += 1
    run.converge()
    assert frozen.process.poll() is None, frozen.said()
