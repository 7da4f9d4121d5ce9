"""Names the seeds that failed, with what plays each again."""

import pytest

from tests.loop.rooms.seeds import replays


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for command in replays(each.nodeid for each in terminalreporter.getreports("failed")):
        terminalreporter.write_line(f"play it again: {command}")
