"""Names the seeds that failed, with what plays each again; tames every run here."""

import pytest

from tests.loop.rooms.seeds import replays


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for command in replays(each.nodeid for each in terminalreporter.getreports("failed")):
        terminalreporter.write_line(f"play it again: {command}")


@pytest.fixture(autouse=True)
def _no_time_of_this_machine(no_time_of_this_machine: None) -> None:
    """Every run here is in virtual time."""
