"""Demand that flaps: Git hears of it once a minute, rooms turn twice in ten minutes at most."""

import asyncio
import itertools
from collections.abc import Iterable, Sequence

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.house import Habits, Scene, stage
from tests.loop.scaling.script import ScriptedCompiler, policies_with, scripted
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

WORKLOADS = ("arena", "duel", "lobby", "quake")
MINUTE, WINDOW_SECONDS, PLAYED_SECONDS = 60.0, 600.0, 2400.0
MOST_TURNS = 2
LOW, HIGH = 4, 6


def _turns(counts: Sequence[tuple[float, int]]) -> list[float]:
    """Return when a count that had gone one way went the other."""
    found, before = [], 0
    for (_, old), (at, new) in itertools.pairwise(counts):
        way = 1 if new > old else -1
        if before and way != before:
            found.append(at)
        before = way
    return found


def _most_within(times: Iterable[float], seconds: float) -> int:
    """Return how many of these times lie within a window at most."""
    times = list(times)
    return max((sum(begin <= at < begin + seconds for at in times) for begin in times), default=0)


def _counts(there: Scene, name: str) -> list[tuple[float, int]]:
    """Return what was decided for a workload, by whichever process, each with when."""
    found = [(0.0, LOW)]
    for ledger in there.ledgers:
        pairs = zip(ledger.decisions, ledger.moves, strict=True)
        found += [(at, count) for (at, count), (key, _) in pairs if key.name == name]
    return sorted(found)


@pytest.mark.parametrize(
    ("period_seconds", "dies"),
    [
        pytest.param(5.0, False, id="every five seconds"),
        pytest.param(25.0, True, id="every 25 seconds, and a leader dies every ten minutes"),
        pytest.param(250.0, False, id="every four minutes"),
    ],
)
def test_flapping_demand_is_no_flapping_fleet(period_seconds: float, dies: bool) -> None:
    def wanted(line: str, now: float) -> int:
        shift = WORKLOADS.index(line) * period_seconds / 3.0
        return HIGH if int((now + shift) // period_seconds) % 2 else LOW

    policies = policies_with(wanted)
    habits = Habits(policies=policies, compiler=ScriptedCompiler(policies))
    files = {f"schedulers/{name}.yaml": scripted(name, LOW, low=1) for name in WORKLOADS}

    async def main() -> None:
        async with stage(files, dict.fromkeys(WORKLOADS, Bounds(30)), habits) as there:
            service, number = there.start("0"), 0
            while elapsed() < PLAYED_SECONDS:
                await asyncio.sleep(WINDOW_SECONDS)
                if dies:
                    await service.kill()
                    number += 1
                    service = there.start(str(number))
            ours = [move.after for move in there.world.host.moves]
            pushed = [there.world.host.commits[commit].committed_at for commit in ours]
            assert ours, "nothing was decided: nothing is tested"
            gaps = [later - sooner for sooner, later in itertools.pairwise(pushed)]
            assert min(gaps, default=MINUTE) >= MINUTE - 1.0, "more than one commit in a minute"
            for name in WORKLOADS:
                turns = _turns(_counts(there, name))
                assert _most_within(turns, WINDOW_SECONDS) <= MOST_TURNS, (name, turns)

    in_virtual_time(main())
