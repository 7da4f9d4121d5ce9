"""The figures of the scorecard: what was tried of each row, and what went wrong.

A test counts what it tried with `score`; the run prints the rows that it met. Figures are added up,
and of those that begin as `MOST` says the largest is kept. Where the
environment names a file, they are added to it as JSON too: that is how a campaign gathers the
figures of its pieces. The rows are those of the issue that asks for them.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

SETTING = "GAMEKEEPER_SCORECARD"
ROWS = {
    1: "crash before and after every write, of files and git too, rooms occupied",
    2: "every request fails in every way, rooms occupied",
    3: "every read is old at six depths, and watches break, rooms occupied",
    4: "ends, with budgets, accounts and records, and rooms made and removed, as undisturbed",
    5: "comes to rest once faults stop, and rests: rooms occupied, counts committed",
    6: "seeds of all faults mixed",
    7: "planted bugs",
    8: "transitions of specs, chained against from scratch, rooms occupied in some; mistakes",
    9: "real processes killed at any moment, also inside git, and frozen; rooms occupied",
    10: "two that lead, pauses of the leader and clocks set by chance, rooms occupied",
    11: "ways in which what is wanted vanishes",
    15: "hours of Git that fails in thirteen ways, rooms occupied",
    16: "hostile repositories, rooms occupied",
    17: "hostile YAML, rooms occupied",
    18: "hostile templates, rooms occupied",
    19: "fuzzed parsers of what strangers write",
    20: "webhooks that are forged, and that are sent again",
    22: "places of secrets, in all that the run says",
    25: "storms of an API server, watches and Git hosts that stall, rooms occupied",
}
ASKED: dict[int, dict[str, int]] = {
    1: {"points": 1000},
    6: {"seeds": 1000, "replays": 100},
    7: {"planted_bugs": 30},
    8: {"transitions": 500, "transitions_in_match": 500, "refused_specs": 60},
    9: {"kills": 200},
    11: {"ways": 20},
    15: {"hours": 24},
    16: {"repositories": 60},
    17: {"files": 60},
    18: {"templates": 50},
    19: {"ms_of_CPU": 3_600_000},
    20: {"forged": 100_000, "sent_again": 10_000},
    22: {"places": 10},
    25: {"storms": 4, "stalls": 17},
}
"""How many the issue asks for at least, where it says a number."""
MOST = ("most_", "places")
"""How figures begin of which the largest is kept, where others are added up."""
FIGURES: dict[int, Counter[str]] = {}


def score(row: int, **figures: int) -> None:
    """Add to the figures of a row: what was tried, and what of it went wrong."""
    assert row in ROWS, f"the scorecard has no row {row}"
    added(FIGURES.setdefault(row, Counter()), figures)


def take_in(figures: Mapping[int, Mapping[str, int]]) -> None:
    """Add the figures of a child that was forked, which counted by itself."""
    for row, counted in figures.items():
        added(FIGURES.setdefault(row, Counter()), counted)


def added(to: Counter[str], figures: Mapping[str, int]) -> None:
    """Add figures to those that are there; of the extremes the larger one stays."""
    for name, figure in figures.items():
        to[name] = max(to[name], figure) if name.startswith(MOST) else to[name] + figure


def told() -> Iterator[str]:
    """Return a line for each row that was met."""
    for row, figures in sorted(FIGURES.items()):
        yield f"row {row}, {ROWS[row]}: {worded(figures)}"


def worded(figures: Mapping[str, int]) -> str:
    """Return figures in words."""
    return ", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in figures.items())


def keep() -> None:
    """Write the figures where the environment says."""
    path = os.environ.get(SETTING)
    if path:
        Path(path).write_text(json.dumps(FIGURES), encoding="utf-8")
