"""The zygote, which also sees what its workers open, and tells what each of them used.

Run in place of `reconciler.adapters.compiler.nursery`, by name; `used` reads what it tells.
"""

import json
import mmap
import os
import sys
from pathlib import Path
from typing import Any

from reconciler.adapters.compiler import nursery
from tests.corpora.used import told_in

ROOT = Path(__file__).parents[2]
OWN = (sys.prefix, sys.base_prefix, str(ROOT / "reconciler"), os.devnull)
"""Python's files and the program's: where a module is imported late."""
WATCHED = frozenset(
    {
        *("open", "os.listdir", "os.scandir", "os.system", "os.exec", "os.posix_spawn", "os.fork"),
        *("subprocess.Popen", "socket.connect", "ctypes.dlopen"),
    }
)
_ZYGOTE = os.getpid()
# A worker may write no file, and what it keeps dies with it: this page it shares with the zygote.
_SEEN = mmap.mmap(-1, mmap.PAGESIZE)


def hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Keep what a worker opens or begins beside the program's own files: an audit hook."""
    if event not in WATCHED or os.getpid() == _ZYGOTE:
        return
    what = str(arguments[0]) if arguments else ""
    if event != "open" or not what.startswith(OWN):
        said = f"{event} {what}\n".encode()[: mmap.PAGESIZE - 1]
        _SEEN[: len(said) + 1] = said + b"\0"


def reaped(pid: int, options: int) -> tuple[int, int]:
    """Do what `os.waitpid` does, and tell what the worker used and opened."""
    ended, status, usage = os.wait4(pid, options)
    if ended:
        seen = _SEEN[:].partition(b"\0")[0].decode("utf-8", "replace").strip()
        _SEEN[:] = bytes(mmap.PAGESIZE)
        milliseconds = round(1000 * (usage.ru_utime + usage.ru_stime))
        told = {"ms": milliseconds, "kib": usage.ru_maxrss, "opened": seen}
        with told_in(os.getppid()).open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
    return ended, status


if __name__ == "__main__":
    sys.addaudithook(hear)
    os.waitpid = reaped
    nursery.main()
