"""Which steps no commit tells yet."""

import pytest

from reconciler.core.pending import pending_of
from reconciler.model.intents import Intent, Landing, Scaling, Step

UP, MORE = Step(10.0, 5, 7, "buffer", "a"), Step(20.0, 7, 9, "buffer", "b")
BOTH = Intent(5, 9, (UP, MORE))
PUSHED = Landing("c1", 7, 10.0)


@pytest.mark.parametrize(
    ("scaling", "commits", "steps"),
    [
        pytest.param(Scaling(), [], (), id="nothing was decided"),
        pytest.param(Scaling(BOTH), [], (UP, MORE), id="nothing was pushed"),
        pytest.param(
            Scaling(Intent(5, 9, (UP, MORE), told_at=10.0)), [], (MORE,), id="the first one was"
        ),
        pytest.param(
            Scaling(BOTH, (PUSHED,)), ["c1"], (MORE,), id="its answer was lost, and it is there"
        ),
        pytest.param(
            Scaling(BOTH, (PUSHED,)), ["c0"], (UP, MORE), id="its answer was lost, and it is not"
        ),
    ],
)
def test_what_the_log_does_not_tell_is_pending(
    scaling: Scaling, commits: list[str], steps: tuple[Step, ...]
) -> None:
    assert pending_of(scaling, commits) == steps
