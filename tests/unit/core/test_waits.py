import pytest

from reconciler.core.waits import soonest


@pytest.mark.parametrize(
    ("waits", "shortest"),
    [
        pytest.param((), None, id="nothing is waited for"),
        pytest.param((None, None), None, id="nothing by nobody"),
        pytest.param((None, 5.0, 2.0), 2.0, id="the shortest counts"),
        pytest.param((0.0, None), 0.0, id="at once is a wait too"),
    ],
)
def test_the_soonest_wait(waits: tuple[float | None, ...], shortest: float | None) -> None:
    assert soonest(*waits) == shortest
