"""Our end of the zygote: start it, ask it for workers, close it."""

import os
import socket
import subprocess
import sys

from reconciler.adapters.compiler.limits import Limits
from reconciler.model.errors import Unavailable

PROGRAM = "reconciler.adapters.compiler.nursery"
_KEPT_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_CLOSE_SECONDS = 5.0


class Zygote:
    """The process that forks workers. Start it before anything else: its imports then cost no time.

    It is started by exec, so threads and event loops of ours do not matter; `hire` starts it
    where it is not running, or has died.
    """

    def __init__(self, program: str = PROGRAM) -> None:
        """Prepare to run the module `program`; another one than ours is for tests."""
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """Its process id, None where it does not run."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process and return at once; does nothing where it runs.

        Raises Unavailable.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair()
        # -P: the directory we stand in may be a stranger's repository, with a yaml.py in it.
        argv = [sys.executable, "-P", "-m", self._program, str(theirs.fileno())]
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a fixed argv of our own interpreter
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={**environment, "LC_ALL": "C.UTF-8"},
                start_new_session=True,  # Ctrl-C is ours to answer, not its
            )
        except OSError as error:
            ours.close()
            raise Unavailable(
                f"The compiler's process could not be started ({error.strerror}); is the machine "
                "out of memory or of processes?"
            ) from error
        finally:
            theirs.close()
        self._control = ours

    def hire(self, limits: Limits) -> tuple[socket.socket, socket.socket]:
        """Return the `data` and `status` sockets of a new worker.

        Raises Unavailable.
        """
        for _ in range(2):  # it may have died since the last time
            self.start()
            hired = self._ask(limits)
            if hired is not None:
                return hired
            self.close()
        raise Unavailable(
            "The compiler's process ends as soon as it is started; its own message is on stderr."
        )

    def kill(self) -> None:
        """End the process at once, though it may be stuck; the next `hire` starts another."""
        if self._process is not None:
            self._process.kill()
        self.close()

    def close(self) -> None:
        """End the process and every worker of it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(_CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _ask(self, limits: Limits) -> tuple[socket.socket, socket.socket] | None:
        if self._control is None:
            return None
        data, their_data = socket.socketpair()
        status, their_status = socket.socketpair()
        fds = [their_data.fileno(), their_status.fileno()]
        try:
            socket.send_fds(self._control, [limits.packed()], fds)
        except OSError:
            data.close()
            status.close()
            return None
        finally:
            their_data.close()
            their_status.close()
        return data, status
