"""The parent's side of the child: start it, ask it, and kill its whole group on any oddity."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from reconciler.adapters.git import frames
from reconciler.adapters.git.failures import Damaged
from reconciler.model.errors import Conflict, Denied, Misconfigured, Unavailable

OPERATIONS_LIMIT = 500
_PARSE_ELSEWHERE_BYTES = 64 * 1024
_GOODBYE_SECONDS = 1.5
_START_SECONDS = 20.0
# What git, ssh and Python need of our environment; everything else stays here, GIT_* above all.
_PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
    "GNUPGHOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "PYTHONPATH", "http_proxy", "https_proxy",
    "no_proxy", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "all_proxy",
)  # fmt: skip
_ERRORS = {
    "Conflict": Conflict,
    "Unavailable": Unavailable,
    "Denied": Denied,
    "Misconfigured": Misconfigured,
    "Damaged": Damaged,
}

Answer = tuple[Mapping[str, Any], bytes]


class GitProcess:
    """One child at a time, with something opened in it; started when first asked."""

    def __init__(
        self, opening: str, arguments: Mapping[str, Any], operations_limit: int = OPERATIONS_LIMIT
    ) -> None:
        self._opening = opening
        self._arguments = arguments
        self._operations_limit = operations_limit
        self._process: asyncio.subprocess.Process | None = None
        self._operations = 0
        self._opened: Mapping[str, Any] = {}
        self._turn = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, which is its group's as well; None when there is none."""
        return None if self._process is None else self._process.pid

    @property
    def told(self) -> Mapping[str, Any]:
        """What the last opening said; empty before the first."""
        return self._opened

    async def opened(self) -> Mapping[str, Any]:
        """Return what the opening said. Raises PortError."""
        async with self._turn:
            await self._ready()
            return self._opened

    async def ask(
        self,
        operation: str,
        deadline_seconds: float,
        attached: bytes = b"",
        check: Callable[[], None] = lambda: None,
        **arguments: Any,
    ) -> Answer:
        """Do one operation in the child, which gets the `attached` bytes with it.

        `check` is asked after all waits, and may raise what keeps it from being done.
        Raises PortError; Damaged when the mirror must be made anew. On a deadline, an oddity or
        a cancellation the child and all its gits are killed, and the next call starts another.
        """
        async with self._turn:
            if self._operations >= self._operations_limit:
                await self._end()
            await self._ready()
            check()
            self._operations += 1
            return await self._exchange(operation, deadline_seconds, arguments, attached)

    async def close(self) -> None:
        """End the child; what it is doing is killed."""
        self._closed = True
        process = self._process
        if process is not None and self._turn.locked():
            _kill_group(process)
        async with self._turn:
            await self._end()

    async def _ready(self) -> None:
        if self._closed:
            raise Unavailable("the repository was closed")
        if self._process is not None:
            if self._process.returncode is None:
                return
            await self._kill()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "reconciler.adapters.git.child"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable(f"the Git process cannot be started: {error.strerror}") from error
        self._operations = 0
        try:
            self._opened, _ = await self._exchange(self._opening, _START_SECONDS, self._arguments)
        except BaseException:
            await self._kill()
            raise

    async def _exchange(
        self,
        operation: str,
        deadline_seconds: float,
        arguments: Mapping[str, Any],
        attached: bytes = b"",
    ) -> Answer:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise Unavailable("the Git process is gone; it is started again")
        try:
            async with asyncio.timeout(deadline_seconds):
                asked = {"operation": operation, "arguments": dict(arguments)}
                process.stdin.write(frames.packed(asked, attached))
                await process.stdin.drain()
                header, body = await frames.receive_raw(process.stdout)
        except TimeoutError as error:
            await self._kill()
            raise Unavailable(
                f"Git did not finish {operation!r} within {deadline_seconds:g} s and was ended. "
                "If that repeats, see whether the host answers"
            ) from error
        except (OSError, asyncio.IncompleteReadError) as error:
            words = await self._kill()
            raise Unavailable(
                f"the Git process ended during {operation!r}; it is started again{words}"
            ) from error
        except asyncio.CancelledError:
            # The answer would be taken for that of the next question.
            await asyncio.shield(self._kill())
            raise
        return await self._understood(header, body)

    async def _understood(self, header: bytes, body: bytes) -> Answer:
        large = len(header) > _PARSE_ELSEWHERE_BYTES
        parsed = await asyncio.to_thread(json.loads, header) if large else json.loads(header)
        error = parsed.get("error")
        if error in _ERRORS:
            raise _ERRORS[error](parsed["message"])
        if error is not None:
            await self._kill()
            raise Unavailable(f"{parsed['message']}; it is started again")
        return parsed, body

    async def _end(self) -> None:
        """Let the child leave by itself, for a moment."""
        process = self._process
        if process is not None and process.stdin is not None and process.returncode is None:
            process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GOODBYE_SECONDS):
                    await process.wait()
        await self._kill()

    async def _kill(self) -> str:
        """Kill the group and reap the child; return what it said last, for the message."""
        process, self._process = self._process, None
        if process is None:
            return ""
        _kill_group(process)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                _, stderr = await process.communicate()
                last = stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
                return f": {last[:200]}" if last else ""
        return ""


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return {**passed, "GIT_PYTHON_REFRESH": "quiet", "PYTHONDONTWRITEBYTECODE": "1"}
