"""What was measured: figures beside what must hold, and the page that shows them."""

import platform
import re
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.calibration import worth
from tests.controlplane.programs import kubernetes_version

PAGE = Path(__file__).with_name("RESULTS.md")
HEAD = """\
# Measured

Written by `python -m benchmarks`; `python -m benchmarks NAME` replaces one section. Each section
says when and on what it was measured. Kubectl, the raw client and the bare handler ran in the same
run, on the same real API server, one after the other: take ratios, not absolutes. Lines that begin
with "peer:" were not measured here: they are what those projects say of themselves. The machine was
shared with other work, so a figure of one run wavers by a fifth or more; every figure is a median
unless it says otherwise. Where CPUs together are worth hardly more than one, what two processes do
at once takes twice as long.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line: what was measured, the figure, and what it must be; `passed` None: no demand."""

    what: str
    figure: str
    must: str = ""
    passed: bool | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """One measurement with its peers."""

    name: str
    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Whether no demand was missed."""
        return all(figure.passed is not False for figure in self.figures)

    def text(self) -> str:
        """Return the section as Markdown."""
        lines = [f"## {self.name}: {self.title}", "", f"{machine(self.name)}.", ""]
        lines += ["| measured | figure | must | |", "|---|---|---|---|"]
        verdicts = {None: "", True: "passed", False: "**MISSED**"}
        lines += [
            f"| {f.what} | {f.figure} | {f.must} | {verdicts[f.passed]} |" for f in self.figures
        ]
        if self.notes:
            lines += ["", *(f"* {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"


def at_most(what: str, figure: float, most: float, unit: str, digits: int = 2) -> Figure:
    """Return a figure that must not be above `most`."""
    shown = f"{figure:.{digits}f} {unit}".strip()
    return Figure(what, shown, f"≤ {most:g} {unit}".strip(), figure <= most)


def at_least(what: str, figure: float, least: float, unit: str, digits: int = 2) -> Figure:
    """Return a figure that must not be below `least`."""
    shown = f"{figure:.{digits}f} {unit}".strip()
    return Figure(what, shown, f"≥ {least:g} {unit}".strip(), figure >= least)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]


def median_and_all(values: Sequence[float], unit: str, digits: int = 2) -> str:
    """Return the median, and each value behind it."""
    each = ", ".join(f"{value:.{digits}f}" for value in values)
    return f"{statistics.median(values):.{digits}f} {unit} ({each})"


def machine(section: str) -> str:
    """Return when and on what a section is measured."""
    cpu = Path("/proc/cpuinfo").read_text()
    count = cpu.count("processor\t")
    named = re.search(r"model name\s*: (.*)", cpu)
    load = Path("/proc/loadavg").read_text().split()[0]
    addition, cpus = worth(section)
    now = datetime.fromtimestamp(time.time(), UTC)
    parts = [
        f"{now:%Y-%m-%d %H:%M} UTC",
        f"{count} CPUs, {named[1] if named else platform.machine()}, load {load}",
        f"together worth {cpus:.1f} of one (1,000 additions: {addition:.0f} µs)",
        f"Python {platform.python_version()}",
        f"Kubernetes {kubernetes_version()}",
        f"aiohttp {version('aiohttp')}",
        f"commit {commit()}",
    ]
    return "; ".join(parts)


def commit() -> str:
    """Return which commit is measured, for whoever doubts a figure."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, check=False, text=True).stdout.strip()


def write(sections: Sequence[Section]) -> None:
    """Replace these sections of the page; the others stay as they were measured."""
    kept: dict[str, str] = {}
    if PAGE.exists():
        for text in re.split(r"(?m)^(?=## )", PAGE.read_text(encoding="utf-8"))[1:]:
            kept[text[3:].partition(":")[0]] = text.strip() + "\n"
    kept |= {section.name: section.text() for section in sections}
    PAGE.write_text("\n".join([HEAD, *(kept[name] for name in sorted(kept))]), encoding="utf-8")
