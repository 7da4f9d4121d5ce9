"""Judges the commits of a branch by their bytes and messages alone, whoever made them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reconciler.adapters.git.memory import MemoryHost

Step = tuple[str, int, int]
"""A workload's name, the count before and the count after."""

_WORKLOAD = re.compile(r"(?:Scheduler|Fleet)/\S*?([^/\s]+): (\d+) -> (\d+)")
_STEP = re.compile(r"  \S+Z (\d+) -> (\d+) \(\w+\): .+")
_COUNT = re.compile(rb"^( *replicas: +)\d+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Written:
    """One commit: its message, and each path that it changed with the bytes before and after."""

    ours: bool
    message: str
    changes: Mapping[str, tuple[bytes, bytes]]


def steps_of(message: str) -> list[Step]:
    """Return the steps that a message of ours tells, in their order."""
    found, name = list[Step](), ""
    for line in message.splitlines():
        workload, step = _WORKLOAD.fullmatch(line), _STEP.fullmatch(line)
        if workload:
            name = workload[1]
        elif step:
            found.append((name, int(step[1]), int(step[2])))
    return found


def foreign_bytes(commits: Iterable[Written]) -> list[str]:
    """Return the files of commits of ours in which more than the one number differs."""
    return [
        f"{path} in {commit.message.partition(chr(10))[0]!r}"
        for commit in commits
        if commit.ours
        for path, (before, after) in commit.changes.items()
        if not _only_the_count_differs(before, after)
    ]


def _only_the_count_differs(before: bytes, after: bytes) -> bool:
    one = len(_COUNT.findall(before)) == 1 == len(_COUNT.findall(after))
    return one and before != after and _COUNT.sub(rb"\1N", before) == _COUNT.sub(rb"\1N", after)


def in_memory(host: MemoryHost, author: str = "Gamekeeper") -> Sequence[Written]:
    """Return the commits of the branch `main`, the oldest first; the very first is left out."""
    found, at = [], host.branches["main"]
    while host.commits[at].parents:
        commit = host.commits[at]
        before = host.commits[commit.parents[0]].files
        changed = {
            path: (before.get(path, b""), commit.files.get(path, b""))
            for path in {*before, *commit.files}
            if before.get(path) != commit.files.get(path)
        }
        found.append(Written(commit.author == author, commit.subject, changed))
        at = commit.parents[0]
    return found[::-1]
