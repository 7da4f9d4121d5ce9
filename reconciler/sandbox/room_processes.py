"""Rooms as processes of this machine: one command per running pod, in that pod's environment."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from reconciler.sandbox import clock, room_guardian
from reconciler.sandbox.requests import Json

_LINES, _LINE_BYTES = 2000, 8192
_FROM_HERE = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "VIRTUAL_ENV")
# The process waits for one line before it becomes the command: by then the guardian knows it.
_WAIT = 'read -r line && exec "$@" </dev/null'
_PATIENCE_SECONDS = 2.0


class Room(Protocol):
    """What a pod's process is given."""

    def environment(self, pod: Json) -> Mapping[str, str]:
        """Return the environment of the process of a pod."""

    def forget(self, uid: str) -> None:
        """Remove what was made for a pod that is no more."""


@dataclass(slots=True)
class _Run:
    """One pod's process, from the first thought of it to its end."""

    namespace: str
    name: str
    lines: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_LINES))
    group: int = 0
    code: int | None = None
    sent: signal.Signals | None = None
    task: asyncio.Task[None] | None = None

    def send(self, number: signal.Signals) -> None:
        """Send a signal, or keep it until there is a process; SIGKILL goes to all it started."""
        self.sent = number
        if self.group and self.code is None:
            with suppress(ProcessLookupError):
                (os.killpg if number is signal.SIGKILL else os.kill)(self.group, number)


class RoomProcesses:
    """Runs `command` in every pod, for as long as its `async with` block lasts.

    `ended` is called with the namespace and the name of a pod whose process has ended by itself.
    Every process leads a group of its own, which goes with it; a guardian ends them all where
    this process is killed.
    """

    def __init__(
        self, command: Sequence[str], room: Room, ended: Callable[[str, str], None]
    ) -> None:
        self._command = command
        self._room = room
        self._ended = ended
        self._runs: dict[str, _Run] = {}
        self._guardian: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        self._guardian = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", room_guardian.__file__, str(os.getpid())),
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        for run in self._runs.values():
            run.send(signal.SIGTERM)
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE_SECONDS)
        for run in self._runs.values():
            run.send(signal.SIGKILL)
        for uid in [*self._runs]:
            self.forget(uid)
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._guardian is not None and self._guardian.stdin is not None:
            self._guardian.stdin.close()
            await self._guardian.wait()

    def start(self, pod: Json, now: float) -> None:
        """Start the command for a pod."""
        metadata = pod["metadata"]
        run = _Run(metadata["namespace"], metadata["name"])
        self._runs[metadata["uid"]] = run
        run.task = asyncio.create_task(self._live(run, pod))

    def runs(self, uid: str) -> bool:
        """Tell whether its process runs."""
        run = self._runs.get(uid)
        return run is not None and run.code is None

    def ended(self, uid: str) -> int | None:
        """Tell the exit code of a process that has ended, 128 and the signal's where one did it."""
        run = self._runs.get(uid)
        return None if run is None else run.code

    def stop(self, uid: str) -> None:
        """Send SIGTERM once."""
        run = self._runs.get(uid)
        if run is not None and run.sent is None:
            run.send(signal.SIGTERM)

    def kill(self, uid: str) -> None:
        """Send SIGKILL."""
        run = self._runs.get(uid)
        if run is not None:
            run.send(signal.SIGKILL)

    def forget(self, uid: str) -> None:
        """Kill it, and forget what it printed."""
        self.kill(uid)
        if self._runs.pop(uid, None) is not None:
            self._room.forget(uid)

    def printed(self, uid: str, container: str) -> Sequence[tuple[str, str]]:
        """List the last lines that it printed; a pod has one process, whatever its containers."""
        run = self._runs.get(uid)
        return () if run is None else list(run.lines)

    async def _live(self, run: _Run, pod: Json) -> None:
        """Run the command to its end."""
        base = {name: os.environ[name] for name in _FROM_HERE if name in os.environ}
        code = 127
        try:
            process = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", _WAIT, "room", *self._command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env={**base, **self._room.environment(pod)},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # no environment holds a NUL
            why = error.strerror if isinstance(error, OSError) else error
            _note(run, f"cannot be started: {why}")
        else:
            code = await self._watch(run, process)
        run.code = code if code >= 0 else 128 - code
        self._ended(run.namespace, run.name)

    async def _watch(self, run: _Run, process: asyncio.subprocess.Process) -> int:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the pipes were asked for")
        run.group = process.pid
        self._tell_guardian("+", run.group)
        if run.sent is not None:
            run.send(run.sent)
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(b"\n")
            process.stdin.close()
        reading = asyncio.create_task(_read(run, process.stdout))
        code = await process.wait()
        # What it left behind goes with it, as in a container.
        with suppress(ProcessLookupError):
            os.killpg(run.group, signal.SIGKILL)
        self._tell_guardian("-", run.group)
        await asyncio.wait({reading}, timeout=_PATIENCE_SECONDS)
        reading.cancel()
        return code

    def _tell_guardian(self, sign: str, group: int) -> None:
        guardian = self._guardian
        if guardian is not None and guardian.stdin is not None:
            guardian.stdin.write(f"{sign}{group}\n".encode())


async def _read(run: _Run, stream: asyncio.StreamReader) -> None:
    rest = b""
    while block := await stream.read(_LINE_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            _note(run, line.decode(errors="replace"))
        if len(rest) >= _LINE_BYTES:
            _note(run, rest.decode(errors="replace"))
            rest = b""
    if rest:
        _note(run, rest.decode(errors="replace"))


def _note(run: _Run, text: str) -> None:
    run.lines.append((clock.stamp(time.time()), text))
