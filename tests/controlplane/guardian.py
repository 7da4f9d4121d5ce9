"""Ends a test run's servers when the run itself was killed and could not.

A process of its own, so that SIGKILL of the run does not reach it. It looks at the run through a
pidfd: a pipe would be held open by whatever the run has forked, and PR_SET_PDEATHSIG fires when
the starting *thread* ends. Arguments: the run's process id, the folder to remove. Standard input:
one line per server, its process id; the end of input means that the run has cleaned up.
"""

import os
import select
import shutil
import signal
import sys
from contextlib import suppress


def main(runner: int, folder: str) -> None:
    """Watch until the run ends or says that it is done, then kill and remove what is left."""
    runner_fd = os.pidfd_open(runner) if os.getppid() == runner else None
    servers: list[int] = []
    unread = b""
    while runner_fd is not None:
        ready, _, _ = select.select([runner_fd, 0], [], [])
        if 0 not in ready:
            break
        block = os.read(0, 65536)
        if not block:
            break
        *lines, unread = (unread + block).split(b"\n")
        for line in lines:
            # The descriptor keeps the identity: a reused process id is never killed.
            with suppress(ProcessLookupError):
                servers.append(os.pidfd_open(int(line)))
    for server in servers:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(server, signal.SIGKILL)
    for server in servers:
        select.select([server], [], [], 5)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
