"""What of a campaign is played, over days and machines: a line for each piece, in the repository.

What was played of another program stays there, and is not added up: it proves nothing of this one.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.campaign.pieces import Piece
from tests.scorecard import ASKED, ROWS, added, worded


@dataclass(frozen=True, slots=True)
class Played:
    """How a piece went; `figures` by row of the scorecard.

    `program` is the seed of the program's text, `commit` and `date` say which and when to people.
    """

    name: str
    program: int
    commit: str
    date: str
    seconds: int
    passed: bool
    figures: dict[int, dict[str, int]]
    said: str = ""
    """The end of its output, where it failed."""

    def line(self) -> str:
        """Return it as it is kept: a pass has nothing to say."""
        kept = asdict(self)
        if not self.said:
            del kept["said"]
        return json.dumps(kept, ensure_ascii=False)


@dataclass(slots=True)
class Ledger:
    """The `pieces` of a campaign, and what was `played` of them: of this `program`, and `void`."""

    program: int
    pieces: list[Piece]
    played: dict[str, Played] = field(default_factory=dict)
    void: dict[str, Played] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, program: int, pieces: Iterable[Piece]) -> Self:
        """Return what stands in a file, or nothing; of pieces that there are no more, neither."""
        made = cls(program, list(pieces))
        names = {piece.name for piece in made.pieces}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for played in map(_played, lines):
            if played.name in names:
                made._keep(played)
        return made

    def add(self, played: Played) -> None:
        """Take in a piece that was played; of what it was in another program nothing is kept."""
        self.void.pop(played.name, None)
        self._keep(played)

    def write(self, path: Path) -> None:
        """Keep it: a piece that is played is not lost, whenever the next one ends."""
        kept = self.void | self.played
        lines = [kept[piece.name].line() for piece in self.pieces if piece.name in kept]
        fresh = path.with_suffix(".new")
        fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        fresh.replace(path)

    @property
    def left(self) -> list[Piece]:
        """What is still to be played: what failed is played again."""
        passed = {each.name for each in self.played.values() if each.passed}
        return [piece for piece in self.pieces if piece.name not in passed]

    @property
    def failed(self) -> list[Played]:
        """What was played and failed."""
        return [each for each in self.played.values() if not each.passed]

    def figures(self) -> dict[int, Counter[str]]:
        """Add up the figures of all pieces, by row."""
        sums: dict[int, Counter[str]] = {}
        for played in self.played.values():
            for row, figures in played.figures.items():
                added(sums.setdefault(row, Counter()), figures)
        return sums

    def _keep(self, played: Played) -> None:
        kept = self.played if played.program == self.program else self.void
        kept[played.name] = played


def _played(line: str) -> Played:
    """Read a line back; JSON has no numbers as names."""
    kept: dict[str, Any] = json.loads(line)
    figures = {int(row): each for row, each in kept["figures"].items()}
    return Played(**kept | {"figures": figures})


def report(ledger: Ledger) -> Iterator[str]:
    """Yield the lines of the results file."""
    played, left = ledger.played.values(), ledger.left
    yield "# The campaign"
    yield ""
    yield (
        "Written by `make campaign`, which goes on where it ended; `campaign.jsonl` beside this "
        "has each piece with its program, commit, date and seconds."
    )
    yield ""
    minutes = sum(each.seconds for each in played) / 60
    passed = len(ledger.pieces) - len(left)
    yield (
        f"Of the program {ledger.program}, {passed} of {len(ledger.pieces)} pieces are played and "
        f"passed, in {minutes:.0f} minutes of one job{_when(ledger)}."
    )
    if ledger.void:
        yield ""
        yield f"{len(ledger.void)} more were played of other programs, and are not added up."
    yield ""
    yield "| row | what | figures | asked |"
    yield "|---|---|---|---|"
    figures = ledger.figures()
    for row, what in ROWS.items():
        said = worded(figures[row]) if row in figures else "**not played yet**"
        asked = ASKED.get(row, {})
        if row in figures and any(figures[row][each] < number for each, number in asked.items()):
            said += ": **fewer than asked**"
        said += _partly(ledger, row) if row in figures else ""
        yield f"| {row} | {what} | {said} | {worded(asked)} |"
    for each in ledger.failed:
        yield ""
        yield f"**Failed:** {each.name}"
        yield ""
        yield "```"
        yield each.said
        yield "```"


def _partly(ledger: Ledger, row: int) -> str:
    """Say of a row that not all of it is played, with how much is."""
    pieces = [piece for piece in ledger.pieces if row in piece.rows]
    left = sum(row in piece.rows for piece in ledger.left)
    return f" (**{len(pieces) - left} of {len(pieces)} pieces**)" if left else ""


def _when(ledger: Ledger) -> str:
    dates = sorted(each.date for each in ledger.played.values())
    commits = {each.commit: "" for each in sorted(ledger.played.values(), key=lambda at: at.date)}
    if not dates:
        return ""
    return f", from {dates[0]} to {dates[-1]}, at {', '.join(commits)}"
