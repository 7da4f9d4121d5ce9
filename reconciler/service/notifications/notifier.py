"""Looks at what is told of, and has each target told once: beside the loop, never in it.

It decides nothing and is waited for by nobody. Only who leads tells: what was told before stands
on the Lease, and is read by whoever leads next.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from reconciler.core import commit_verdict, news
from reconciler.core.news_text import message_of
from reconciler.model import labels
from reconciler.model.errors import Misconfigured, PortError
from reconciler.model.notifications import CommitState, News, Origin, Target, Trouble
from reconciler.model.outbox import Outbox
from reconciler.outside_ports import Messenger, Statuses
from reconciler.ports import Clock
from reconciler.service.lookout import written
from reconciler.service.notifications.line import Counting, Item, Line, Rules
from reconciler.service.notifications.memory import Told
from reconciler.service.notifications.seen import Seen
from reconciler.service.notifications.targets_file import TargetsFile
from reconciler.service.notifications.troubles import notes_of

LOOK_SECONDS = 1.0
"""While something changes; else time alone makes news, and that is looked for now and then."""
IDLE_SECONDS = 10.0
FILE_SECONDS = 5.0
DEFECT_SECONDS = 60.0
STATUS = "commit status"
"""The name of the code host among the targets; no target can have it."""
STATUS_GIVE_UP_SECONDS = 21_600.0

log = logging.getLogger("gamekeeper")


@dataclass(frozen=True, slots=True)
class Ways:
    """By what is told: the targets of a file, and a code host where one is named."""

    file: TargetsFile
    messenger: Messenger
    statuses: Statuses | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the process knows: who it is, what was seen, how commits fare, what was told before."""

    origin: Origin
    seen: Seen
    outbox: Callable[[], Outbox]
    told_before: Callable[[], Awaitable[str]]
    """The annotation of the Lease. Raises the cluster's errors."""
    may_tell: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class _Served:
    """A line, and what it was made of: another target of that name is another line."""

    line: Line
    task: asyncio.Task[None]
    rules: Rules
    target: Target | None


class Notifier:
    """Tells each target what it asked for."""

    def __init__(self, known: Known, ways: Ways, clock: Clock, counting: Counting) -> None:
        self._known = known
        self._ways = ways
        self._clock = clock
        self._counting = counting
        self._told = Told()
        self._goes_on = False
        """Whether what was told before is known: before that, nobody is told anything."""
        self._lines: dict[str, _Served] = {}
        self._looked_at = -FILE_SECONDS
        self._mistake: Trouble | None = None
        self._unknown = ""
        self._basis: object = None
        self._told_at = 0.0

    def notes(self) -> Mapping[str, str]:
        """Return the annotations of the Lease; none before what stands there was read."""
        if not self._goes_on:
            return {}
        return {labels.TOLD: self._told.written(), **notes_of(self.troubles())}

    def troubles(self) -> list[Trouble]:
        """Return which targets are not reached, and a file that cannot be read."""
        found = (each.line.trouble for each in self._lines.values())
        return sorted(each for each in (*found, self._mistake) if each is not None)

    def forget(self) -> None:
        """Who leads has changed: what another process told meanwhile is read first."""
        self._goes_on = False
        self._known.seen.forget()

    async def run(self) -> None:
        """Tell until cancelled."""
        try:
            while True:
                await self._clock.sleep(await self._look_safely())
        finally:
            await self._end(list(self._lines))
            await self._ways.messenger.close()
            if self._ways.statuses is not None:
                await self._ways.statuses.close()

    async def _look_safely(self) -> float:
        """Look once, whatever comes of it; return the seconds until the next look."""
        why = ""
        try:
            await self._look()
        except PortError as error:
            why = f"nobody is told while what was told before is not known: {error}"
            if why != self._unknown:
                log.warning("%s", why)
        except Exception:
            # A defect of ours here must not end the service, nor fill the log.
            log.exception("a defect in telling")
            return DEFECT_SECONDS
        self._unknown = why
        return LOOK_SECONDS

    async def _look(self) -> None:
        if not self._known.may_tell():
            await self._end(list(self._lines))
            return
        if not self._goes_on:
            await self._end(list(self._lines))
            self._told.load(await self._known.told_before())
            if not self._known.may_tell():
                return
            self._goes_on, self._basis = True, None
        await self._follow_file()
        seen, now = self._known.seen, asyncio.get_running_loop().time()
        basis = seen.changes, self._known.outbox(), self._ways.file.targets
        if not seen.commit or (basis == self._basis and now - self._told_at < IDLE_SECONDS):
            return
        self._basis, self._told_at = basis, now
        await seen.refresh()
        await self._tell()

    async def _follow_file(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._looked_at >= FILE_SECONDS:
            self._looked_at = now
            try:
                self._ways.file.load()
                self._mistake = None
            except Misconfigured as error:
                if self._mistake is None or self._mistake.error != str(error):
                    log.error("the targets stay as they were: %s", error)
                    name = "notifications file"
                    self._mistake = Trouble(name, self._clock.now(), str(error))
        await self._serve({target.name: target for target in self._ways.file.targets})

    async def _serve(self, targets: Mapping[str, Target]) -> None:
        """Have a line for each target as it stands in the file now, and for the code host."""
        rules: dict[str, tuple[Rules, Target | None]] = {
            name: (Rules(name, str(each.form), each.give_up_seconds), each)
            for name, each in targets.items()
        }
        if self._ways.statuses is not None:
            kind = self._ways.statuses.kind
            rules[STATUS] = Rules(STATUS, kind, STATUS_GIVE_UP_SECONDS, newest_only=True), None
        lines = self._lines
        await self._end(
            [name for name in lines if (lines[name].rules, lines[name].target) != rules.get(name)]
        )
        for name in rules.keys() - lines.keys():
            told = partial(self._was_told, name)
            line = Line(rules[name][0], self._clock, self._may_send, told, self._counting)
            task = asyncio.create_task(line.run(), name=f"tell {name}")
            lines[name] = _Served(line, task, *rules[name])

    async def _tell(self) -> None:
        """Have every target told what it was not; in stretches, one of a target each."""
        seen, now = self._known.seen, self._clock.now()
        marks = seen.applied()
        states = {each.place: each for each in news.of_write_back(self._known.outbox(), now)}
        # In one order: of two at one place it is always the same one that is told.
        for each in sorted(seen.told_of(), key=lambda each: (each.place, each.identity)):
            states.setdefault(each.place, each)
        at = asyncio.get_running_loop().time()
        for target in self._ways.file.targets:
            await asyncio.sleep(0)
            mine = [each for each in states.values() if news.concerns(each, target)]
            if any(each.place.startswith(news.HEAD) for each in mine):
                # That a commit is applied is news again after one of which something was held.
                self._told.forget(target.name, news.APPLIED)
            applied = None if marks is None else news.of_applied(marks, target, seen.commit)
            mine += [applied] if applied and news.concerns(applied, target) else []
            for each in mine:
                self._tell_one(target, each, now)
            self._told.sweep(target.name, {each.place for each in mine}, at)
        if self._ways.statuses is not None:
            place = self._set_status(self._ways.statuses, marks is not None)
            self._told.sweep(STATUS, {place}, at)
        self._told.keep(self._lines.keys())

    def _tell_one(self, target: Target, each: News, at: float) -> None:
        line = self._lines[target.name].line
        if self._told.knows(target.name, each.place, each.identity):
            return
        if line.awaits(each.place, each.identity):
            return
        commit, when = self._known.seen.commit, written(at)

        async def send(left_out: int) -> None:
            message = message_of(each, self._known.origin, commit, when, left_out)
            await self._ways.messenger.send(target, message)

        line.put(Item(each.place, each.identity, send))

    def _set_status(self, statuses: Statuses, is_applied: bool) -> str:
        """Set the status of the newest commit where it is another one; return its place."""
        seen, line = self._known.seen, self._lines[STATUS].line
        holds = seen.wanted.holds
        verdict = commit_verdict.verdict_of(seen.commit, holds, seen.plan_holds(), is_applied)
        place, identity = f"status {verdict.commit}", f"{verdict.state} {verdict.identity}"
        # After any other word nothing is pending any more: a process that starts would say so.
        said = verdict.state is CommitState.PENDING and self._told.has(STATUS, place)
        known = said or self._told.knows(STATUS, place, identity)
        if not known and not line.awaits(place, identity):

            async def send(left_out: int) -> None:
                await statuses.set(verdict)

            line.put(Item(place, identity, send))
        return place

    def _was_told(self, name: str, item: Item) -> None:
        if self._goes_on:
            self._told.tell(name, item.place, item.identity)

    def _may_send(self) -> bool:
        return self._goes_on and self._known.may_tell()

    async def _end(self, names: list[str]) -> None:
        tasks = [self._lines.pop(name).task for name in names]
        for task in tasks:
            task.cancel()
        if tasks:
            # Not each with its `CancelledError` suppressed: that would be deaf to our own.
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()
