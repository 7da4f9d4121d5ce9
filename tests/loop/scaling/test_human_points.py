"""A human's word at every point of a decision's life: it wins at the next look, and holds.

The scene: Git says 3, which a policy landed over 2; at 08:02 the policy wants 5. At one point on
the way of 5 into Git a person pushes, and the process lives on, or dies there with its disk.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.core.deciding import Decided
from reconciler.model.pushes import Change, Pushed
from reconciler.model.readings import Rendered
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload
from reconciler.model.trees import CONFIG_FILE
from reconciler.service.scalers import Scalers
from tests.loop.compiler import InlineCompiler
from tests.loop.safety import Bounds
from tests.loop.scaling.counts import count_of
from tests.loop.scaling.house import (
    FILE,
    Habits,
    Scene,
    scaled,
    stage,
)
from tests.loop.service import Service
from tests.loop.sweeps import part
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

TIMES = [
    {"from": "08:01", "to": "08:02", "replicas": 3},
    {"from": "08:02", "to": "20:00", "replicas": 5},
]
SECOND_AT = 120.0
"""When 5 is wanted, in seconds since the world began at 08:00."""
LOOK_SECONDS = 5.0
"""A webhook wakes; a look and a tick take no longer than this in virtual time."""
ELECTED_SECONDS = 45.0
QUIET_SECONDS, HOLD_SECONDS = 20.0, 150.0
CONFIG = f"""
apiVersion: gamekeeper.dev/v1
kind: Config
spec: {{writeBack: {{humanHoldSeconds: {HOLD_SECONDS:.0f}}}}}
"""
BROKEN_SECONDS = 60.0
"""Three quiet times pass before a person mends what they broke."""


Reached = Callable[[str], Awaitable[None]]


class PointedRepository(MemoryRepository):
    """Tells where a commit of ours is on its way."""

    def __init__(self, host: MemoryHost, reached: Reached) -> None:
        super().__init__(host)
        self._reached = reached

    async def blob(self, revision: str, path: str) -> bytes | None:
        """The file is about to be edited."""
        await self._reached("the file is read")
        return await super().blob(revision, path)

    async def write(self, change: Change) -> str:
        """The commit is made."""
        commit = await super().write(change)
        await self._reached("the commit is written")
        await self._reached("the commit is overtaken")
        return commit

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """The commit goes to the host."""
        await self._reached("the push begins")
        try:
            pushed = await super().push(change, commit)
        finally:
            await self._reached("the push has ended")
        return pushed


class PointedScalers(Scalers):
    """Tells where a decision is on its way."""

    def __init__(self, reached: Reached, *rest: Any, **named: Any) -> None:
        super().__init__(*rest, **named)
        self._reached = reached

    async def keep(self, key: WorkloadKey, decided: Decided) -> bool:
        """A decision goes on record."""
        await self._reached("it is decided")
        await self._reached("the decision is overtaken")
        kept = await super().keep(key, decided)
        await self._reached("it is on record")
        return kept


class SlowCompiler(InlineCompiler):
    """Renders for a while: a head stands on record by then, and is not published yet."""

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        """Take the time of some hundred templates."""
        await asyncio.sleep(0.3)
        return await super().render(workloads, instance)


OVERTAKEN = ("the decision is overtaken", "the commit is overtaken")
"""What goes on record next was made for the head before the one that stands there."""
POINTS = (
    "it is decided",
    *OVERTAKEN,
    "it is on record",
    "it waits",
    "the file is read",
    "the commit is written",
    "the push begins",
    "the answer is lost",
    "the host falls",
    "the push has ended",
    "it has landed",
)


@dataclass(frozen=True)
class Act:
    """What a person pushes. `edit` makes the new text of the old one.

    `wanted` are the rooms from the next look on and `in_git` the number then, both by what the
    head said before the push; None where the policy still acts. `comes_back` is whether the
    policy has its way after the hold. One that `breaks` gamekeeper.yaml with the same commit is
    heard when that is mended; until then what acted goes on.
    """

    name: str
    edit: Callable[[str], str]
    wanted: Callable[[int], int]
    in_git: Callable[[int], int]
    comes_back: bool = True
    breaks: bool = False


def _renumbered(text: str, count: int) -> str:
    return text.replace(f"replicas: {count_of(text)}\n", f"replicas: {count}\n", 1)


def before(count: int) -> int:
    """The number that the newest commit of ours replaced."""
    return {3: 2, 5: 3}[count]


ACTS = (
    Act("revert", lambda text: _renumbered(text, before(count_of(text))), before, before),
    Act("edit", lambda text: _renumbered(text, 7), lambda _: 7, lambda _: 7),
    Act(
        "suspend",
        lambda text: text + "  suspend: true\n",
        lambda head: head,
        lambda head: head,
        comes_back=False,
    ),
    Act(
        "switch off",
        lambda text: text.replace("autoscaling:\n", "autoscaling:\n    enabled: false\n"),
        lambda head: head,
        lambda head: head,
        comes_back=False,
    ),
    Act(
        "lower the upper bound",
        lambda text: text.replace("max: 20", "max: 4"),
        lambda _: 4,
        lambda _: 4,
        comes_back=False,
    ),
    Act(
        "raise the lower bound",
        lambda text: text.replace("min: 2", "min: 6"),
        lambda _: 6,
        lambda _: 6,
        comes_back=False,
    ),
    Act("break the Config", lambda text: text, lambda _: 5, lambda _: 5, breaks=True),
    Act(
        "revert beside a broken Config",
        lambda text: _renumbered(text, before(count_of(text))),
        before,
        before,
        breaks=True,
    ),
)
OF_PEOPLE = ("revert", "edit", "suspend", "switch off", "revert beside a broken Config")
"""Acts after which Git holds the person's number and nothing of ours."""


class Drama:
    """One point, one act, and whether the process survives it."""

    def __init__(self, there: Scene, point: str, act: Act, survives: bool) -> None:
        self.there, self.point, self.act, self.survives = there, point, act, survives
        self.acted_at: float | None = None
        self.head_before = 0
        self.ending: asyncio.Task[None] | None = None

    async def reached(self, point: str) -> None:
        """Act where this is the point."""
        if self.acted_at is not None or elapsed() < SECOND_AT - 1.0:
            return
        host, lost = self.there.world.host, ("the answer is lost", "the host falls")
        if point == "the push begins" and self.point in lost:
            # The host takes the push and says nothing, or dies before it takes it.
            host.lost_answers, host.falls = 1, True
            if self.point == "the host falls":
                host.down()
            return
        if point == self.point or (point == "the push has ended" and self.point in lost):
            await self.perform()

    async def perform(self) -> None:
        """Push, and tell the process, as a webhook does; or end it."""
        there = self.there
        there.world.host.heal()
        self.acted_at = elapsed()
        self.head_before = there.count_in_git()
        changed: dict[str, str | None] = {FILE: self.act.edit(there.text())}
        if self.act.breaks:
            changed[CONFIG_FILE] = "spec: [\n"
        there.world.commit(changed)
        [service] = there.services
        if self.survives:
            await service.app.look_soon()
            if self.point in OVERTAKEN:
                await _put_on_record(there, service)
            return
        self.ending = asyncio.create_task(service.kill())
        await asyncio.sleep(3600.0)


async def _put_on_record(there: Scene, service: Service) -> None:
    """Wait until the head stands on record, and not until it is published.

    One that is held as a whole comes on no record.
    """
    async with asyncio.timeout(LOOK_SECONDS):
        while True:
            await asyncio.sleep(0.001)
            if there.head() in (service.lane.store.repository.commit, *service.lane.wanted.head):
                return


async def _play(point: str, act: Act, survives: bool) -> None:
    made: list[Drama] = []

    async def reached(at: str) -> None:
        await made[0].reached(at)

    habits = Habits(
        QUIET_SECONDS,
        repository=lambda world, _: PointedRepository(world.host, reached),
        scalers=partial(PointedScalers, reached),
        compiler=SlowCompiler() if point in OVERTAKEN else None,
    )
    files = {CONFIG_FILE: CONFIG, FILE: scaled(2, TIMES)}
    async with stage(files, {"arena": Bounds(30)}, habits) as there:
        made.append(drama := Drama(there, point, act, survives))
        there.start("one")
        waits = {"it waits": 10.0, "it has landed": QUIET_SECONDS + 5.0}
        if point in waits:
            await there.until("5 decided", lambda: there.wanted() == 5, SECOND_AT + 60.0)
            await asyncio.sleep(waits[point])
            performing = asyncio.create_task(drama.perform())
        await there.until("the act", lambda: drama.acted_at is not None, SECOND_AT + 200.0)
        if survives:
            await asyncio.sleep(LOOK_SECONDS)
        else:
            await there.until("the end", lambda: there.services[0].killed, 5.0)
            there.start("two")
            await asyncio.sleep(ELECTED_SECONDS)
        if point in waits:
            performing.cancel()
        if survives and point == OVERTAKEN[0] and not act.breaks:
            assert there.ledgers[0].undecided_count >= 1, "made for the head before: not on record"
        await _holds(there, drama)
        assert not any(move.forced for move in there.world.host.moves)


async def _is_mended(there: Scene, drama: Drama) -> None:
    """What acted goes on, and Git stays as it is, until somebody mends gamekeeper.yaml."""
    broken, until = there.head(), elapsed() + BROKEN_SECONDS
    while elapsed() < until:
        assert there.wanted() == 5
        assert there.head() == broken, there.subjects()
        await asyncio.sleep(10.0)
    there.world.commit({CONFIG_FILE: CONFIG})
    drama.acted_at = elapsed()
    await there.services[-1].app.look_soon()
    await asyncio.sleep(LOOK_SECONDS)


async def _holds(there: Scene, drama: Drama) -> None:
    """The head has its way now, and for as long as the hold lasts."""
    act, head = drama.act, drama.head_before
    if act.breaks:
        await _is_mended(there, drama)
    assert drama.acted_at is not None
    wanted, in_git = act.wanted(head), act.in_git(head)
    commits = len(there.subjects())
    while elapsed() < drama.acted_at + HOLD_SECONDS - 20.0:
        assert there.wanted() == wanted, f"{elapsed() - drama.acted_at:.0f} s after the push"
        if act.name in OF_PEOPLE:
            assert there.count_in_git() == in_git
            assert len(there.subjects()) == commits
        await asyncio.sleep(10.0)
    assert there.count_in_git() == in_git
    if act.name != "suspend":
        assert there.rooms() == wanted
    if act.comes_back:
        await there.until("the policy acts again", lambda: there.wanted() == 5, 120.0)
        await there.until("5 in Git", lambda: there.count_in_git() == 5, 120.0)


CASES = [
    *itertools.product(POINTS, ACTS, (True,)),
    # What a broken Config keeps from acting has no word to die with.
    *itertools.product(POINTS, (*ACTS[:6], ACTS[7]), (False,)),
]


@pytest.mark.parametrize(
    ("point", "act", "survives"),
    [
        pytest.param(*case, id=f"{case[1].name} when {case[0]}{'' if case[2] else ', and it dies'}")
        for case in part(CASES, 12)
    ],
)
def test_the_head_wins_at_every_point_and_holds(point: str, act: Act, survives: bool) -> None:
    in_virtual_time(_play(point, act, survives))
