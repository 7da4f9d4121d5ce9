"""Tells at the end how many points were interrupted; tames runs, so that no speed shapes them."""

import random

import pytest

from tests.loop.points import POINTS
from tests.loop.taming import tame


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if POINTS:
        told = ", ".join(f"{number} {what}" for what, number in sorted(POINTS.items()))
        terminalreporter.write_line(f"interrupted: {told}")


@pytest.fixture
def no_time_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all chance come from one seed, and nothing depend on how fast this machine is."""
    tame(monkeypatch)
    random.seed(1)
