"""Run it by hand: `python -m tests.contract.differential --seed 4 --lives 20`."""

from __future__ import annotations

import argparse
import sys

from tests.contract.differential.lockstep import Lockstep
from tests.contract.differential.scenarios import Scenario
from tests.contract.differential.servers import InProcess, lonely_api_server


def main() -> int:
    """Compare, tell the differences, and exit 1 when there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract.differential")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lives", type=int, default=48, help="namespaces, one after the other")
    parser.add_argument("--steps", type=int, default=80, help="requests by chance in each")
    parser.add_argument("--shown", type=int, default=10, help="differences told in full")
    parser.add_argument("--only", default="", help="tell only classes that contain this")
    told = parser.parse_args()
    with lonely_api_server() as real:
        run = Lockstep(InProcess(), real)
        for life in range(told.lives):
            seed = f"{told.seed}/{life}"
            run.run(seed, Scenario(seed).steps(told.steps))
    found = [one for one in run.tally.differences if told.only in one.kind]
    print(*found[: told.shown], run.tally.report(), sep="\n\n")
    return 1 if run.tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
