"""What a case of a corpus used: CPU and memory of who read it, and what was opened on the way."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.scorecard import score

MOST_KIB = 512 * 1024
"""Of memory, for a worker."""
MOST_MS = {17: 2_000, 18: 2_500}
"""Of CPU, for a worker, by row. A template that runs away is ended by its limit of 2 s, which its
kernel counts in ticks; beside that it began, and lets go of its memory. That of a whole repository
is told and not judged: it grows with its files."""
_KEPT = Path(__file__).parents[2] / ".cache" / "corpora"


def told_in(pid: int) -> Path:
    """Return the file in which the zygote of a process tells of its workers."""
    _KEPT.mkdir(parents=True, exist_ok=True)
    return _KEPT / f"{pid}.jsonl"


class Workers:
    """Reads what the zygote of this process told of its workers."""

    def __init__(self) -> None:
        self._file = told_in(os.getpid())
        self._file.unlink(missing_ok=True)
        self._read = 0

    def judge(self, row: int) -> None:
        """Count the workers that ended since the last time; none used or opened too much."""
        text = self._file.read_text(encoding="utf-8") if self._file.exists() else ""
        lines = text.splitlines()[self._read :]
        self._read += len(lines)
        ended = [json.loads(line) for line in lines]
        for each in ended:
            opened = bool(each["opened"])
            score(row, workers=1, opened_beside_the_tree=opened)
            score(row, most_ms_of_CPU=each["ms"], most_KiB_of_a_worker=each["kib"])
        over = [each for each in ended if each["kib"] > MOST_KIB]
        assert not over, f"a worker used too much memory: {over}"
        slow = [each for each in ended if each["ms"] > MOST_MS.get(row, each["ms"])]
        score(row, workers_too_slow=len(slow))
        assert not slow, f"a worker used too much CPU: {slow}"
        opened_by = [each["opened"] for each in ended if each["opened"]]
        assert not opened_by, f"a worker opened what is not its: {opened_by}"

    def close(self) -> None:
        """Take the file away."""
        self._file.unlink(missing_ok=True)


@contextmanager
def git_is_reaped(row: int) -> Iterator[None]:
    """Count the CPU of the child that runs git, whose end is awaited within, and of its gits.

    Not their memory: a program that another one starts is counted with the size of that one.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    score(row, most_ms_of_CPU_of_git=round(1000 * seconds))
