"""What needs no cluster: help, validation, and the diff of two commits."""

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import stage
from benchmarks.results import Figure, Section, at_most, median_and_all
from tests.gitservers.repositories import BareRepository

ROUNDS = 5
VALIDATED, COMPARED = 100, 1000
CHANGED = 10
HELP_MOST_SECONDS, VALIDATE_MOST_SECONDS, DIFF_MOST_SECONDS = 0.2, 1.0, 5.0


def measure() -> Section:
    """Measure the three commands, whole processes."""
    with tempfile.TemporaryDirectory(prefix="gamekeeper-bench-") as name:
        folder = Path(name)
        few = stage.write_files(folder / "few", stage.files(_counts(VALIDATED)))
        bare = BareRepository.create(folder, "fleet.git")
        base = bare.commit(stage.files(_counts(COMPARED)), "A thousand specs")
        more = {
            f"schedulers/arena-{n}.yaml": stage.scheduler(f"arena-{n}", 9) for n in range(CHANGED)
        }
        head = bare.commit(dict(more), "Ten of them grow")
        entrance = [_seconds(["--help"]) for _ in range(ROUNDS)]
        told = [_seconds(["run", "--help"]) for _ in range(ROUNDS)]
        validated = [_seconds(["validate", str(few)]) for _ in range(ROUNDS)]
        compared = [_seconds(["diff", base, head], bare.path, (2,)) for _ in range(ROUNDS)]
    lines = (
        ("`--help`", entrance, HELP_MOST_SECONDS),
        ("`run --help`", told, HELP_MOST_SECONDS),
        (f"`validate`, {VALIDATED} specs", validated, VALIDATE_MOST_SECONDS),
        (f"`diff BASE HEAD`, {COMPARED:,} specs", compared, DIFF_MOST_SECONDS),
    )
    figures = [at_most(what, statistics.median(each), most, "s") for what, each, most in lines]
    figures += [Figure(f"{what}, each run", median_and_all(each, "s")) for what, each, _ in lines]
    notes = [
        f"Whole processes, start to exit. No two specs have the same template; {CHANGED} of"
        f" {COMPARED:,} differ between the commits.",
    ]
    return Section("offline", "commands without a cluster", figures, notes)


def _counts(specs: int) -> dict[str, int]:
    return {f"arena-{number}": 3 for number in range(specs)}


def _seconds(words: list[str], cwd: Path | None = None, codes: tuple[int, ...] = (0,)) -> float:
    started = time.monotonic()
    stage.gamekeeper(*words, cwd=cwd, codes=codes)
    return time.monotonic() - started
