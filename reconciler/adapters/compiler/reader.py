"""Read a tree in a worker; find the files that kill it, and read the others without them."""

import asyncio
import hashlib
import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reconciler.adapters.compiler.codec import decode, encode
from reconciler.adapters.compiler.frames import Garbled
from reconciler.adapters.compiler.limits import MEBIBYTE, Ending, Limits, Patience
from reconciler.adapters.compiler.workers import Worker, WorkerLost, hired
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.core.known_tree import Known, known_of
from reconciler.model.errors import Unavailable
from reconciler.model.findings import Finding
from reconciler.model.printable import escaped
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions, Workload
from reconciler.model.trees import CONFIG_FILE, Entry, Tree

_FILES_A_SECOND = 50
_FILE_BYTES = MEBIBYTE // 4
_MOST_KILLERS = 8
"""Files that kill a worker are looked for one by one, until so many are found."""

_Killers = dict[str, str]
"""By path: why the file cannot be read."""


class TreeReader:
    """Reads trees; remembers by content which files killed a worker, and what each takes."""

    def __init__(self, zygote: Zygote, slots: asyncio.Semaphore, patience: Patience) -> None:
        self._zygote = zygote
        self._patience = patience
        self._slots = slots
        self._known: dict[str, str] = {}
        self._costs: dict[str, float] = {}
        """Seconds of CPU by content, where files were looked at one by one."""
        self._last: Known | None = None

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        """Validate a whole tree; a file that kills its worker is a Finding, the others are read.

        Raises Unavailable.
        """
        reread = await self._reread(tree, permissions)
        if reread is not None:
            return reread
        # In threads: to tell files by their content takes too long for a serving loop.
        killers = await asyncio.to_thread(self._remembered, tree)
        try:
            reading = await self._whole(_without(tree, killers), permissions)
        except WorkerLost:
            self._last = None  # which file it was is found out next
        else:
            self._last = None if killers else known_of(tree, permissions, reading)
            return _reported(reading, killers)
        killers |= await self._probed(_without(tree, killers), permissions)
        killers |= await asyncio.to_thread(self._dearest, _without(tree, killers))
        try:
            return _reported(await self._whole(_without(tree, killers), permissions), killers)
        except WorkerLost as lost:
            if not lost.ending.is_certain:
                raise Unavailable(
                    f"Reading the repository {lost.ending}; the machine has too little to give "
                    "just now. It is tried again."
                ) from lost
            return _nothing(tree, lost.ending)

    async def _reread(self, tree: Tree, permissions: Permissions) -> Reading | None:
        """Read what was touched since the last tree; None where the whole has to be read."""
        last = self._last
        if last is None:
            return None
        # In threads: of a thousand files each is too long a stretch for a serving loop, and so is
        # the import, which commands that read one tree do without.
        rereading = await asyncio.to_thread(importlib.import_module, "reconciler.core.rereading")
        part = await asyncio.to_thread(rereading.part_of, last, tree, permissions)
        if part is None:
            return None
        try:
            read = await self._whole(part.tree, permissions)
        except WorkerLost:
            return None
        known: Known | None = await asyncio.to_thread(rereading.merged, last, part, read)
        if known is None:
            return None
        self._last = known
        return known.reading

    def _remembered(self, tree: Tree) -> _Killers:
        if not self._known and not self._costs:
            return {}
        digests = {path: _digest(entry) for path, entry in tree.entries.items()}
        # Only those of the newest tree, or whoever commits could make us remember without end.
        there = frozenset(digests.values())
        self._known = {one: why for one, why in self._known.items() if one in there}
        self._costs = {one: cost for one, cost in self._costs.items() if one in there}
        killers = {
            path: self._known[digest] for path, digest in digests.items() if digest in self._known
        }
        return killers | self._dearest(_without(tree, killers))

    def _dearest(self, tree: Tree) -> _Killers:
        """Return the dearest files, without which half the time for a tree is enough."""
        if not self._costs:
            return {}
        costs = {
            path: self._costs.get(_digest(entry), 0.0)
            for path, entry in tree.entries.items()
            if path != CONFIG_FILE
        }
        seconds, left = self._seconds(tree), sum(costs.values())
        found: _Killers = {}
        for path in sorted(costs, key=lambda path: (-costs[path], path)):
            if left <= seconds / 2:
                break
            left -= costs[path]
            found[path] = (
                "is one of those that take the most time, and all files together take more than "
                f"the {seconds:g} s of CPU that are given"
            )
        return found

    def _seconds(self, tree: Tree) -> float:
        return self._patience.tree_seconds + len(tree.entries) / _FILES_A_SECOND

    async def _whole(self, tree: Tree, permissions: Permissions) -> Reading:
        count = len(tree.entries)
        seconds = self._seconds(tree)
        limits = Limits(3 * seconds, math.ceil(seconds), 512 * MEBIBYTE + count * _FILE_BYTES)
        setup = self._setup("read", replace(tree, entries={}), permissions)
        questions = _questions(setup, list(tree.entries.items()))
        async with self._slots, hired(self._zygote, limits, questions) as worker:
            try:
                return await _assembled(worker)
            except Garbled as error:
                raise WorkerLost(Ending(code=1)) from error
            except WorkerLost as lost:
                raise _checked(lost) from lost

    async def _probed(self, tree: Tree, permissions: Permissions) -> _Killers:
        """Read one file after the other and return those that killed a worker."""
        killers: _Killers = {}
        seconds = self._patience.file_seconds
        left = sorted(tree.entries.items(), key=lambda item: item[0] != CONFIG_FILE)
        suspect = ""
        while left:
            if len(killers) >= _MOST_KILLERS:
                reason = f"was not tried, for {len(killers)} other files could not be read"
                return killers | {path: reason for path, _ in left}
            part = left[:1] if left[0][0] == suspect else left
            beside = _only(tree, {CONFIG_FILE} - killers.keys())
            survived, ending = await self._survivors(part, beside, permissions)
            left = left[survived:]
            if ending is None:
                continue
            path, entry = left[0]
            if not ending.is_certain and path != suspect:
                suspect = path  # a machine under load proves nothing: once more, and alone
                continue
            killers[path] = f"{ending}; {seconds:g} s of CPU and 512 MiB of memory are given"
            if ending.is_certain:
                self._known[_digest(entry)] = killers[path]
            left = left[1:]
        return killers

    async def _survivors(
        self, files: Sequence[tuple[str, Entry]], beside: Tree, permissions: Permissions
    ) -> tuple[int, Ending | None]:
        """Return how many of `files`, from the first on, were read, and how the worker ended."""
        wall = self._patience.file_seconds + 0.25 + 0.2 * (len(files) - 1)
        setup = self._setup("probe", beside, permissions)
        questions = _questions(setup, files)
        survived = 0
        async with (
            self._slots,
            hired(self._zygote, Limits(wall, math.ceil(wall) + 1), questions) as worker,
        ):
            try:
                for _, entry in files:
                    self._costs[_digest(entry)] = (await worker.answer())["seconds"]
                    survived += 1
            except WorkerLost as lost:
                return survived, _checked(lost).ending
        return survived, None

    def _setup(self, task: str, tree: Tree, permissions: Permissions) -> Mapping[str, Any]:
        return {
            "task": task,
            "tree": encode(Tree, tree),
            "permissions": encode(Permissions, permissions),
            "cpu_seconds": self._patience.file_seconds,
        }


async def _assembled(worker: Worker) -> Reading:
    workloads: dict[WorkloadKey, Workload] = {}
    invalid: dict[WorkloadKey, tuple[Finding, ...]] = {}
    findings: list[Finding] = []
    while True:
        answer = await worker.answer()
        if "workload" in answer:
            workload = decode(Workload, answer["workload"])
            workloads[workload.key] = workload
            continue
        if "rest" in answer:
            rest = decode(Reading, answer["rest"])
            return replace(rest, workloads=workloads, invalid=invalid, findings=tuple(findings))
        some = decode(tuple[Finding, ...], answer.get("findings", []))
        if "key" in answer:
            invalid[decode(WorkloadKey, answer["key"])] = some
        else:
            findings.extend(some)


def _checked(lost: WorkerLost) -> WorkerLost:
    if lost.ending.heard:
        return lost
    raise Unavailable("The compiler's process ended or could not start a worker; try again.")


def _questions(setup: Mapping[str, Any], files: Sequence[tuple[str, Entry]]) -> Iterator[Any]:
    yield setup
    for path, entry in files:
        yield [path, encode(Entry, entry)]


def _without(tree: Tree, killers: _Killers) -> Tree:
    kept = {path: entry for path, entry in tree.entries.items() if path not in killers}
    return replace(tree, entries=kept)


def _only(tree: Tree, paths: set[str]) -> Tree:
    return replace(tree, entries={path: tree.entries[path] for path in paths & set(tree.entries)})


def _digest(entry: Entry) -> str:
    return hashlib.sha256(entry.text or b"").hexdigest()


def _reported(reading: Reading, killers: _Killers) -> Reading:
    """Say of each killer why it was not read; what was said of it because it was away is untrue."""
    if not killers:
        return reading
    said = [finding for finding in reading.findings if finding.file not in killers]
    said += [_unreadable(path, f"this file {reason}") for path, reason in killers.items()]
    unreadable = {*reading.unreadable, *map(escaped, killers)}
    return replace(reading, unreadable=tuple(sorted(unreadable)), findings=tuple(sorted(said)))


def _nothing(tree: Tree, ending: Ending) -> Reading:
    """Return the Reading of a tree that kills its worker as a whole: everything is held."""
    message = f"reading the repository {ending}, though each file alone can be read"
    finding = _unreadable(CONFIG_FILE, message, "ask for fewer or smaller specs")
    return Reading(
        tree.commit, None, {}, {}, tuple(sorted(map(escaped, tree.entries))), (), (finding,)
    )


def _unreadable(path: str, message: str, fix: str = "make it smaller and simpler") -> Finding:
    return Finding(escaped(path), 0, 0, "", message, fix, "unreadable")
