"""Many policies that decide over and over while people edit the same files: nothing is lost.

The same campaign runs in virtual time over Git in memory, and in real time over real git.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence

from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets
from reconciler.ports import WritableRepository
from tests.loop.scaling.commits import Step, Written, foreign_bytes, steps_of
from tests.loop.scaling.counts import count_of
from tests.loop.scaling.house import Habits, Ledger, Scene
from tests.loop.scaling.script import ScriptedCompiler, policies_with, scripted
from tests.loop.world import World

FREE = Budgets(workload_rooms=1000, workload_percent=100.0)
FIRST = 2
CAUGHT_UP_SECONDS = 4.0
Edit = Callable[[str, str], Awaitable[None]]
"""Has a person add a line to a file, by its path, whatever else is pushed there meanwhile."""


def path_of(name: str) -> str:
    """Return where the spec of a workload stands."""
    return f"schedulers/{name}.yaml"


class Campaign:
    """What each workload's policy wants, and what people wrote. `changes` go up, the last down."""

    def __init__(self, names: Sequence[str], changes: int, pace_seconds: float) -> None:
        self._names, self._changes, self._pace_seconds = names, changes, pace_seconds
        self._counts = dict.fromkeys(names, FIRST)
        self.lines: list[str] = []

    def files(self) -> dict[str, str]:
        """Return the specs."""
        return {path_of(name): scripted(name, FIRST) for name in self._names}

    def last(self) -> dict[str, int]:
        """Return the counts that are wanted now, by the paths of their specs."""
        return {path_of(name): count for name, count in self._counts.items()}

    def habits(
        self, quiet_seconds: float, repository: Callable[[World, str], WritableRepository]
    ) -> Habits:
        """Return how processes decide by this script; no budget slows them."""
        policies = policies_with(lambda line, _: self._counts[line])
        compiler = ScriptedCompiler(policies)
        return Habits(quiet_seconds, policies, lambda: FREE, repository, compiler=compiler)

    async def play(self, there: Scene, edit: Edit) -> None:
        """Let every demand change so often, while people edit the same files."""
        chance, [service] = random.Random(5), there.services
        known = service.lane
        await there.until("a head", lambda: len(known.wanted.effective) == len(self._names), 60.0)
        downs = self._changes // 5
        for number in range(self._changes):
            if number == self._changes - downs:
                # What went up stands in Git before it goes down, or there would be nothing to land.
                await asyncio.sleep(CAUGHT_UP_SECONDS)
            for name in self._names:
                self._counts[name] += 1 if number < self._changes - downs else -1
                service.app.touched([WorkloadKey("Scheduler", name, name)])
                if chance.random() < 0.1:
                    await asyncio.sleep(chance.uniform(0.0, self._pace_seconds / 4))
            self.lines.append(f"# person {number}")
            await edit(path_of(chance.choice(self._names)), self.lines[-1])
            await asyncio.sleep(self._pace_seconds)

    def judge(self, there: Scene, commits: Sequence[Written], texts: Mapping[str, str]) -> str:
        """Judge what stands in Git in the end; return the figures in a sentence."""
        [ledger] = there.ledgers
        ours = [commit for commit in commits if commit.ours]
        told = [step for commit in ours for step in steps_of(commit.message)]
        lost = decided(ledger) - set(told)
        assert foreign_bytes(commits) == []
        assert not lost, f"decided, and told by no commit: {sorted(lost)[:5]}"
        assert len(ledger.moves) == len(self._names) * self._changes
        for path, count in self.last().items():
            assert count_of(texts[path]) == count, path
        everything = "\n".join(texts.values())
        assert [line for line in self.lines if f"{line}\n" not in everything] == []
        return (
            f"{len(ledger.moves)} decisions of {len(self._names)} policies in {len(ours)} commits"
            f" beside {len(commits) - len(ours)} of people, {ledger.races} lost races"
        )


def decided(ledger: Ledger) -> set[Step]:
    """Return every step that was decided."""
    found, last = set[Step](), dict[WorkloadKey, int]()
    for key, count in ledger.moves:
        found.add((key.name, last.get(key, FIRST), count))
        last[key] = count
    return found
