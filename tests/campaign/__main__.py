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
from tests.campaign.pieces import Piece, pieces, taken
from tests.scorecard import SETTING
from tests.seeds import seed_of_the_program

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / "benchmarks" / "campaign.jsonl"
RESULTS = ROOT / "benchmarks" / "CAMPAIGN.md"
SHOWN_CHARACTERS = 3000


def main() -> int:
    """Play what is left, as long as there is time; return 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no piece after them")
    parser.add_argument("--jobs", type=int, default=2, help="pieces at a time")
    given = parser.parse_args()
    ledger = Ledger.read(KEPT, seed_of_the_program(2**32), pieces())
    print(f"{len(ledger.left)} of {len(ledger.pieces)} pieces are left", flush=True)
    if ledger.void:
        print(f"{len(ledger.void)} were played of another program, and are void", flush=True)
    for played in _played(ledger, time.monotonic() + 60 * given.minutes, given.jobs):
        ledger.add(played)
        ledger.write(KEPT)
        said = "passed" if played.passed else "FAILED"
        print(f"{played.name}: {said} in {played.seconds} s", flush=True)
    RESULTS.write_text("\n".join(report(ledger)) + "\n", encoding="utf-8")
    where = f"{RESULTS.relative_to(ROOT)} says all; commit it with {KEPT.name}"
    print(f"{len(ledger.left)} of {len(ledger.pieces)} pieces are left; {where}")
    return int(bool(ledger.failed))


def _played(ledger: Ledger, until: float, jobs: int) -> Iterator[Played]:
    """Play pieces side by side, and yield each when it ends."""
    queue, commit = ledger.left, _commit()
    waiting: dict[Future[Played], Piece] = {}
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while queue and len(waiting) < jobs and time.monotonic() < until:
                piece = taken(queue, waiting.values())
                waiting[pool.submit(_play, piece, ledger.program, commit)] = piece
            if not waiting:
                return
            over, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for each in over:
                del waiting[each]
                yield each.result()


def _play(piece: Piece, program: int, commit: str) -> Played:
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
    rows = {int(row): each for row, each in kept.items() if piece.counts(int(row))}
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    seconds = round(time.monotonic() - began)
    return Played(piece.name, program, commit, date, seconds, passed, rows, said)


def _commit() -> str:
    words = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
