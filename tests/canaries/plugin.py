"""Fails the test in which a canary left the place where it was planted, and counts row 22."""

from collections.abc import Generator

import pytest

from tests.canaries import outputs
from tests.canaries.places import PLANTED
from tests.scorecard import score

_ROW = 22
_HITS: list[outputs.Leak] = []
_PATCH = pytest.MonkeyPatch()


def pytest_configure() -> None:
    """Listen from before the first test module is imported."""
    outputs.listen(_PATCH)


def pytest_unconfigure() -> None:
    """Listen no longer."""
    _PATCH.undo()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """When all of a test has ended, say what leaked in it."""
    yield
    for when, key, said in item._report_sections:
        # What pytest shows of the log was not masked as the program's lines are.
        if key != "log":
            outputs.look("what a test printed", said, when)
    if leaks := outputs.taken():
        _HITS.extend(leaks)
        pytest.fail("a secret leaked: " + "; ".join(map(str, leaks)), pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count, and fail a run in which something leaked after its last test."""
    late = outputs.taken()
    if late and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    places = len(set(PLANTED.values()))
    if places:
        searched = outputs.SEARCHED.total()
        score(_ROW, places=places, outputs=searched, hits=len(_HITS) + len(late))
