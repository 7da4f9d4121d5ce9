"""Ends the processes of rooms when the sandbox that started them was killed and could not.

A process of its own, so that SIGKILL of the sandbox does not reach it. Argument: the sandbox's
process id, which is looked at through a pidfd: a pipe would be held open by whatever it forked.
Standard input: `+N` a line for each process group to end, `-N` for one that has ended; the end
of input means that the sandbox has cleaned up.
"""

import os
import select
import signal
import sys
from contextlib import suppress


def main(sandbox: int) -> None:
    """Watch until the sandbox ends, then kill what is left."""
    # Ctrl-C goes to everybody at the terminal: who cleans up goes last.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watched = os.pidfd_open(sandbox) if os.getppid() == sandbox else None
    groups: set[int] = set()
    unread = b""
    while True:
        ready, _, _ = select.select([0] if watched is None else [watched, 0], [], [])
        if 0 in ready:
            block = os.read(0, 65536)
            if not block:
                break
            *lines, unread = (unread + block).split(b"\n")
            for line in lines:
                (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
        elif watched in ready:
            break
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
