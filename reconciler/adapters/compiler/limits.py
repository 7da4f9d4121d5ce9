"""What a worker may use, and in words what became of one that used more."""

import resource
import signal
import struct
import sys
from dataclasses import dataclass

_HEADER = struct.Struct(">dIQ")
HEADER_BYTES = _HEADER.size
_OPEN_FILES = 16
MEBIBYTE = 1024 * 1024

EXIT_CRASHED = 1
EXIT_MEMORY = 3
EXIT_GARBLED = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """For one worker: `wall_seconds` by its parent's clock, the rest by the kernel."""

    wall_seconds: float
    cpu_seconds: int
    memory_bytes: int = 512 * MEBIBYTE

    def packed(self) -> bytes:
        """Return the limits in `HEADER_BYTES` bytes."""
        return _HEADER.pack(self.wall_seconds, self.cpu_seconds, self.memory_bytes)

    @staticmethod
    def unpacked(header: bytes) -> "Limits":
        """Read limits back from `packed`."""
        return Limits(*_HEADER.unpack(header))


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of CPU: for a tree (one more for 50 files), a file alone, a workload's render."""

    tree_seconds: float = 10.0
    file_seconds: float = 2.0
    render_seconds: float = 2.0


def confine(limits: Limits) -> None:
    """Put this process under `limits`, for good: no files written, no processes started."""
    if sys.platform != "darwin":  # which refuses to limit it
        _limit(resource.RLIMIT_AS, limits.memory_bytes)
    # A second apart, so that the end comes by SIGXCPU, which tells why, and not by SIGKILL.
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NPROC, 0)


def _limit(what: int, soft: int, hard: int | None = None) -> None:
    ceiling = resource.getrlimit(what)[1]  # a container's own, which cannot be raised
    if ceiling == resource.RLIM_INFINITY:
        ceiling = max(soft, hard or 0)
    resource.setrlimit(what, (min(soft, ceiling), min(hard or soft, ceiling)))


def allow_cpu(seconds: float) -> None:
    """Let the kernel end this process after `seconds` more of CPU; 0 lifts the limit.

    SIGPROF keeps its default action, so that one long C call cannot put it off.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a worker ended: past its deadline, by a signal, or with a code; `heard` if at all.

    `words` are the worker's own, where it failed and could still speak.
    """

    late: bool = False
    signal: int = 0
    code: int = 0
    heard: bool = True
    words: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether the work itself is to blame, and not perhaps a machine under load."""
        return self.heard and not self.late and self.signal != signal.SIGKILL

    def __str__(self) -> str:
        if self.words:
            return f"made Gamekeeper itself fail ({self.words}); please report it"
        if self.late:
            return "took too long"
        if self.signal in (signal.SIGPROF, signal.SIGXCPU):
            return "used too much CPU time"
        if self.code == EXIT_MEMORY:
            return "needed too much memory"
        if self.signal == signal.SIGKILL:
            return "was killed by the system, most likely because the machine's memory ran out"
        if self.signal:
            return f"crashed its process (signal {self.signal})"
        return f"ended its process (code {self.code})"
