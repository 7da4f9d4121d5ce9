from dataclasses import replace

import pytest

from reconciler.model.live import NEVER_SEEN, LivePod, Phase, Seen
from reconciler.model.rooms import Mark, Why
from reconciler.service.seen import has_lapsed, seen_of
from tests.unit.core.making import NOW, a_pod

READY = a_pod(0, seen=NEVER_SEEN)
STARTING = replace(READY, ready=False, phase=Phase.PENDING)


def test_a_ready_room_has_no_age_that_matters() -> None:
    assert seen_of(READY, None, NOW, 50.0) is NEVER_SEEN


def test_a_start_counts_from_when_we_saw_it_whatever_the_clocks_say() -> None:
    first = seen_of(STARTING, None, NOW, 50.0)
    assert first.starting == 50.0
    known = replace(STARTING, seen=first)
    assert seen_of(STARTING, known, NOW + 3600, 51.0) is first
    again = replace(STARTING, started_at=NOW)
    assert seen_of(again, known, NOW, 52.0).starting == 52.0, "its container started again"


def test_a_start_begins_anew_when_a_room_is_seen_to_run_no_more() -> None:
    lapsed = replace(READY, ready=False, lapsed=True, seen=Seen(starting=10.0))
    pending = replace(STARTING, waiting="PodInitializing", running=False)
    stopped = seen_of(pending, lapsed, NOW, 700.0)
    assert stopped.starting == 700.0
    assert seen_of(pending, replace(pending, seen=stopped), NOW, 701.0) is stopped


def test_a_room_without_a_node_does_not_start_yet() -> None:
    assert seen_of(replace(STARTING, node=""), None, NOW, 50.0) is NEVER_SEEN


def test_the_fence_counts_from_when_we_saw_the_mark() -> None:
    marked = replace(READY, mark=Mark.DRAINING, leaving=Why.ROLLOUT, leaving_since=NOW - 3600)
    seen = seen_of(marked, None, NOW, 9000.0)
    assert seen.draining == 9000.0, "a process that was started since begins anew"
    assert seen.left == 9000.0 - 3600, "the user's deadline does not"
    later = seen_of(marked, replace(marked, seen=seen), NOW + 7200, 9001.0)
    assert later is seen, "a clock that jumps brings nothing nearer"


def test_what_was_taken_back_is_forgotten() -> None:
    marked = replace(READY, mark=Mark.DRAINING, leaving=Why.ROLLOUT, leaving_since=NOW)
    known = replace(marked, seen=seen_of(marked, None, NOW, 50.0))
    assert seen_of(READY, known, NOW, 60.0) is NEVER_SEEN


def test_a_time_that_lies_ahead_is_now() -> None:
    marked = replace(READY, leaving=Why.REQUEST, leaving_since=NOW + 500)
    assert seen_of(marked, None, NOW, 50.0).left == 50.0


def test_what_was_taken_back_and_asked_anew_between_two_looks_begins_anew() -> None:
    marked = replace(READY, mark=Mark.DRAINING, leaving=Why.ROLLOUT, leaving_since=NOW)
    known = replace(marked, seen=seen_of(marked, None, NOW, 50.0))
    again = seen_of(replace(marked, leaving_since=NOW + 90), known, NOW + 90, 140.0)
    assert (again.draining, again.left) == (140.0, 140.0), "neither the fence nor the deadline"


def test_who_was_seen_to_stay_is_told_now_whatever_clock_wrote_the_time() -> None:
    known = replace(READY, mark=Mark.BUSY)
    asked = replace(known, leaving=Why.REQUEST, leaving_since=NOW - 3600)
    assert seen_of(asked, known, NOW, 50.0).left == 50.0, "a person's clock may be an hour slow"


UP = replace(READY, played_since=NOW)
DOWN = replace(UP, ready=False)


@pytest.mark.parametrize(
    ("pod", "before", "lapsed"),
    [
        pytest.param(DOWN, UP, True, id="it was seen ready, and runs on"),
        pytest.param(DOWN, replace(DOWN, lapsed=True), True, id="it is known to have lapsed"),
        pytest.param(replace(DOWN, lapsed=True), None, True, id="its pod says so"),
        pytest.param(DOWN, None, False, id="nothing is known of it"),
        pytest.param(DOWN, DOWN, False, id="it was never ready"),
        pytest.param(replace(DOWN, played_since=NOW + 9), UP, False, id="its game began anew"),
        pytest.param(replace(DOWN, played_since=0.0), UP, False, id="its game ended"),
        pytest.param(UP, replace(DOWN, lapsed=True), False, id="it is ready again"),
    ],
)
def test_a_room_that_was_seen_ready_lapses_whatever_the_clocks_on_its_pod_say(
    pod: LivePod, before: LivePod | None, lapsed: bool
) -> None:
    assert has_lapsed(pod, before) is lapsed
