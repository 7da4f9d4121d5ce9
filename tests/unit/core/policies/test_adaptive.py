"""adaptive as a spec writes it."""

import subprocess
import sys

import pytest

from reconciler.core.policies.adaptive import Adaptive
from reconciler.core.policies.policy import Facts
from tests.unit.core.policies.looks import a_load, a_look
from tests.unit.core.reading import rules

ADAPTIVE = Adaptive({})


def test_it_needs_reports() -> None:
    assert rules(ADAPTIVE.problems({}, Facts(reports=True))) == set()
    assert rules(ADAPTIVE.problems({}, Facts(reports=False))) == {("", "reports")}


def test_it_asks_nobody() -> None:
    assert ADAPTIVE.asks({}) == ()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        pytest.param({}, "within 60 s", id="a minute, where nothing is written"),
        pytest.param({"startupSeconds": 300}, "within 300 s", id="the start-up time of the spec"),
    ],
)
def test_the_first_estimate_is_the_specs(parameters: dict[str, int], text: str) -> None:
    assert text in ADAPTIVE.advise(parameters, a_look(a_load(occupied=5, ready=3))).reason


def test_a_smaller_share_of_misses_costs_more_rooms() -> None:
    look = a_look(a_load(occupied=5, ready=0))
    dear, cheap = (ADAPTIVE.advise({"missPercentage": p}, look) for p in (0.001, 5.0))

    assert dear.replicas >= cheap.replicas


def test_a_command_that_decides_nothing_does_not_wait_for_numpy() -> None:
    code = "import sys, reconciler.cli.main, reconciler.registry; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "False\n"
