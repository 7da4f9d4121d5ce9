"""SIGKILL of `gamekeeper run` while one of its git processes is at work."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

LOOK_SECONDS = 0.001


def kill_within_git(process: "subprocess.Popen[bytes]", patience_seconds: float) -> bool:
    """Kill a process and all that works for it at the moment at which its git is seen.

    Return whether git was seen; after `patience_seconds` it is killed without.
    """
    until = time.monotonic() + patience_seconds
    seen = False
    while not seen and time.monotonic() < until:
        below = list(_below(process.pid))
        seen = any(_is_git(pid) for pid in below)
        if seen:
            # What serves it first: had its end been told, it would be looking after itself.
            for pid in reversed(below):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        else:
            time.sleep(LOOK_SECONDS)
    process.kill()
    process.wait(timeout=30)
    return seen


def _below(pid: int) -> Iterator[int]:
    """Yield the processes that one started, and those that they did, parents first."""
    with contextlib.suppress(OSError):
        for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
            for child in (task / "children").read_text(encoding="ascii").split():
                yield int(child)
                yield from _below(int(child))


def _is_git(pid: int) -> bool:
    with contextlib.suppress(OSError):
        program = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
        return program.rpartition(b"/")[2] == b"git"
    return False
