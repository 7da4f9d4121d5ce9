"""What all tests share: the plugin of the real control plane, and the count of the contract.

`make test` runs what is marked neither `real` nor `long`, `make long` what is marked `long`,
`make real` the rest and both sides of the contract.
Nothing is skipped for want of a control plane: a test that needs one fails without it.
"""

import gc

import pytest
from hypothesis import HealthCheck, settings

from tests import scorecard
from tests.seeds import seed_of_the_program

# How long an example takes is no property of the code, least of all on a machine that others use.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("any machine")

LONG = (
    "long: not in `make test`, but in `make long`; or in `make rooms`, which plays its file whole"
)

pytest_plugins = ["tests.canaries.plugin", "tests.controlplane.plugin"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Know the mark `long`; begin Hypothesis at this program's seed, unless one is asked for."""
    config.addinivalue_line("markers", LONG)
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(seed_of_the_program(2**32))


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among what was collected, which stays to the end.

    What a test plays in memory makes and drops dictionaries by the million, beside all modules and
    Kubernetes' definitions: a fifth of its CPU time went into looking through those.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def contract_counts(reporter: pytest.TerminalReporter) -> tuple[int, int]:
    """Return how many contract tests passed on the sandbox, and on the real API server."""
    passed = [report for report in reporter.stats.get("passed", []) if "paired" in report.keywords]
    real = sum("real" in report.keywords for report in passed)
    return len(passed) - real, real


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say on how many sides the contract was held, and which figures of the scorecard came out."""
    sandbox, real = contract_counts(terminalreporter)
    if sandbox or real:
        terminalreporter.write_line(
            f"contract: {sandbox} on the sandbox, {real} on the real API server"
        )
    for line in scorecard.told():
        terminalreporter.write_line(line)
    scorecard.keep()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run of both sides in which one had fewer tests: an oracle was asked less."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    both = session.config.getoption("markexpr") == "real or paired"
    if both and reporter is not None and not session.config.getoption("collectonly"):
        sandbox, real = contract_counts(reporter)
        if sandbox != real and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
