"""Says at the end of a run how many points were interrupted."""

from collections import Counter

import pytest

POINTS: Counter[str] = Counter()
"""What was tried, by kind; tests add to it."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if POINTS:
        told = ", ".join(f"{number} {what}" for what, number in sorted(POINTS.items()))
        terminalreporter.write_line(f"interrupted: {told}")
