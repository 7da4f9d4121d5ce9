"""Run git with a fixed argv, a scrubbed environment and bounded output. Child process only."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from tempfile import TemporaryFile
from typing import IO, BinaryIO

from git.cmd import Git
from git.exc import GitCommandNotFound

from reconciler.adapters.git.failures import local_failure
from reconciler.model.errors import Misconfigured, Unavailable

OUTPUT_LIMIT_BYTES = 96 * 1024 * 1024
_STDERR_LIMIT_BYTES = 64 * 1024
# Nothing a repository or a host sends may start a program, ask a person or change what we read.
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ADVICE": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": "/dev/null",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "core.askPass",
    "GIT_CONFIG_VALUE_2": "/bin/false",
}


@dataclass(frozen=True, slots=True)
class Output:
    """How one git process ended."""

    status: int
    stdout: bytes
    stderr: str


def _untouched(stderr: str) -> bool:
    """Take nothing away: a repository that others write, too."""
    return False


@dataclass(frozen=True, slots=True)
class Commands:
    """git with fixed first arguments (which repository) and environment.

    `lock_fd` is inherited by git, so that an orphan of a killed child still holds the lock.
    `tidied` is given what a git said that failed: whether it took away what stood in its way.
    """

    where: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    lock_fd: int | None = None
    tidied: Callable[[str], bool] = _untouched

    def within(
        self, environment: Mapping[str, str], settings: Mapping[str, str] | None = None
    ) -> "Commands":
        """Return the same with more environment, and with settings of git's configuration."""
        options = [
            word for name, text in (settings or {}).items() for word in ("-c", f"{name}={text}")
        ]
        merged = {**self.environment, **environment}
        return replace(self, where=(*self.where, *options), environment=merged)

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
    ) -> Output:
        """Run `git ARGUMENTS` to its end; the parent keeps the deadline.

        Raises Misconfigured when the output passes `limit_bytes`, Unavailable without git.
        """
        with TemporaryFile() as source:
            source.write(stdin)
            output = self._once(arguments, source, extra or {}, limit_bytes)
            if output.status and self.tidied(output.stderr):
                output = self._once(arguments, source, extra or {}, limit_bytes)
            return output

    def read(
        self, *arguments: str, stdin: bytes = b"", limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> bytes:
        """Run a command that succeeds on a sound repository, and return its output.

        Raises Damaged, or Unavailable for what is no damage (no memory, killed).
        """
        output = self.run(*arguments, stdin=stdin, limit_bytes=limit_bytes)
        if output.status == 0:
            return output.stdout
        raise failed(output)

    def _once(
        self,
        arguments: tuple[str, ...],
        source: BinaryIO,
        extra: Mapping[str, str],
        limit_bytes: int,
    ) -> Output:
        source.seek(0)
        return _collected(self._started(arguments, source, extra), limit_bytes)

    def _started(
        self, arguments: tuple[str, ...], source: BinaryIO, extra: Mapping[str, str]
    ) -> Git.AutoInterrupt:
        passed = () if self.lock_fd is None else (self.lock_fd,)
        try:
            return Git("/").execute(
                ["git", *self.where, *arguments],
                istream=source,
                as_process=True,
                env={**_FIXED, **self.environment, **extra},
                pass_fds=passed,
            )
        except (OSError, GitCommandNotFound) as error:
            raise Unavailable("git cannot be started: install git 2.39 or newer") from error


def failed(output: Output) -> Exception:
    """Return what the failure of a local command is: Damaged or Unavailable."""
    return local_failure(output.status, output.stderr)


def _collected(started: Git.AutoInterrupt, limit_bytes: int) -> Output:
    process = started.proc
    if process is None or process.stdout is None or process.stderr is None:
        raise Unavailable("git gave no output")
    errors: list[bytes] = []
    drain = threading.Thread(target=_drain, args=(process.stderr, errors), daemon=True)
    drain.start()
    stdout = process.stdout.read(limit_bytes + 1)
    if len(stdout) > limit_bytes:
        process.kill()
        raise Misconfigured(
            f"git's answer is larger than {limit_bytes // 1024 // 1024} MiB: "
            "keep specs in a repository of their own"
        )
    status = process.wait()
    drain.join(timeout=5)
    return Output(status, stdout, b"".join(errors).decode("utf-8", "replace"))


def _drain(stream: IO[bytes], into: list[bytes]) -> None:
    kept = 0
    while chunk := stream.read(4096):
        if kept < _STDERR_LIMIT_BYTES:
            into.append(chunk)
            kept += len(chunk)
