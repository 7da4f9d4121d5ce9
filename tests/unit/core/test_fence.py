from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import fence
from reconciler.core.room_state import judge
from reconciler.model.live import LivePod, Phase, Seen
from reconciler.model.rooms import Ears, Heard, Mark, Said, Why
from reconciler.model.specs import Departure
from tests.unit.core.making import NOW, a_heard, a_room, a_workload

REPORTS = a_workload(reports="required", revision="1-newr")
DRAINING: dict[str, Any] = {
    "mark": Mark.DRAINING,
    "leaving": Why.SCALE_IN,
    "seen": Seen(draining=NOW - 10, left=NOW - 10),
}
EMPTY = a_heard(confirmed=True)
PERHAPS = a_heard(confirmed=False)
BY_CHANGE = a_heard(periodic=False)


def verdict(pod: LivePod, heard: Heard | None, workload: Any = REPORTS) -> fence.Verdict:
    judged = judge(pod, workload, heard, Ears(since=NOW - 1000), NOW)
    return fence.verdict(pod, workload, judged, heard, NOW)


@pytest.mark.parametrize(
    ("pod", "heard", "may"),
    [
        pytest.param(a_room(0, **DRAINING), EMPTY, True, id="that said it is empty since"),
        pytest.param(a_room(0, **DRAINING), PERHAPS, False, id="not heard since it was marked"),
        pytest.param(a_room(0, **DRAINING), None, False, id="not heard at all"),
        pytest.param(
            a_room(0, **DRAINING), BY_CHANGE, True, id="whose last count is 0, told on change only"
        ),
        pytest.param(
            a_room(0, **DRAINING),
            replace(BY_CHANGE, players=1),
            False,
            id="whose last count is 1, told on change only",
        ),
        pytest.param(
            a_room(0, **DRAINING),
            replace(EMPTY, said=Said.OCCUPIED),
            False,
            id="that players came to after all",
        ),
        pytest.param(
            a_room(0, **{**DRAINING, "seen": Seen(draining=NOW - 4)}),
            EMPTY,
            False,
            id="marked a moment ago",
        ),
        pytest.param(
            a_room(0, mark=Mark.IDLE), EMPTY, False, id="that is empty and not marked at all"
        ),
        pytest.param(a_room(0, mark=Mark.BUSY, leaving=Why.SCALE_IN), EMPTY, False, id="busy"),
        pytest.param(a_room(0, phase=Phase.PENDING, ready=False), None, True, id="that never ran"),
        pytest.param(a_room(0, phase=Phase.FAILED, mark=Mark.BUSY), None, True, id="that ended"),
        pytest.param(
            a_room(0, ready=False),
            None,
            False,
            id="that starts: it may be seen",
        ),
        pytest.param(
            a_room(0, ready=False, lapsed=True, **DRAINING), None, False, id="that was ready once"
        ),
        pytest.param(
            a_room(0, ready=False, restarts=1, **DRAINING), None, False, id="that perhaps was"
        ),
        pytest.param(
            a_room(0, ready=False, **DRAINING), None, True, id="that was never ready nor heard"
        ),
        pytest.param(
            a_room(0, **DRAINING), a_heard(silent=True), True, id="that fell silent while empty"
        ),
    ],
)
def test_the_fence_lets_a_room_go(pod: LivePod, heard: Heard | None, may: bool) -> None:
    assert verdict(pod, heard).may is may


def test_who_speaks_is_waited_for_though_nobody_expected_it_to() -> None:
    tokenless = a_room(0, revision="1-new", **DRAINING)
    assert verdict(tokenless, None).may
    assert not verdict(tokenless, PERHAPS).may
    assert verdict(tokenless, EMPTY).may


def test_without_reports_only_the_quiet_time_counts() -> None:
    workload = a_workload()
    assert not verdict(a_room(0), None, workload).may
    fresh = a_room(0, **{**DRAINING, "seen": Seen(draining=NOW - 1)})
    assert verdict(fresh, None, workload).again_in_seconds == 4
    assert verdict(a_room(0, **DRAINING), None, workload).may


def test_the_quiet_time_is_the_users() -> None:
    patient = replace(REPORTS, departure=Departure(quiet_seconds=60))
    assert verdict(a_room(0, **DRAINING), EMPTY, patient).again_in_seconds == 50


def test_a_deadline_counts_only_where_the_user_wrote_one() -> None:
    pod = a_room(0, mark=Mark.BUSY, leaving=Why.ROLLOUT, seen=Seen(left=NOW - 3600))
    assert not fence.is_overdue(pod, REPORTS, NOW + 1e6)
    limited = replace(REPORTS, departure=Departure(drain_deadline_seconds=3600))
    assert fence.is_overdue(pod, limited, NOW)
    assert not fence.is_overdue(pod, limited, NOW - 1)
    assert not fence.is_overdue(replace(pod, leaving=Why.STAYS), limited, NOW)
