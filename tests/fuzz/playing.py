"""Play made inputs against a parser: nothing but its defined outcomes, and no case for long.

A case is a number: its input is made from that and the target's name. `GAMEKEEPER_SHARE=N/CASES`
plays the case N alone, which is how a failure is played again. An input that was once too much
stands in `found/<target>` and is played every time.
"""

import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import yaml

from tests.corpora.stories import content_of
from tests.loop.shares import SETTING, share
from tests.scorecard import score
from tests.seeds import PROGRAM

LONGEST_SECONDS = 2.0
"""Of CPU, for one case."""
ROW = 19
MOST_KINDS = 8
"""So many kinds of failures are told of one target."""
SHOWN_BYTES = 2000
FOUND = Path(__file__).with_name("found")
KEPT = Path(__file__).parents[2] / ".cache" / "fuzz"
"""Whole inputs of failures, which may be too long to print."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parser of what strangers write.

    `make` makes an input. `play` gives it to the parser: it takes the parser's defined exceptions
    and asserts what must hold of its result. `cases` are those of a whole campaign.
    """

    name: str
    cases: int
    make: Callable[[random.Random], bytes]
    play: Callable[[bytes], None]

    def input_of(self, number: int) -> bytes:
        """Return the input of a case."""
        return self.make(random.Random(f"{self.name} {number}"))

    def found(self) -> Iterator[tuple[str, bytes]]:
        """Yield the inputs that were once too much, with their names.

        Each stands there as `tests/corpora` writes how a long one is made.
        """
        for path in sorted((FOUND / self.name).glob("*.yaml")):
            yield path.stem, content_of(yaml.safe_load(path.read_text(encoding="utf-8")))


class Hang(BaseException):
    """A case took too long. No `except Exception` of the program takes it for its own."""


def search(target: Target) -> None:
    """Play what was found before, and the share of the cases that the environment asks for."""
    problems: dict[str, str] = {}
    numbers = share(range(target.cases), target.name)
    begun = time.process_time()
    played, hangs = 0, 0
    with _watch():
        for case, data in _cases(target, numbers):
            kind, told = _problem_of(target, data)
            played += 1
            if kind:
                hangs += kind.startswith(Hang.__name__)
                problems.setdefault(kind, _report(target, case, data, told))
            if len(problems) >= MOST_KINDS:
                break
    milliseconds = round(1000 * (time.process_time() - begun))
    score(ROW, inputs=played, unhandled=len(problems), hangs=hangs, ms_of_CPU=milliseconds)
    assert not problems, "\n".join(problems.values())


def _cases(target: Target, numbers: list[int]) -> Iterator[tuple[str, bytes]]:
    yield from target.found()
    for number in numbers:
        yield str(number), target.input_of(number)


def _problem_of(target: Target, data: bytes) -> tuple[str, str]:
    """Return what kind of failure a case is and its traceback; "" where all is well."""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LONGEST_SECONDS)
    try:
        target.play(data)
    except (Exception, Hang) as error:
        return _kind_of(error), "".join(traceback.format_exception(error)[-12:])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    took = time.process_time() - begun
    # A long stretch in C lets no handler run before it is over.
    return (Hang.__name__, f"it took {took:.1f} s of CPU") if took > LONGEST_SECONDS else ("", "")


def _kind_of(error: BaseException) -> str:
    """Return what is raised, and in which function of the program, or else of the test."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if PROGRAM.as_posix() in each.filename]
    at = ours[-1] if ours and not isinstance(error, AssertionError) else frames[-1]
    line = f":{at.lineno}" if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} in {Path(at.filename).name}:{at.name}{line}"


def _report(target: Target, case: str, data: bytes, told: str) -> str:
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{target.name}-{case}"
    kept.write_bytes(data)
    shown = data if len(data) <= SHOWN_BYTES else data[:SHOWN_BYTES] + b"[...]"
    again = f"{SETTING}={case}/{target.cases} pytest tests/fuzz -k {target.name}"
    return f"\n== {target.name}, case {case} ({again}; whole in {kept}):\n{shown!r}\n{told}"


@contextmanager
def _watch() -> Iterator[None]:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"more than {LONGEST_SECONDS:g} s of CPU")

    before = signal.signal(signal.SIGPROF, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGPROF, before)
