"""What a case of a corpus used: CPU and memory of who read it, and what was opened on the way."""

import asyncio
import json
import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tests.scorecard import score

MOST_KIB = 512 * 1024
"""Of memory, for a worker."""
MOST_MS = {17: 2_000, 18: 2_500}
"""Of CPU, for a worker, by row. A template that runs away is ended by its limit of 2 s, which its
kernel counts in ticks; beside that it began, and lets go of its memory. What workers use for a
whole repository is told and not judged: it grows with its files."""
MOST_MS_OF_A_BOMB = 250
"""Of CPU, for a worker that reads a bomb of YAML among good files. 100 ms are asked, and 45 were
the most: but where others work on the machine too, switching and lost caches are counted to it."""
MOST_MS_OF_A_LOOK = 3_000
"""Of CPU, for git at one look. 2 s are asked, and 1.7 s were the most on a machine with other work:
the rest is for slower ones, and what it was is told."""
MOST_MS_OF_THE_LOOP = 100
"""Of CPU, for the loop at one stretch, in which everybody else waits: 21 ms were the most. What a
look costs it in all is told and not judged: it grows with what workers are given to read."""
SEEN_EVERY_SECONDS = 0.02
BEAT_SECONDS = 0.002
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

    def judge(self, row: int, most_ms: int | None = None) -> None:
        """Count the workers that ended since the last time; none used or opened too much.

        Of CPU each has `most_ms`, else what its row has.
        """
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
        most_ms = most_ms or MOST_MS.get(row)
        slow = [each for each in ended if most_ms and each["ms"] > most_ms]
        score(row, workers_too_slow=len(slow))
        assert not slow, f"a worker used too much CPU: {slow}"
        opened_by = [each["opened"] for each in ended if each["opened"]]
        assert not opened_by, f"a worker opened what is not its: {opened_by}"

    def close(self) -> None:
        """Take the file away."""
        self._file.unlink(missing_ok=True)


class Gits:
    """Watches the child that runs git, which starts after this, and its gits: what each look costs.

    Time is of CPU, here too: what a look takes is up to who else uses the machine. Memory is the
    most that any of them held, seen in its last moments: `getrusage` counts what a program is
    started from as the size of that one. For the same reason nothing is said of a process that is
    still a copy of this one.
    """

    def __init__(self, row: int) -> None:
        self.row = row
        self._others = set(_children(os.getpid()))
        self._ours = _command(os.getpid())
        self._over = threading.Event()
        self._kib = 0
        self._watching = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._watching.start()
        return self

    def __exit__(self, *of_whom: object) -> None:
        self._over.set()
        self._watching.join()

    @contextmanager
    def look(self) -> Iterator[None]:
        """Judge a look of Git that is taken within, by this process and all that work for it."""
        before = self._seconds()
        with _beating() as stretches:
            yield
        git, loop = 1000 * (self._seconds() - before), 1000 * max(stretches)
        score(self.row, most_ms_of_CPU_of_git=round(git), most_ms_of_CPU_of_the_loop=round(loop))
        score(self.row, most_ms_of_CPU_of_the_loop_in_all=round(1000 * sum(stretches)))
        assert git <= MOST_MS_OF_A_LOOK, f"git used {git:.0f} ms of CPU in a look"
        assert loop <= MOST_MS_OF_THE_LOOP, f"all others waited {loop:.0f} ms for a look"

    def judge(self) -> None:
        """Judge what they held in memory until now."""
        score(self.row, most_KiB_of_a_git=self._kib)
        assert 0 < self._kib <= MOST_KIB, f"a git held {self._kib} KiB"

    def _watch(self) -> None:
        while not self._over.wait(SEEN_EVERY_SECONDS):
            for pid in self._all():
                if _command(pid) != self._ours:  # asked first: it stays another's once it is one
                    self._kib = max(self._kib, _peak_kib(pid))

    def _seconds(self) -> float:
        """Return what all of them used until now."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime + sum(map(_cpu_seconds, self._all()))

    def _all(self) -> Iterator[int]:
        for pid in _children(os.getpid()):
            if pid not in self._others:
                yield pid
                yield from _below(pid)


@contextmanager
def _beating() -> Iterator[list[float]]:
    """Tell the stretches of CPU between which the loop of this thread lets others run, in seconds.

    What it is given is a list that grows until the end.
    """
    stretches, since = [0.0], time.thread_time()

    def stretch() -> None:
        nonlocal since
        stretches.append(time.thread_time() - since)
        since = time.thread_time()

    async def beat() -> None:
        while True:
            stretch()
            await asyncio.sleep(BEAT_SECONDS)

    beats = asyncio.ensure_future(beat())
    try:
        yield stretches
    finally:
        beats.cancel()
        stretch()


def _below(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _below(child)


def _children(pid: int) -> Iterator[int]:
    """Yield the processes that one started and did not see end."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (task / "children").read_text(encoding="ascii").split())


def _cpu_seconds(pid: int) -> float:
    """Return what a process used, and those of its own that ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _peak_kib(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0
