"""The quiet time of commits: what was decided first starts it, and nothing later restarts it."""

import asyncio

import pytest

from reconciler.model.refs import WorkloadKey
from tests.loop.safety import Bounds
from tests.loop.scaling.commits import in_memory, steps_of
from tests.loop.scaling.counts import count_of
from tests.loop.scaling.house import QUIET_SECONDS, Habits, Scene, stage
from tests.loop.scaling.script import ScriptedCompiler, policies_with, scripted
from tests.loop.virtual_time import elapsed, in_virtual_time

FIRST, LATER = 2, 4
DECISIONS = {"arena": 300.0, "lobby": 340.0}
"""When each is decided, since 08:00: at 08:05:00, and 40 s later."""
LOOKS_SECONDS = 5.0


def in_git(there: Scene) -> dict[str, int]:
    host = there.world.host
    files = host.commits[host.branches["main"]].files
    return {name: count_of(files[f"schedulers/{name}.yaml"]) for name in DECISIONS}


@pytest.mark.long
def test_a_later_decision_joins_the_commit_of_the_first_and_never_puts_it_off() -> None:
    counts = dict.fromkeys(DECISIONS, FIRST)
    policies = policies_with(lambda line, _: counts[line])
    habits = Habits(policies=policies, compiler=ScriptedCompiler(policies))
    files = {f"schedulers/{name}.yaml": scripted(name, FIRST) for name in DECISIONS}

    async def main() -> None:
        async with stage(files, dict.fromkeys(DECISIONS, Bounds(30)), habits) as there:
            service = there.start("one")
            for name, at in DECISIONS.items():
                await asyncio.sleep(at - elapsed())
                counts[name] = LATER
                service.app.touched([WorkloadKey("Scheduler", name, name)])
            first = DECISIONS["arena"] + QUIET_SECONDS
            await asyncio.sleep(first - 1.0 - elapsed())
            assert in_git(there) == dict.fromkeys(DECISIONS, FIRST), "the quiet time is not over"
            await asyncio.sleep(first + LOOKS_SECONDS - elapsed())
            assert in_git(there) == dict.fromkeys(DECISIONS, LATER)
            ours = [commit for commit in in_memory(there.world.host) if commit.ours]
            steps = [(name, FIRST, LATER) for name in DECISIONS]
            assert [steps_of(commit.message) for commit in ours] == [steps]

    in_virtual_time(main())
