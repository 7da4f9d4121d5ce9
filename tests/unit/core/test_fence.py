from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import fence
from reconciler.core.room_state import judge
from reconciler.model.live import LivePod, Phase, Seen
from reconciler.model.rooms import Ears, GameState, Health, Heard, Mark, Said, Why
from reconciler.model.specs import Departure
from tests.unit.core.making import NOW, a_heard, a_pod, a_room, a_workload

REPORTS = a_workload(reports="required", revision="1-newr")
DRAINING: dict[str, Any] = {
    "mark": Mark.DRAINING,
    "leaving": Why.SCALE_IN,
    "seen": Seen(draining=NOW - 10, left=NOW - 10),
}
EMPTY = a_heard(confirmed_at=NOW - 5)
PERHAPS = a_heard()
BY_CHANGE = a_heard(periodic=False)


def verdict(
    pod: LivePod, heard: Heard | None, workload: Any = REPORTS, since: float = NOW - 1000
) -> fence.Verdict:
    ears = Ears({} if heard is None else {pod.uid: heard}, since=since)
    judged = judge(pod, workload, heard, ears, NOW)
    return fence.verdict(pod, workload, judged, ears, NOW)


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
            a_room(0, ready=False, runs=(1,), was_heard=True, **DRAINING),
            None,
            False,
            id="that perhaps was",
        ),
        pytest.param(
            a_room(0, ready=False, **DRAINING),
            None,
            True,
            id="that was never ready nor heard",
        ),
        pytest.param(
            a_room(0, **DRAINING), a_heard(silent=True), True, id="that fell silent while empty"
        ),
        pytest.param(
            a_room(0, **DRAINING),
            a_heard(said=Said.TERMINATED),
            True,
            id="that said that it has terminated",
        ),
        pytest.param(
            a_room(0, **DRAINING),
            a_heard(said=Said.TERMINATING, said_since=NOW),
            False,
            id="that said that it terminates",
        ),
    ],
)
def test_the_fence_lets_a_room_go(pod: LivePod, heard: Heard | None, may: bool) -> None:
    assert verdict(pod, heard).may is may


@pytest.mark.parametrize(
    "heard",
    [
        pytest.param(BY_CHANGE, id="its count is told on change"),
        pytest.param(replace(EMPTY, mixed=True), id="its count is told on change, beside pings"),
        pytest.param(replace(BY_CHANGE, health=Health.FAILED), id="it failed, and runs"),
    ],
)
def test_who_listens_since_a_moment_ago_leaves_time_to_be_told_again(heard: Heard) -> None:
    pod, limit = a_room(0, **DRAINING), REPORTS.timeouts.ping_seconds
    assert verdict(pod, heard, since=NOW - limit).may
    waits = verdict(pod, heard, since=NOW - limit + 7)
    assert waits == fence.Verdict(
        False,
        "marked draining, left alone for 7.0 s more; its game may have told of players while"
        " nobody listened",
        7.0,
    )


def test_a_room_that_repeats_itself_need_not_wait_for_who_just_began_to_listen() -> None:
    assert verdict(a_room(0, **DRAINING), EMPTY, since=EMPTY.at).may
    assert not verdict(a_room(0, **DRAINING), EMPTY, since=NOW).may, "its word is of before"


def test_a_room_that_told_of_its_health_alone_has_a_whole_ping_time_out_to_tell_of_players() -> (
    None
):
    pod, limit = a_room(0, **DRAINING), REPORTS.timeouts.ping_seconds
    told = replace(BY_CHANGE, said=None, health=Health.HEALTHY, tells=False)
    lately = verdict(pod, replace(told, said_since=NOW - limit + 7))
    assert not lately.may
    assert lately.again_in_seconds == pytest.approx(7)
    assert "it has not told yet how many play there" in lately.reason
    assert verdict(pod, replace(told, said_since=NOW - limit)).may


COUNTED = replace(BY_CHANGE, said=None, at=NOW - 20)


@pytest.mark.parametrize(
    ("state", "ago", "left"),
    [
        pytest.param(GameState.ASSIGNED, 3, 237, id="a match was given to it since"),
        pytest.param(GameState.POST_MATCH, 3, 237, id="it said anything since"),
        pytest.param(GameState.RUNNING, 12, 228, id="a match was given to it before"),
        pytest.param(GameState.IDLE, 12, 0, id="it said before that nothing is played"),
        pytest.param(GameState.ASSIGNED, 0, 0, id="it told its count since"),
    ],
)
def test_a_word_on_change_that_no_count_follows_is_waited_for(
    state: GameState, ago: float, left: float
) -> None:
    """Who was sent there by an older list loads for a while before it is counted."""
    pod = a_room(0, **DRAINING)
    told = replace(COUNTED, game_state=state, untold_since=NOW - ago if ago else 0.0)
    waits = verdict(pod, told)
    assert (waits.may, waits.again_in_seconds or 0) == (not left, left)
    assert not left or "has not told since how many play there" in waits.reason
    later = replace(told, untold_since=told.untold_since - left)
    assert verdict(pod, later).may, "nothing followed it"


def test_a_room_that_never_told_a_count_is_waited_for_after_its_word() -> None:
    told = replace(COUNTED, tells=False, said_since=NOW - 1000, game_state=GameState.ASSIGNED)
    waits = verdict(a_room(0, **DRAINING), replace(told, untold_since=NOW - 3))
    assert (waits.may, waits.again_in_seconds) == (False, 237)
    goes = verdict(a_room(0, **DRAINING), replace(told, game_state=GameState.IDLE))
    assert goes.may
    assert "known empty" not in goes.reason, "it told of no players at all"


def test_words_that_come_long_after_the_mark_are_not_waited_for_without_end() -> None:
    limit = REPORTS.timeouts.ping_seconds
    pod = a_room(0, **{**DRAINING, "seen": Seen(draining=NOW - 2 * limit + 7, left=NOW)})
    told = replace(COUNTED, game_state=GameState.RUNNING, untold_since=NOW - 1)
    assert verdict(pod, told).again_in_seconds == pytest.approx(7)


def test_who_speaks_is_waited_for_though_nobody_expected_it_to() -> None:
    long_ago = {**DRAINING, "seen": Seen(draining=NOW - 241, left=NOW - 241)}
    tokenless = a_room(0, revision="1-new", **long_ago)
    assert verdict(tokenless, None).may
    assert not verdict(tokenless, PERHAPS).may
    assert verdict(tokenless, EMPTY).may


def test_a_room_made_before_its_workload_reported_has_a_whole_ping_time_out_to_speak() -> None:
    tokenless = a_room(0, revision="1-new", **DRAINING)
    waits = verdict(tokenless, None)
    assert (waits.may, waits.again_in_seconds) == (False, 230.0)
    assert "may still speak" in waits.reason
    assert verdict(tokenless, EMPTY).may, "it spoke"
    assert verdict(replace(tokenless, ready=False), None).may, "nobody was sent to it"


def test_a_room_that_may_have_reported_before_a_commit_said_none_do_has_as_long() -> None:
    """That it was idle stood where `draining` does now, and a new leader has heard nobody yet."""
    silent = a_workload(revision="1-other")
    waits = verdict(a_room(0, **DRAINING), None, silent)
    assert (waits.may, waits.again_in_seconds) == (False, 230.0)
    assert not verdict(a_room(0, **DRAINING), PERHAPS, silent).may
    assert verdict(a_room(0, **DRAINING), EMPTY, silent).may
    long_ago = {**DRAINING, "seen": Seen(draining=NOW - 241, left=NOW - 241)}
    assert verdict(a_room(0, **long_ago), None, silent).may
    assert verdict(a_room(0, revision="1-new", **DRAINING), None, silent).may, "it never could"


LONG_AGO = Seen(starting=NOW - 1000)
BEFORE: dict[str, Any] = {"phase": Phase.PENDING, "ready": False, "running": False}


@pytest.mark.parametrize(
    ("pod", "heard", "fenced"),
    [
        pytest.param(a_room(0), None, True, id="that runs"),
        pytest.param(a_room(0, **BEFORE), None, False, id="that never ran nor spoke"),
        pytest.param(a_room(0, **BEFORE), PERHAPS, True, id="that speaks before the kubelet does"),
        pytest.param(
            a_room(0, **BEFORE, mark=Mark.IDLE), None, True, id="that spoke to another leader"
        ),
        pytest.param(
            a_room(0, **BEFORE, mark=Mark.IDLE, seen=LONG_AGO),
            PERHAPS,
            True,
            id="that speaks, and whose pod is pending for too long",
        ),
        pytest.param(
            a_room(0, **BEFORE, seen=LONG_AGO), None, False, id="that is pending for too long"
        ),
        pytest.param(
            a_room(0, **BEFORE, node="", mark=Mark.DRAINING), None, False, id="without a node"
        ),
        pytest.param(
            a_room(0, ready=False, running=False, mark=Mark.IDLE),
            PERHAPS,
            True,
            id="that is started again",
        ),
        pytest.param(
            a_pod(0, running=False), None, True, id="that is ready, of a kubelet that tells no more"
        ),
        pytest.param(
            a_room(0, ready=False, running=False, waiting="CrashLoopBackOff", mark=Mark.IDLE),
            PERHAPS,
            False,
            id="that crashed",
        ),
        pytest.param(a_room(0, phase=Phase.FAILED), PERHAPS, False, id="that ended"),
    ],
)
def test_a_room_to_which_somebody_may_be_sent_goes_behind_its_fence(
    pod: LivePod, heard: Heard | None, fenced: bool
) -> None:
    judged = judge(pod, REPORTS, heard, Ears(since=NOW - 1000), NOW)
    assert fence.needs_fence(pod, judged, heard) is fenced


def test_without_reports_only_the_quiet_time_counts() -> None:
    workload = a_workload()
    assert not verdict(a_room(0), None, workload).may
    fresh = a_pod(0, **{**DRAINING, "seen": Seen(draining=NOW - 1)})
    assert verdict(fresh, None, workload).again_in_seconds == 4
    assert verdict(a_pod(0, **DRAINING), None, workload).may


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


@pytest.mark.parametrize(
    ("deaf", "again_on", "may"),
    [
        pytest.param({}, {}, True, id="all the while"),
        pytest.param({"deaf": "cut off"}, {}, False, id="by nobody now"),
        pytest.param({"deaf_on": {"node-1": "cut off"}}, {}, False, id="by nobody on its node"),
        pytest.param({"deaf_on": {"node-2": "cut off"}}, {}, True, id="all but another node"),
        pytest.param({}, {"": NOW - 9}, False, id="only since a moment ago"),
        pytest.param({}, {"node-1": NOW - 9}, False, id="only since a moment ago on its node"),
        pytest.param({}, {"node-2": NOW - 9}, True, id="all but another node a moment ago"),
        pytest.param({}, {"": NOW - 900, "node-1": NOW - 800}, True, id="again for long"),
    ],
)
def test_a_room_that_tells_on_change_goes_by_its_count_where_it_could_have_been_heard(
    deaf: dict[str, Any], again_on: dict[str, float], may: bool
) -> None:
    pod = a_room(0, **DRAINING)
    ears = Ears({pod.uid: BY_CHANGE}, since=NOW - 1000, again_on=again_on, **deaf)
    judged = judge(pod, REPORTS, BY_CHANGE, ears, NOW)
    assert fence.verdict(pod, REPORTS, judged, ears, NOW).may is may
