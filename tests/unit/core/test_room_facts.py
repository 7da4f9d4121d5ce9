"""What a room is judged by: how long a busy room that is silent is waited for."""

from dataclasses import replace

import pytest

from reconciler.core.room_facts import Facts
from reconciler.model.rooms import Ears, Heard, Mark, Said
from reconciler.model.specs import Timeouts
from tests.unit.core.making import NOW, a_heard, a_room, a_workload

LIMITED = a_workload(reports="required", timeouts=Timeouts(silent_busy_seconds=600))
SILENT = a_heard(said=Said.OCCUPIED, matches=1, at=NOW - 500, silent=True)
LISTENING = Ears(since=NOW - 300)


@pytest.mark.parametrize(
    ("mark", "heard", "ears", "seconds"),
    [
        pytest.param(Mark.BUSY, SILENT, LISTENING, 100, id="from its last word"),
        pytest.param(Mark.DRAINING, SILENT, LISTENING, 100, id="though it is marked draining"),
        pytest.param(Mark.ALLOCATED, None, LISTENING, 300, id="since we listen"),
        pytest.param(Mark.BUSY, None, Ears(), None, id="for ever while nobody listens"),
        pytest.param(Mark.BUSY, SILENT, Ears(deaf="all"), None, id="for ever while we are deaf"),
        pytest.param(Mark.BUSY, replace(SILENT, silent=False), LISTENING, None, id="it speaks"),
        pytest.param(Mark.IDLE, a_heard(silent=True), LISTENING, None, id="nobody is there"),
    ],
)
def test_patience(mark: Mark, heard: Heard | None, ears: Ears, seconds: float | None) -> None:
    assert Facts(a_room(0, mark=mark), LIMITED, heard, ears, NOW).patience_seconds == seconds
