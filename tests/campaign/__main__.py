"""Play a campaign, or go on with one: `python -m tests.campaign --minutes 60`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

from tests.campaign.ledger import Ledger, Played, report
from tests.campaign.pieces import Piece, pieces
from tests.scorecard import SETTING
from tests.seeds import seed_of_the_program

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / ".cache" / "campaign.json"
RESULTS = ROOT / "benchmarks" / "CAMPAIGN.md"
SHOWN_CHARACTERS = 3000


def main() -> int:
    """Play what is left, as long as there is time; return 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no piece after them")
    parser.add_argument("--jobs", type=int, default=2, help="pieces at a time")
    given = parser.parse_args()
    ledger = Ledger.read(KEPT, seed_of_the_program(2**32))
    everything = list(pieces())
    for played in _played(ledger.left(everything), time.monotonic() + 60 * given.minutes, given):
        ledger.played[played.name] = played
        ledger.write(KEPT)
        said = "passed" if played.passed else "FAILED"
        print(f"{played.name}: {said} in {played.seconds:.0f} s", flush=True)
    lines = report(ledger, everything, _heading(ledger))
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    left = ledger.left(everything)
    print(f"{len(left)} of {len(everything)} pieces are left; {RESULTS.relative_to(ROOT)} says all")
    return int(any(not each.passed for each in ledger.played.values()))


def _played(left: list[Piece], until: float, given: argparse.Namespace) -> Iterator[Played]:
    """Play pieces side by side, and yield each when it ends."""
    with ThreadPoolExecutor(given.jobs) as pool:
        waiting: set[Future[Played]] = set()
        queue = iter(left)
        while True:
            while len(waiting) < given.jobs and time.monotonic() < until:
                piece = next(queue, None)
                if piece is None:
                    break
                waiting.add(pool.submit(_play, piece))
            if not waiting:
                return
            over, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (each.result() for each in over)


def _play(piece: Piece) -> Played:
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder, "figures.json")
        environment = os.environ | {SETTING: str(figures)}
        if piece.setting:
            environment[piece.setting] = piece.value
        command = [sys.executable, "-m", "pytest", "-q", *piece.arguments]
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        kept = json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}
    passed = done.returncode == 0
    said = "" if passed else (done.stdout + done.stderr)[-SHOWN_CHARACTERS:]
    rows = {int(row): each for row, each in kept.items()}
    return Played(piece.name, passed, time.monotonic() - began, rows, said)


def _heading(ledger: Ledger) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{now}, commit {commit}; the seed of the program is {ledger.program}."


if __name__ == "__main__":
    sys.exit(main())
