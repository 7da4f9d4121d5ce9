"""Where tests that play by chance begin."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / "reconciler"
PARTS = (("reconciler", "*.py"), ("schemas", "*.json"), ("templates", "*.j2"))
"""What the program is made of, by folder: templates and schemas act as its modules do."""


def seed_of_the_program(below: int) -> int:
    """Return a seed that is new for each change of the program, and the same for the same program.

    A seed drawn anew for each run finds as much; but then what a run of CI says depends on the
    run, and not on what it was asked about.
    """
    return digest_of(ROOT) % below


@cache
def digest_of(root: Path) -> int:
    """Return a number that is another one where any part of the program below `root` is."""
    digest = hashlib.sha256()
    for folder, files in PARTS:
        for file in sorted((root / folder).rglob(files)):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0")
            digest.update(file.read_bytes())
    return int.from_bytes(digest.digest()[:8], "big")
