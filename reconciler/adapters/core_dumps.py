"""No core dumps: the memory of `run`, and of its child that runs git, holds tokens, and a crash
would write them to a disk."""

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4


def refuse_core_dumps() -> None:
    """Let the kernel write no memory of this process to a disk, whatever becomes of it.

    The limit is inherited by children, the mark is not. A kernel that pipes core dumps to a program
    (`core_pattern`) asks no limit; on Linux it is kept from it by the mark of a process that
    cannot be dumped, which also keeps other processes of the same user from reading its memory.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
