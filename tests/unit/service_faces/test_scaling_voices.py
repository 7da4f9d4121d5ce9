"""Who fails to hear of scaling ends nothing, and the others hear it all the same."""

import logging
from collections.abc import Callable

import pytest

from reconciler.loop.landing import Landed
from reconciler.model.errors import PortError, Unavailable
from reconciler.service.scaling_voices import ScalingVoices
from tests.loop.scaling.house import ARENA, Ledger


class Deaf(Ledger):
    """Fails at all that it is told."""

    def landed(self, landed: Landed) -> None:
        raise ValueError("a defect")

    def raced(self) -> None:
        raise ValueError("a defect")

    def unrecorded(self, error: PortError) -> None:
        raise ValueError("a defect")

    def unlanded(self, error: PortError) -> None:
        raise ValueError("a defect")

    def undecided(self, key: object, error: PortError) -> None:
        raise ValueError("a defect")


@pytest.mark.parametrize(
    ("say", "heard"),
    [
        pytest.param(
            lambda voices: voices.landed(Landed("c1")),
            lambda ledger: ledger.commits == [Landed("c1")],
            id="a commit",
        ),
        pytest.param(lambda v: v.raced(), lambda ledger: ledger.races == 1, id="a lost race"),
        pytest.param(
            lambda voices: voices.unlanded(Unavailable("down")),
            lambda ledger: len(ledger.troubles) == 1,
            id="a host that takes nothing",
        ),
        pytest.param(
            lambda voices: voices.unrecorded(Unavailable("down")),
            lambda ledger: len(ledger.unrecorded_errors) == 1,
            id="a record that takes nothing",
        ),
        pytest.param(
            lambda voices: voices.undecided(ARENA, Unavailable("down")),
            lambda ledger: ledger.undecided_count == 1,
            id="a count that is not on record",
        ),
    ],
)
def test_the_others_hear_it(
    say: Callable[[ScalingVoices], None],
    heard: Callable[[Ledger], bool],
    caplog: pytest.LogCaptureFixture,
) -> None:
    ledger = Ledger()
    with caplog.at_level(logging.ERROR, "gamekeeper"):
        say(ScalingVoices([Deaf(), ledger]))
    assert heard(ledger)
    assert "a defect in telling of scaling: it goes on" in caplog.text
