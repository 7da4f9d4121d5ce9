"""A notifier in virtual time, with targets that answer as a test says."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler import assets
from reconciler.core.schemas import validator_of
from reconciler.model import labels
from reconciler.model.holds import Hold
from reconciler.model.notifications import Message, Origin, Target, Verdict
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.model.plans import Counts, Plan
from reconciler.model.specs import Workload
from reconciler.model.wanted import Wanted
from reconciler.service.notifications.line import Result
from reconciler.service.notifications.notifier import Known, Notifier, Ways
from reconciler.service.notifications.seen import Seen
from reconciler.service.notifications.targets_file import TargetsFile
from tests.loop.virtual_time import LoopTime, VirtualLoop
from tests.unit.core.making import a_workload, wanted

FIRST, SECOND, THIRD = "a" * 40, "b" * 40, "c" * 40
CHAT = "{name: chat, slack: {urlFile: /chat}}"


def targets(*entries: str) -> str:
    """The text of a file."""
    listed = "".join(f"    - {entry}\n" for entry in entries)
    head = "apiVersion: gamekeeper.dev/v1\nkind: Notifications\n"
    return f"{head}spec:\n  targets:\n{listed}"


@dataclass
class Post:
    """Who delivers: keeps what was delivered, and fails as `fails` says of a target."""

    delivered: list[tuple[str, Message]] = field(default_factory=list)
    tried: list[tuple[str, float]] = field(default_factory=list)
    fails: Callable[[Target], Exception | None] = lambda target: None
    waits: Callable[[Target], float] = lambda target: 0.0
    lingers_seconds: float = 0.0
    """How long it takes who sends to end once told to."""

    async def send(self, target: Target, message: Message) -> None:
        self.tried.append((target.name, asyncio.get_running_loop().time()))
        try:
            await asyncio.sleep(self.waits(target))
        finally:
            await asyncio.sleep(self.lingers_seconds)
        error = self.fails(target)
        if error is not None:
            raise error
        self.delivered.append((target.name, message))

    async def close(self) -> None:
        pass

    def events(self, name: str = "chat") -> list[Any]:
        return [message.body["event"] for to, message in self.delivered if to == name]


@dataclass
class Board:
    """A code host that keeps what was set."""

    kind: str = "gitea"
    shown: list[Verdict] = field(default_factory=list)
    error: Exception | None = None

    async def set(self, verdict: Verdict) -> None:
        if self.error is not None:
            raise self.error
        self.shown.append(verdict)

    async def close(self) -> None:
        pass

    @property
    def states(self) -> list[tuple[str, str]]:
        return [(verdict.commit[0], str(verdict.state)) for verdict in self.shown]


class House:
    """One process that tells."""

    def __init__(self, path: Path, *entries: str, told: str = "{}", board: bool = False) -> None:
        self.path = path / "notifications.yaml"
        if entries:
            self.path.write_text(targets(*entries))
        self.post, self.seen = Post(), Seen()
        self.board = Board() if board else None
        self.leads, self.outbox, self.told = True, EMPTY_OUTBOX, told
        self.unread: Exception | None = None
        self.counted: list[tuple[str, Result]] = []
        self.clock = LoopTime()
        schema = validator_of(assets.process_schema("notifications"))
        file = TargetsFile(str(self.path) if entries else "", schema)
        file.load()
        known = Known(
            Origin("main", "local", "https://git.example.com/a/b", "main"),
            self.seen,
            self._outbox,
            self._told_before,
            lambda: self.leads,
        )
        ways = Ways(file, self.post, self.board)
        self.notifier = Notifier(known, ways, self.clock, self)

    def _outbox(self) -> Outbox:
        return self.outbox

    async def _told_before(self) -> str:
        if self.unread is not None:
            raise self.unread
        return self.told

    def delivered(self, kind: str, result: Result) -> None:
        self.counted.append((kind, result))

    def heard(self, commit: str, *workloads: Workload, holds: Iterable[Hold] = ()) -> None:
        """Let a commit be judged."""
        effective = {each.key: wanted(each) for each in workloads}
        self.seen.looked(Wanted(commit, effective, holds=tuple(holds)), None, 0.0)

    def done(self, *workloads: Workload, holds: tuple[Hold, ...] = (), ready: int = 3) -> None:
        """Let workloads be planned, with so many rooms ready."""
        for each in workloads:
            self.seen.planned("local", plan(each, ready, holds))

    @property
    def note(self) -> str:
        """What stands on the Lease of what was told."""
        return self.notifier.notes()[labels.TOLD]


def plan(workload: Workload, ready: int, holds: tuple[Hold, ...] = ()) -> Plan:
    counts = Counts(desired=workload.replicas, ready=ready)
    made_for = wanted(workload).wish
    return Plan(workload.key, counts, holds=holds, made_for=made_for)


def running(house: House, story: Callable[[], Awaitable[None]]) -> None:
    """Play a story while the notifier runs, in virtual time."""

    async def played() -> None:
        task = asyncio.create_task(house.notifier.run())
        try:
            await story()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(played())


ARENA, DUEL = a_workload("arena"), a_workload("duel")
