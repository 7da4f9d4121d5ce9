import signal
import subprocess
import sys

import pytest

from reconciler.adapters.compiler.limits import (
    EXIT_MEMORY,
    HEADER_BYTES,
    MEBIBYTE,
    Ending,
    Limits,
)

CONFINED = """
import os
from reconciler.adapters.compiler.limits import Limits, confine
confine(Limits(1.0, {cpu}, {memory}))
{attempt}
"""


def ran(
    attempt: str, cpu: int = 5, memory: int = 512 * MEBIBYTE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            CONFINED.format(attempt=attempt, cpu=cpu, memory=memory),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


ATTEMPTS = [
    pytest.param("'a' * 600_000_000", "MemoryError", id="more memory"),
    pytest.param(
        "os.write(os.memfd_create('f'), b'x')",
        "File too large",
        id="a byte in a file",
    ),
    pytest.param("keep = [open('/dev/null') for _ in range(20)]", "Too many open", id="files"),
]


@pytest.mark.parametrize(("attempt", "refusal"), ATTEMPTS)
def test_a_confined_process_gets_no(attempt: str, refusal: str) -> None:
    done = ran(attempt)
    assert done.returncode != 0
    assert refusal in done.stderr


def test_a_confined_process_may_still_compute() -> None:
    assert ran("print(sum(range(1000)))").stdout == "499500\n"


@pytest.mark.long
def test_a_process_that_computes_on_is_ended_by_a_signal_that_says_so() -> None:
    assert ran("while True: pass", cpu=1).returncode == -signal.SIGXCPU


def test_limits_come_back_from_their_header() -> None:
    limits = Limits(2.25, 4, 77 * MEBIBYTE)
    assert len(limits.packed()) == HEADER_BYTES
    assert Limits.unpacked(limits.packed()) == limits


ENDINGS = [
    pytest.param(Ending(signal=signal.SIGPROF), "CPU", True, id="its own limit"),
    pytest.param(Ending(signal=signal.SIGXCPU), "CPU", True, id="the limit of its batch"),
    pytest.param(Ending(code=EXIT_MEMORY), "memory", True, id="no more memory"),
    pytest.param(Ending(signal=signal.SIGSEGV), "signal 11", True, id="a crash"),
    pytest.param(Ending(code=7), "code 7", True, id="an end of its own"),
    pytest.param(Ending(code=1, words="KeyError in a.py:3"), "a.py:3", True, id="our mistake"),
    pytest.param(Ending(late=True, signal=9), "too long", False, id="a deadline by the clock"),
    pytest.param(Ending(signal=9), "the system", False, id="killed, and not by us"),
    pytest.param(Ending(heard=False), "code 0", False, id="nothing heard of it"),
]


@pytest.mark.parametrize(("ending", "words", "certain"), ENDINGS)
def test_an_ending_says_why_and_whether_the_work_is_to_blame(
    ending: Ending, words: str, certain: bool
) -> None:
    assert words in str(ending)
    assert ending.is_certain is certain
