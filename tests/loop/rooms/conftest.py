"""Names the seeds that failed, with what plays each again; tames every run here."""

from collections.abc import Iterator

import pytest

from tests.loop.rooms.savings import compared
from tests.loop.rooms.seeds import replays


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for command in replays(each.nodeid for each in terminalreporter.getreports("failed")):
        terminalreporter.write_line(f"play it again: {command}")


@pytest.fixture(autouse=True)
def _no_time_of_this_machine(no_time_of_this_machine: None) -> None:
    """Every run here is in virtual time."""


@pytest.fixture(autouse=True)
def _what_is_spared_is_right(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every plan that is recalled here is made from nothing, too."""
    with compared(monkeypatch):
        yield
