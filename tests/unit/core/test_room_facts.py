"""What a room is judged by: how long a busy room that is silent is waited for."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.room_facts import Facts
from reconciler.model.live import Seen
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


STARTED = Seen(starting=NOW - 500)


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        pytest.param({}, 400, id="so long after its start may have lasted"),
        pytest.param({"seen": Seen(starting=NOW - 900)}, 300, id="not before we listened so long"),
        pytest.param(
            {"mark": Mark.DRAINING, "was_heard": True}, 300, id="one that was heard and drains"
        ),
        pytest.param(
            {"mark": Mark.DRAINING, "leaving_since": NOW},
            400,
            id="and on while it is marked draining for it",
        ),
        pytest.param({"ready": False}, None, id="one that is not ready has its start's time-out"),
        pytest.param({"ready": False, "lapsed": True}, 400, id="one that was ready may be full"),
        pytest.param({"mark": Mark.IDLE}, None, id="one that was heard has pingSeconds"),
        pytest.param({"revision": "1-new"}, None, id="nobody waits for one that does not report"),
    ],
)
def test_patience_with_a_room_that_was_never_heard(
    changes: dict[str, Any], seconds: float | None
) -> None:
    pod = a_room(0, **{"seen": STARTED, **changes})
    assert Facts(pod, LIMITED, None, LISTENING, NOW).patience_seconds == seconds
    unlimited = replace(LIMITED, timeouts=Timeouts())
    assert Facts(pod, unlimited, None, LISTENING, NOW).patience_seconds is None
