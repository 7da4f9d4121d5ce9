"""Many policies that change their minds, `quietSeconds: 1`, people in the same files: none lost.

`GAMEKEEPER_CHANGES=50` plays the whole campaign of 32 policies, which takes some minutes.
"""

import asyncio
import os

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.model.pushes import Change, Pushed
from tests.loop.safety import Bounds
from tests.loop.scaling.campaign import Campaign
from tests.loop.scaling.commits import in_memory
from tests.loop.scaling.house import stage
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World

pytestmark = pytest.mark.long

NAMES = tuple(f"arena-{number:02}" for number in range(32))
CHANGES = int(os.environ.get("GAMEKEEPER_CHANGES", "6"))
PACE_SECONDS = 5.0


def add_line(world: World, path: str, line: str) -> None:
    """Let a person add a comment, right above the number or at the end."""
    text = world.host.commits[world.host.branches["main"]].files[path].decode()
    if len(line) % 2:
        edited = f"{text}{line}\n"
    else:
        edited = text.replace("  replicas:", f"  {line}\n  replicas:", 1)
    world.commit({path: edited})


class RacedRepository(MemoryRepository):
    """A person is faster than every third push of ours, and edits one of its very files."""

    def __init__(self, world: World, lines: list[str]) -> None:
        super().__init__(world.host)
        self._world, self._lines, self._pushes = world, lines, 0

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Be late."""
        self._pushes += 1
        if self._pushes % 3 == 0:
            self._lines.append(f"# faster {self._pushes}")
            add_line(self._world, min(change.files), self._lines[-1])
        return await super().push(change, commit)


def test_no_decision_and_no_line_of_a_person_is_lost_and_no_push_is_forced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    campaign = Campaign(NAMES, CHANGES, PACE_SECONDS)
    habits = campaign.habits(1.0, lambda world, _: RacedRepository(world, campaign.lines))

    async def main() -> str:
        bounds = dict.fromkeys(NAMES, Bounds(100))
        async with stage(campaign.files(), bounds, habits) as there:
            world = there.world

            async def edit(path: str, line: str) -> None:
                add_line(world, path, line)

            there.start("one")
            await campaign.play(there, edit)
            await asyncio.sleep(120.0)
            assert not any(move.forced for move in world.host.moves)
            head = world.host.commits[world.host.branches["main"]].files
            texts = {path: text.decode() for path, text in head.items()}
            return campaign.judge(there, in_memory(world.host), texts)

    figures = in_virtual_time(main())
    with capsys.disabled():
        print(f"\n{figures}")
