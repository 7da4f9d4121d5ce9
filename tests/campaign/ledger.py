"""What of a campaign is played: kept after each piece, and void once the program changes."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.campaign.pieces import Piece
from tests.scorecard import ROWS, added


@dataclass(frozen=True, slots=True)
class Played:
    """How a piece went; `figures` by row of the scorecard."""

    name: str
    passed: bool
    seconds: float
    figures: dict[int, dict[str, int]]
    said: str = ""
    """The end of its output, where it failed."""


@dataclass(slots=True)
class Ledger:
    """`program` is the seed of the program's text: pieces of two programs do not add up."""

    program: int
    played: dict[str, Played] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, program: int) -> Self:
        """Return what stands in a file; nothing where there is none, or of another program."""
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls(program)
        if kept["program"] != program:
            return cls(program)
        return cls(program, {each["name"]: _played(each) for each in kept["played"]})

    def write(self, path: Path) -> None:
        """Keep it: a piece that is played is not lost, whenever the next one ends."""
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"program": self.program, "played": [asdict(each) for each in self.played.values()]}
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(kept), encoding="utf-8")
        fresh.replace(path)

    def left(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Return what is still to be played: what failed is played again."""
        return [piece for piece in pieces if not self.is_passed(piece)]

    def is_passed(self, piece: Piece) -> bool:
        """Whether a piece was played, and nothing failed."""
        known = self.played.get(piece.name)
        return known is not None and known.passed

    def figures(self) -> dict[int, Counter[str]]:
        """Add up the figures of all pieces, by row."""
        sums: dict[int, Counter[str]] = {}
        for played in self.played.values():
            for row, figures in played.figures.items():
                added(sums.setdefault(row, Counter()), figures)
        return sums


def _played(kept: dict[str, Any]) -> Played:
    """Read what `asdict` made; JSON has no numbers as names."""
    figures = {int(row): each for row, each in kept["figures"].items()}
    return Played(**kept | {"figures": figures})


def report(ledger: Ledger, pieces: list[Piece], heading: str) -> Iterator[str]:
    """Yield the lines of the results file."""
    left = ledger.left(pieces)
    yield "# The campaign"
    yield ""
    yield "Written by `make campaign`. " + heading
    yield ""
    minutes = sum(each.seconds for each in ledger.played.values()) / 60
    passed = len(pieces) - len(left)
    yield f"{passed} of {len(pieces)} pieces are played and passed, in {minutes:.0f} minutes."
    yield ""
    yield "| row | what | figures |"
    yield "|---|---|---|"
    for row, figures in sorted(ledger.figures().items()):
        said = ", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in figures.items())
        yield f"| {row} | {ROWS[row]} | {said} |"
    failed = [each for each in ledger.played.values() if not each.passed]
    for each in failed:
        yield ""
        yield f"**Failed:** {each.name}"
        yield ""
        yield "```"
        yield each.said
        yield "```"
