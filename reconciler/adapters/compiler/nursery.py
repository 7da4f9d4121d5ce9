"""The zygote: imports everything once, then forks a confined worker for each batch.

Runs as a process of its own, started by exec with an emptied environment: it has one thread, no
event loop, and none of its parent's memory, connections or secrets to inherit. The parent
sends two sockets with each request: `data` is for the worker alone, on `status` stands in the
end how the worker ended. A parent that hangs up on `status` has the worker killed.
"""

import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass

from reconciler.adapters.compiler import jobs
from reconciler.adapters.compiler.limits import EXIT_CRASHED, HEADER_BYTES, Limits, confine

_DATA_FD = 3
_HIGHEST_FD = 65_536


@dataclass(slots=True)
class _Ward:
    """One worker that is looked after; `deadline` by the monotonic clock."""

    status: socket.socket
    deadline: float
    late: bool = False


class Nursery:
    """Forks workers, kills the late and the unwanted, and says how each ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._wards: dict[int, _Ward] = {}
        self._bell, self._striker = socket.socketpair()
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Serve until the parent closes its end of `control`."""
        for end in (self._bell, self._striker):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler must stand for the bell to ring
        signal.set_wakeup_fd(self._striker.fileno(), warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ, self._admit)
        self._selector.register(self._bell, selectors.EVENT_READ, self._hear_bell)
        try:
            while self._serve_once():
                self._kill_late()
                self._reap()
        finally:
            for pid in self._wards:
                os.kill(pid, signal.SIGKILL)

    def _serve_once(self) -> bool:
        now = time.monotonic()
        waiting = [ward.deadline - now for ward in self._wards.values() if not ward.late]
        timeout = max(min(waiting), 0) if waiting else None
        return all(key.data() for key, _ in self._selector.select(timeout))

    def _hear_bell(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            while self._bell.recv(4096):
                pass
        return True

    def _admit(self) -> bool:
        header, fds, _, _ = socket.recv_fds(self._control, HEADER_BYTES, 2)
        if len(header) < HEADER_BYTES or len(fds) < 2:
            return False
        limits = Limits.unpacked(header)
        data, status = (socket.socket(fileno=fd) for fd in fds)
        try:
            pid = os.fork()
        except OSError:
            data.close()
            status.close()  # without a word: the parent asks again later
            return True
        if pid == 0:
            self._become_worker(data, limits)
        data.close()
        ward = _Ward(status, time.monotonic() + limits.wall_seconds)
        self._wards[pid] = ward
        self._selector.register(status, selectors.EVENT_READ, lambda: self._hung_up(pid, ward))
        return True

    def _become_worker(self, data: socket.socket, limits: Limits) -> None:
        code = EXIT_CRASHED
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                os.dup2(nowhere, standard)
            os.dup2(data.detach(), _DATA_FD)
            os.closerange(_DATA_FD + 1, _HIGHEST_FD)
            confine(limits)
            code = jobs.serve(socket.socket(fileno=_DATA_FD))
        finally:
            os._exit(code)

    def _hung_up(self, pid: int, ward: _Ward) -> bool:
        self._selector.unregister(ward.status)
        if pid in self._wards:
            os.kill(pid, signal.SIGKILL)
        return True

    def _kill_late(self) -> None:
        now = time.monotonic()
        for pid, ward in self._wards.items():
            if not ward.late and ward.deadline <= now:
                ward.late = True
                os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        while self._wards:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            ward = self._wards.pop(pid)
            killed = os.WIFSIGNALED(status)
            ending = {
                "late": ward.late,
                "signal": os.WTERMSIG(status) if killed else 0,
                "code": 0 if killed else os.WEXITSTATUS(status),
            }
            with contextlib.suppress(KeyError):
                self._selector.unregister(ward.status)
            with contextlib.suppress(OSError):
                ward.status.sendall(json.dumps(ending).encode())
            ward.status.close()


def main() -> None:
    """Serve on the socket whose number is the only argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    jobs.warm()
    gc.collect()
    gc.freeze()  # what is shared with the workers stays shared
    Nursery(control).run()


if __name__ == "__main__":
    main()
