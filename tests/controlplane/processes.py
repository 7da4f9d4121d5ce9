"""Server processes of a test run: started with a log, waited for, and never left behind."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

GUARDIAN = Path(__file__).parent / "guardian.py"
# Below the range from which Linux gives ports to outgoing connections, which would race with us.
PORTS = range(20_000, 32_000)
_GIVEN: set[int] = set()


class StartFailed(Exception):
    """A server did not come up; the text holds the end of its log."""


def free_ports(count: int) -> list[int]:
    """Return distinct ports of the loopback address that nobody listens on.

    They are ours until this process ends: other test runs, which are given theirs here too, take
    none of them before their servers listen, nor while those are gone for a while.
    """
    found: list[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        if _is_taken(port):
            continue
        found.append(port)
        if len(found) == count:
            return found
    raise StartFailed(f"no {count} free ports on the loopback address")


def _is_taken(port: int) -> bool:
    """Whether somebody has it; if nobody has, it is ours from now on."""
    if port in _GIVEN:
        return True
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
        _GIVEN.add(port)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    except OSError:
        return True
    return False


@cache
def _locks() -> int:
    """Open the file of which each byte stands for a port; its locks end with this process."""
    path = Path(tempfile.gettempdir()) / f"gamekeeper-ports-{os.getuid()}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


class Server:
    """One running server process and its log file."""

    def __init__(self, name: str, argv: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        self._argv = argv
        self._process = self._spawn()

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as sink:
            # A session of its own: Ctrl-C on the terminal must not end it before its clients.
            return subprocess.Popen(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def is_running(self) -> bool:
        """Tell whether the process lives."""
        return self._process.poll() is None

    def log_tail(self, lines: int = 15) -> str:
        """Return the last lines of the log."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def ask_to_stop(self) -> None:
        """Send SIGTERM without waiting."""
        if self.is_running():
            self._process.send_signal(signal.SIGTERM)

    def stop(self, grace_seconds: float = 10.0) -> None:
        """Send SIGTERM, and SIGKILL once the grace is over."""
        self.ask_to_stop()
        try:
            self._process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def freeze(self) -> None:
        """Send SIGSTOP: the kernel still takes connections, and nobody answers."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Send SIGKILL and reap."""
        self._process.kill()
        self._process.wait()

    def start_again(self) -> None:
        """Start it anew in its place, once it has ended."""
        self._process = self._spawn()


class ServerGroup:
    """Servers that share one folder, and end with it.

    Leaving the block stops the servers in the reverse of their start. When this process dies
    without leaving it (SIGKILL included), the guardian kills them and removes the folder.
    """

    def __init__(self, purpose: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"gamekeeper-{purpose}-"))
        self._servers: list[Server] = []
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARDIAN), str(os.getpid()), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def servers(self) -> tuple[Server, ...]:
        """Return the servers in the order of their start."""
        return tuple(self._servers)

    def start(self, name: str, argv: Sequence[str]) -> Server:
        """Start a server; its log is `<name>.log` in the folder."""
        server = Server(name, argv, self.folder / f"{name}.log")
        self._servers.append(server)
        self._guard(server)
        return server

    def start_again(self, server: Server) -> None:
        """Start a server anew that has ended."""
        server.start_again()
        self._guard(server)

    def _guard(self, server: Server) -> None:
        if self._guardian.stdin is not None:
            self._guardian.stdin.write(f"{server.pid}\n".encode())
            self._guardian.stdin.flush()

    def retire(self, server: Server) -> None:
        """Stop one server, which is then no longer expected to live."""
        self._servers.remove(server)
        server.stop()

    def wait_until(
        self, is_ready: Callable[[], bool], *, what: str, deadline_seconds: float
    ) -> None:
        """Wait for a condition while every server lives.

        Raises:
            StartFailed: a server ended, or the deadline passed; with the ends of the logs.
        """
        deadline = time.monotonic() + deadline_seconds
        while not is_ready():
            ended = [server for server in self._servers if not server.is_running()]
            if ended or time.monotonic() > deadline:
                blamed = ended or self._servers
                cause = "a server ended" if ended else f"not within {deadline_seconds:.0f} s"
                tails = "\n".join(f"--- {server.name}\n{server.log_tail()}" for server in blamed)
                raise StartFailed(f"waited for {what}: {cause}\n{tails}")
            time.sleep(0.05)

    def close(self) -> None:
        """Stop the servers, last started first, remove the folder, dismiss the guardian."""
        for server in reversed(self._servers):
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._guardian.stdin is not None and not self._guardian.stdin.closed:
            self._guardian.stdin.close()
        self._guardian.wait()
