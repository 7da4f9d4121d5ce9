"""Play a campaign, or go on with one: `python -m tests.campaign --minutes 60`."""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from tests.campaign.ledger import Ledger, Played, report
from tests.campaign.pieces import Piece, pieces, taken
from tests.campaign.playing import ROOT, play
from tests.seeds import seed_of_the_program

KEPT = ROOT / "benchmarks" / "campaign.jsonl"
RESULTS = ROOT / "benchmarks" / "CAMPAIGN.md"


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
                waiting[pool.submit(play, piece, ledger.program, commit)] = piece
            if not waiting:
                return
            over, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for each in over:
                del waiting[each]
                yield each.result()


def _commit() -> str:
    words = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
