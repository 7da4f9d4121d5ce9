"""What became of a workload's number, read from Git: each commit beside its parents.

The numbers are those of the files; a message only adds when and why, where it agrees with them.
A number that comes from another file is followed there.
"""

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from reconciler.core.commit_steps import believed, is_silent, told_of
from reconciler.core.count_text import count_in, is_spoilt
from reconciler.model.errors import Misconfigured
from reconciler.model.history import CountChange, CountHistory, WrittenCount
from reconciler.model.pushes import Logged
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import is_yaml
from reconciler.ports import Repository

MOST_COMMITS = 1000
"""So many commits that touch the files are looked at for one history."""
PAGE = 50
ELDEST_ASKED = 10


@dataclass(slots=True)
class CountLog:
    """Reads one workload's number through the log of a repository.

    `files` may hold it: the file of counts first, which a spec that writes its own number is not
    in. `ours` are the ids of our commits, None where no record was read; `eldest` those of them
    before which others may be ours that nobody knows any more. `over` says that the commits are of
    a branch of counts, whose file lies over the spec.
    """

    repository: Repository
    key: WorkloadKey
    files: tuple[str, ...]
    ours: Collection[str] | None = None
    eldest: Sequence[str] = ()
    over: bool = False
    known_since: float | None = None
    known: dict[tuple[str, str], WrittenCount | None] = field(default_factory=dict)

    async def read(self, revision: str, limit: int) -> CountHistory:
        """Return the newest `limit` changes. Raises the repository's errors."""
        found: list[CountChange] = []
        start, last, ends_at, seen = revision, "", "", 0
        while seen < MOST_COMMITS:
            page = await self.repository.log(start, self.files, PAGE, last)
            for logged in page:
                seen += 1
                if logged.cut:
                    # Another line of the history may go on beside the one that ends here.
                    last, ends_at = logged.commit, ends_at or logged.commit
                    continue
                change, moved_from = await self._change(logged)
                if change is not None:
                    found.append(change)
                if len(found) > limit:
                    return CountHistory(tuple(found[:limit]), cut=True)  # that hides more
                if moved_from:
                    self.files = (*self.files[:-1], moved_from)
                    start, last = logged.parents[0], ""
                    break
                last = logged.commit
            else:
                if len(page) < PAGE:
                    return CountHistory(tuple(found), bool(ends_at), ends_at)
        return CountHistory(tuple(found), cut=True)

    async def _change(self, logged: Logged) -> tuple[CountChange | None, str]:
        """Return what a commit did to the number, and the file that it came from, else ""."""
        if self.ours and logged.commit in self.ours and is_silent(logged.body, self.key):
            return None, ""
        after, *behind = await self._around((logged.commit, *logged.parents))
        moved_from = ""
        if after is not None and len(behind) == 1 and behind[0] is None:
            moved_from = await self._moved_from(logged)
            if moved_from:
                behind = [await self._count_in(logged.parents[0], moved_from)]
        numbers = [each.count for each in behind if each is not None]
        count = after.count if after else None
        if count in numbers or (count is None and not numbers):
            return None, moved_from
        before = numbers[0] if numbers else None
        ours = await self._is_ours(logged)
        steps = () if ours is False else believed(told_of(logged.body, self.key), before, count)
        source = after.source if after else None
        return CountChange(logged, before, count, source, ours, steps), moved_from

    async def _around(self, commits: Sequence[str]) -> list[WrittenCount | None]:
        """Return the numbers at a commit and at its parents.

        A line over the spec that came or went may have done so by a mistake in its file. Then what
        acts is as before and the spec's number does not, so none is told.
        """
        found = [await self.count_at(commit) for commit in commits]
        lined = [each is not None and each.source.file == self.files[0] for each in found]
        if not self.over or any(lined) == all(lined):
            return found
        return [
            each if is_lined or not await self._is_spoilt(commit) else None
            for commit, each, is_lined in zip(commits, found, lined, strict=True)
        ]

    async def _is_spoilt(self, commit: str) -> bool:
        file = self.files[0]
        with suppress(Misconfigured):
            data = await self.repository.blob(commit, file)
            return data is not None and is_spoilt(file, data, self.key)
        return True

    async def _is_ours(self, logged: Logged) -> bool | None:
        """Return whether a commit is ours, None where nobody can tell any more."""
        if self.ours is None:
            return None
        if logged.commit in self.ours:
            return True
        if self.known_since is None:
            self.known_since = await self._since()
        return None if logged.at <= self.known_since else False

    async def _since(self) -> float:
        """Return after which time all of our commits are known by their ids.

        Our own clock wrote the time of the eldest. Some may never have reached the branch.
        """
        for commit in self.eldest[:ELDEST_ASKED]:
            with suppress(Misconfigured):
                (logged,) = await self.repository.log(commit, limit=1)
                return logged.at
        return math.inf if self.eldest else -math.inf

    async def count_at(self, commit: str) -> WrittenCount | None:
        """Return the number at a commit, None where the files say none."""
        for file in self.files:
            found = await self._count_in(commit, file)
            if found is not None:
                return found
        return None

    async def _moved_from(self, logged: Logged) -> str:
        """Return the file that a commit took the document from, "" where it came with it."""
        for path in logged.paths:
            if path in self.files or not is_yaml(path):
                continue
            was, still = [
                await self._count_in(at, path) for at in (logged.parents[0], logged.commit)
            ]
            # What stands there still is another fleet's, of which this is a copy.
            if was is not None and still is None:
                return path
        return ""

    async def _count_in(self, commit: str, file: str) -> WrittenCount | None:
        at = commit, file
        if at not in self.known:
            try:
                data = await self.repository.blob(commit, file)
            except Misconfigured:
                data = None  # too large to be read
            self.known[at] = None if data is None else count_in(file, data, self.key)
        return self.known[at]


def of_branch(branch: str, history: CountHistory) -> CountHistory:
    """Return a history whose files are named with their branch."""
    changes = tuple(
        replace(each, source=replace(each.source, file=f"{branch}:{each.source.file}"))
        if each.source
        else each
        for each in history.changes
    )
    return replace(history, changes=changes)


def merged(tracked: CountHistory, apart: CountHistory, limit: int) -> CountHistory:
    """Return the changes of two branches in the order of their times, each once.

    What stands on both is told as of the tracked one.
    """
    known = {each.logged.commit for each in tracked.changes}
    others = (each for each in apart.changes if each.logged.commit not in known)
    # Stable: of one second the log's own order stays.
    every = sorted((*others, *tracked.changes), key=lambda each: -each.logged.at)
    if len(every) > limit:
        return CountHistory(tuple(every[:limit]), cut=True)
    ends = [each.ends_at for each in (tracked, apart) if each.cut]
    return CountHistory(tuple(every), bool(ends), ends[0] if all(ends) and ends else "")
