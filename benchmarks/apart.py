"""Each measurement in a process of its own: what hangs or fails loses only itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

HERE = "--here"
"""The word that says: measure in this process."""

PASSED, MISSED, BROKEN = 0, 3, 4
"""Exit codes of the process that measures; Python itself ends with 1 or 2 in trouble."""

LAST_WORDS_SECONDS = 5.0
FAREWELL_SECONDS = 90.0
"""Long enough to end an API server and what stands on it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How some measurements ended: `word` is what the summary shows, "passed" when all held."""

    names: tuple[str, ...]
    word: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether everything was measured and held."""
        return self.word == "passed"


def measure_apart(names: Sequence[str], deadline_seconds: float) -> Ended:
    """Measure `names` in one process of their own, and end all of it at its deadline."""
    started = time.monotonic()
    argv = [sys.executable, "-m", "benchmarks", HERE, *names]
    with subprocess.Popen(argv, start_new_session=True) as process:
        try:
            code = process.wait(timeout=deadline_seconds)
            word = {PASSED: "passed", MISSED: "**MISSED**"}.get(code, f"**FAILED** (code {code})")
        except subprocess.TimeoutExpired:
            word = f"**HUNG** for {deadline_seconds:.0f} s"
            _end(process)
        except BaseException:
            _end(process)
            raise
        finally:
            # What a measurement that died left behind; its servers end by their guardian.
            _signal(process.pid, signal.SIGKILL)
    return Ended(tuple(names), word, time.monotonic() - started)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Let it say where it stands (`faulthandler`), then let it tidy up, then end it."""
    for number, seconds in (
        (signal.SIGUSR1, LAST_WORDS_SECONDS),
        (signal.SIGINT, FAREWELL_SECONDS),
    ):
        process.send_signal(number)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
        return


def _signal(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def summary(endings: Sequence[Ended]) -> str:
    """Return what came of all, as a table."""
    lines = ["", "| measured | ended | time |", "|---|---|---|"]
    lines += [f"| {', '.join(e.names)} | {e.word} | {e.seconds:.0f} s |" for e in endings]
    return "\n".join(lines)
