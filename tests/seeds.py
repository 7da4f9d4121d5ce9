"""Where tests that play by chance begin."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "reconciler"


def seed_of_the_program(below: int) -> int:
    """Return a seed that is new for each change of the program, and the same for the same program.

    A seed drawn anew for each run finds as much; but then what a run of CI says depends on the
    run, and not on what it was asked about.
    """
    return _digest() % below


@cache
def _digest() -> int:
    digest = hashlib.sha256()
    for file in sorted(PROGRAM.rglob("*.py")):
        digest.update(file.relative_to(PROGRAM).as_posix().encode() + b"\0")
        digest.update(file.read_bytes())
    return int.from_bytes(digest.digest()[:8], "big")
