"""What the machine's CPUs are worth at this moment: two that share one core do the work of one."""

import os
import subprocess
import sys
from functools import cache
from statistics import median

SECONDS, ROUNDS = 0.4, 3
_LOOP = """\
import time
done, until = 0, time.monotonic() + {seconds}
while time.monotonic() < until:
    for number in range(1000):
        number + 1
    done += 1
print(done)
"""


@cache
def worth(section: str) -> tuple[float, float]:
    """Return the microseconds of a thousand additions on one CPU, and what all of them are worth.

    The latter is how many times what one does alone all do that work at once: 2.0 for two that do
    not disturb each other. Measured once for each `section`, right after it.
    """
    count = len(os.sched_getaffinity(0))
    pairs = [(_done(1), _done(count)) for _ in range(ROUNDS)]
    alone, together = (median(each) for each in zip(*pairs, strict=True))
    return SECONDS * 1e6 / alone, together / alone


def _done(at_once: int) -> int:
    """Return how many loops so many processes did together."""
    argv = [sys.executable, "-S", "-c", _LOOP.format(seconds=SECONDS)]
    processes = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(at_once)]
    return sum(int(process.communicate()[0]) for process in processes)
