"""Play the yardstick and write YARDSTICK.md: `python -m benchmarks.yardstick`.

Runs that a file of results holds already are not played again, so that it can be cut off at any
time. `--quick` plays the first days of three cases in under a minute, beside Informed-2 on the
same days, and writes nothing.
"""

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.results import commit
from benchmarks.yardstick import page, quick, runs
from benchmarks.yardstick.demand import Case
from benchmarks.yardstick.page import Row
from benchmarks.yardstick.runs import ADAPTIVE, ANCHORS, CASES, Work

RESULTS = Path(__file__).parent / "played.jsonl"
# Never looked at while the policy was made: 1 to 3, 101 to 112 and 201 to 216 were.
SEEDS = (11, 12, 13, 14, 15)


def options(arguments: list[str]) -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.yardstick")
    parser.add_argument("--cases", nargs="+", metavar="NAME", help="such as 60-pubg-50; all: 36")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--results", type=Path, default=RESULTS, help="one line a run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-anchors", action="store_true", help="play adaptive only")
    parser.add_argument("--quick", action="store_true", help="three cases, one seed, no page")
    return parser.parse_args(arguments)


def chosen(names: list[str] | None) -> tuple[Case, ...]:
    """Return the cases of these names, all of them where none is named.

    Raises SystemExit with the names that there are.
    """
    known = {case.name: case for case in CASES}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise SystemExit(f"no case {', '.join(unknown)}; there are: {', '.join(known)}")
    return tuple(known[name] for name in names) if names else CASES


def rows_of(cases: tuple[Case, ...], seeds: list[int], given: argparse.Namespace) -> list[Row]:
    """Play what is missing and return a row a case."""
    anchors = () if given.no_anchors else ANCHORS
    wanted = [Work(case, ADAPTIVE, seed) for case in cases for seed in seeds]
    wanted += [Work(case, name, 0) for case in cases for name in anchors]
    # The longest first, so that two processes end together.
    wanted.sort(key=lambda work: -work.case.peak_rooms)
    found = runs.play(wanted, given.results, given.processes)
    return [
        Row(
            case,
            {name: found[Work(case, name, 0).key] for name in anchors},
            [found[Work(case, ADAPTIVE, seed).key] for seed in seeds],
        )
        for case in cases
    ]


def main(arguments: list[str]) -> int:
    """Play, print the verdict, write the page; return 1 where the bar is missed."""
    given = options(arguments)
    if given.quick:
        return quick.main(given.processes)
    rows = rows_of(chosen(given.cases), given.seeds, given)
    made = f"{datetime.now(UTC):%Y-%m-%d} at commit {commit()}, {os.cpu_count()} CPUs, Python"
    note = f"Played on {made} {platform.python_version()}."
    page.PAGE.write_text(page.text(rows, given.seeds, note), encoding="utf-8")
    said, passed = page.verdict(rows)
    word = f"{'passed' if passed else 'MISSED'}. {page.JUDGED}"
    print("\n".join([*(row.text() for row in rows), *said, word]))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
