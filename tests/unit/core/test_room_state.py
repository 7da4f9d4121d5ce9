from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import room_state
from reconciler.core.room_facts import Facts
from reconciler.core.room_state import RULES, judge
from reconciler.model.live import Phase, Seen
from reconciler.model.rooms import Ears, Health, Heard, Judged, Mark, RoomState, Said, Why
from reconciler.model.specs import Timeouts, Workload
from tests.unit.core.making import NOW, a_heard, a_room, a_workload

REPORTS = a_workload(reports="required", matches_max=4, revision="1-newr")
LIMITED = replace(REPORTS, timeouts=Timeouts(silent_busy_seconds=600))
SILENT = a_workload()
BUSY = a_heard(said=Said.OCCUPIED, matches=4)
BESIDE: dict[str, Any] = {
    "phase": Phase.PENDING,
    "ready": False,
    "running": True,
    "waiting": "ImagePullBackOff",
}
"""One container runs, another was never started: Kubernetes calls that Pending."""
NOT_BACK: dict[str, Any] = {
    "mark": Mark.BUSY,
    "ready": False,
    "running": False,
    "waiting": "ImagePullBackOff",
}
"""Its container ended, and its image cannot be pulled again: Kubernetes calls that Running."""
ANEW: dict[str, Any] = {
    "phase": Phase.PENDING,
    "mark": Mark.BUSY,
    "ready": False,
    "waiting": "PodInitializing",
    "runs": (1,),
}
"""Its sandbox went, and its init containers run anew: Kubernetes calls that Pending."""
CRASHED: dict[str, Any] = {
    "running": False,
    "ready": False,
    "waiting": "CrashLoopBackOff",
    "runs": (3,),
}
IDLE_POD: dict[str, Any] = {"mark": Mark.IDLE}
MADE_ANEW = a_heard(periodic=False, said=None, health=Health.CREATING)
"""What a game says that had begun before."""
LISTENING = Ears(since=NOW - 1000)


CASES: list[Callable[[], Judged]] = []
"""All that is judged in this table, to be judged again with a rule less."""


def judged(
    heard: Heard | None = None,
    ears: Ears = LISTENING,
    seconds: float = 0.0,
    workload: Workload = REPORTS,
    **pod: Any,
) -> Judged:
    CASES.append(lambda: judge(a_room(0, **pod), workload, heard, ears, NOW + seconds))
    return CASES[-1]()


@pytest.mark.parametrize(
    ("what", "state"),
    [
        pytest.param(
            judged(BUSY, mark=Mark.BUSY, terminating=True),
            RoomState.TERMINATING,
            id="being deleted comes before all else",
        ),
        pytest.param(
            judged(phase=Phase.FAILED, ended="Evicted"), RoomState.ERROR, id="an evicted one"
        ),
        pytest.param(
            judged(replace(BUSY, silent=True, at=NOW - 601), workload=LIMITED, mark=Mark.BUSY),
            RoomState.ERROR,
            id="a full one that is silent beyond the limit in Git",
        ),
        pytest.param(
            judged(phase=Phase.SUCCEEDED, ended="Completed"),
            RoomState.TERMINATED,
            id="a game that is over",
        ),
        pytest.param(
            judged(BUSY, phase=Phase.PENDING, node="", ready=False, unschedulable="no cpu"),
            RoomState.PENDING,
            id="one that no node can take",
        ),
        pytest.param(
            judged(phase=Phase.PENDING, ready=False, waiting="ErrImagePull"),
            RoomState.PENDING,
            id="one that pulls its image",
        ),
        pytest.param(
            judged(phase=Phase.PENDING, ready=False, waiting="ErrImagePull", seconds=1000),
            RoomState.ERROR,
            id="one that pulled for too long",
        ),
        pytest.param(
            judged(running=False, ready=False, waiting="CrashLoopBackOff", runs=(3,)),
            RoomState.ERROR,
            id="one that crashes again and again",
        ),
        pytest.param(
            judged(replace(BUSY, defies=(3,)), **CRASHED), RoomState.OCCUPIED, id="players since"
        ),
        pytest.param(judged(BUSY, **CRASHED), RoomState.ERROR, id="players before it crashed"),
        pytest.param(
            judged(replace(BUSY, defies=(2,)), **CRASHED),
            RoomState.ERROR,
            id="players since an earlier crash",
        ),
        pytest.param(
            judged(replace(BUSY, defies=(3,), silent=True), **CRASHED),
            RoomState.ERROR,
            id="players since, and silence since them",
        ),
        pytest.param(
            judged(BUSY, running=True, ready=False, waiting="CrashLoopBackOff", mark=Mark.BUSY),
            RoomState.OCCUPIED,
            id="players beside a sidecar that crashes",
        ),
        pytest.param(
            judged(BUSY, **BESIDE, mark=Mark.BUSY),
            RoomState.OCCUPIED,
            id="players beside a container that was never started",
        ),
        pytest.param(
            judged(a_heard(), **BESIDE, mark=Mark.IDLE),
            RoomState.UNREADY,
            id="an empty one beside a container that was never started",
        ),
        pytest.param(
            judged(a_heard(), **BESIDE, mark=Mark.IDLE, seconds=1000),
            RoomState.ERROR,
            id="an empty one beside a container that does not start",
        ),
        pytest.param(
            judged(BUSY, phase=Phase.PENDING, ready=False, mark=Mark.BUSY),
            RoomState.OCCUPIED,
            id="players before the kubelet tells that it runs",
        ),
        pytest.param(
            judged(phase=Phase.PENDING, ready=False, waiting="CreateContainerError"),
            RoomState.PENDING,
            id="one whose container is not made yet",
        ),
        pytest.param(
            judged(
                phase=Phase.PENDING,
                ready=False,
                mark=Mark.ALLOCATED,
                waiting="ErrImagePull",
                seconds=1000,
            ),
            RoomState.ERROR,
            id="an allocated one that does not start",
        ),
        pytest.param(judged(ready=False), RoomState.UNREADY, id="one that starts"),
        pytest.param(
            judged(ready=False, seconds=1000), RoomState.ERROR, id="one that starts for too long"
        ),
        pytest.param(
            judged(ready=False, seconds=1000, seen=Seen(starting=NOW + 900)),
            RoomState.UNREADY,
            id="one whose container started again",
        ),
        pytest.param(judged(), RoomState.UNREADY, id="one that is ready and was never heard"),
        pytest.param(judged(a_heard(), **IDLE_POD), RoomState.READY, id="an empty one"),
        pytest.param(
            judged(a_heard(), ready=False, lapsed=True, **IDLE_POD),
            RoomState.UNREADY,
            id="an empty one whose pod is not ready any more",
        ),
        pytest.param(
            judged(a_heard(matches=1), **IDLE_POD), RoomState.ACTIVE, id="one match of four"
        ),
        pytest.param(judged(BUSY, mark=Mark.BUSY), RoomState.OCCUPIED, id="four matches of four"),
        pytest.param(judged(a_heard(players=1), mark=Mark.BUSY), RoomState.OCCUPIED, id="a player"),
        pytest.param(
            judged(a_heard(), mark=Mark.BUSY), RoomState.OCCUPIED, id="said empty, not yet written"
        ),
        pytest.param(
            judged(a_heard(), mark=Mark.ALLOCATED), RoomState.ALLOCATED, id="an allocated one"
        ),
        pytest.param(
            judged(a_heard(), mark=Mark.DRAINING), RoomState.DRAINING, id="one that leaves"
        ),
        pytest.param(
            judged(BUSY, mark=Mark.DRAINING),
            RoomState.OCCUPIED,
            id="players came while it was to leave",
        ),
        pytest.param(
            judged(a_heard(health=Health.FAILED), **IDLE_POD),
            RoomState.ERROR,
            id="one that reports itself Failed",
        ),
        pytest.param(
            judged(a_heard(health=Health.FAILED, players=2), mark=Mark.BUSY),
            RoomState.OCCUPIED,
            id="players in one that reports itself Failed",
        ),
        pytest.param(
            judged(a_heard(health=Health.CREATING), **IDLE_POD),
            RoomState.UNREADY,
            id="one that reports itself Creating",
        ),
        pytest.param(
            judged(MADE_ANEW, seconds=294.0, **IDLE_POD),
            RoomState.UNREADY,
            id="one that had begun, and says Creating again, has its time once more",
        ),
        pytest.param(
            judged(MADE_ANEW, seconds=296.0, **IDLE_POD),
            RoomState.ERROR,
            id="one that goes on saying Creating is over its time",
        ),
        pytest.param(
            judged(replace(MADE_ANEW, players=3), seconds=9000.0, mark=Mark.BUSY),
            RoomState.OCCUPIED,
            id="players in one that loads a map, and says Creating all the time",
        ),
        pytest.param(
            judged(replace(MADE_ANEW, players=3), seconds=9000.0, **IDLE_POD),
            RoomState.OCCUPIED,
            id="players in it who stand not on its pod yet",
        ),
        pytest.param(
            judged(MADE_ANEW, replace(LISTENING, deaf="we hear nobody"), 9000.0, **IDLE_POD),
            RoomState.READY,
            id="one that says Creating, and is perhaps not heard since",
        ),
        pytest.param(
            judged(MADE_ANEW, seconds=9000.0, mark=Mark.DRAINING, leaving=Why.SCALE_IN),
            RoomState.DRAINING,
            id="one that leaves and says Creating leaves as any other",
        ),
        pytest.param(
            judged(a_heard(silent=True), **IDLE_POD), RoomState.ERROR, id="empty, then silent"
        ),
        pytest.param(
            judged(replace(BUSY, silent=True), mark=Mark.BUSY),
            RoomState.OCCUPIED,
            id="busy, then silent",
        ),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf="all fell silent"), **IDLE_POD),
            RoomState.READY,
            id="silent like all others",
        ),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf_on={"node-1": "all of it"}), **IDLE_POD),
            RoomState.READY,
            id="silent like all others of its node",
        ),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf_here="nobody is heard"), **IDLE_POD),
            RoomState.READY,
            id="silent like all others of its workload",
        ),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf_on={"node-2": "all of it"}), **IDLE_POD),
            RoomState.ERROR,
            id="silent, and those of another node too",
        ),
        pytest.param(
            judged(**IDLE_POD), RoomState.READY, id="recorded empty, not heard since we listen"
        ),
        pytest.param(
            judged(a_heard(said=Said.TERMINATING, said_since=NOW - 10), **IDLE_POD),
            RoomState.TERMINATING,
            id="one that says that it ends",
        ),
        pytest.param(
            judged(a_heard(said=Said.TERMINATING, said_since=NOW - 200), **IDLE_POD),
            RoomState.ERROR,
            id="one that says so for too long",
        ),
        pytest.param(
            judged(a_heard(said=Said.TERMINATED), **IDLE_POD),
            RoomState.TERMINATED,
            id="one that says that it has ended",
        ),
        pytest.param(
            judged(mark=Mark.FAILED), RoomState.ERROR, id="one that is kept for a post-mortem"
        ),
    ],
)
def test_the_state_of(what: Judged, state: RoomState) -> None:
    assert what.state is state
    assert what.reason


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(judged(BUSY, **IDLE_POD), id="that says it is busy"),
        pytest.param(judged(mark=Mark.BUSY), id="recorded busy and not heard"),
        pytest.param(judged(a_heard(), mark=Mark.BUSY), id="whose pod still stands as busy"),
        pytest.param(judged(mark=Mark.ALLOCATED), id="allocated"),
        pytest.param(
            judged(BUSY, **BESIDE, mark=Mark.BUSY, seconds=1e6),
            id="that plays beside a container that never starts",
        ),
        pytest.param(
            judged(**BESIDE, mark=Mark.ALLOCATED, seconds=1e6),
            id="allocated beside a container that never starts",
        ),
        pytest.param(
            judged(BUSY, phase=Phase.PENDING, ready=False, mark=Mark.BUSY, seconds=1e6),
            id="that says it is busy before its pod is known to run",
        ),
        pytest.param(
            judged(phase=Phase.PENDING, ready=False, mark=Mark.BUSY),
            id="recorded busy, and not known to run yet",
        ),
        pytest.param(
            judged(phase=Phase.PENDING, ready=False, node="", mark=Mark.ALLOCATED),
            id="allocated before a node takes it",
        ),
        pytest.param(
            judged(**BESIDE, mark=Mark.IDLE),
            id="recorded idle beside a container that never started, and not heard",
        ),
        pytest.param(
            judged(**BESIDE, mark=Mark.DRAINING, leaving_since=NOW, was_heard=True),
            id="draining beside a container that never started, and not heard",
        ),
        pytest.param(
            judged(replace(BUSY, silent=True, at=NOW - 60), **NOT_BACK),
            id="busy and silent, whose container ended and may begin anew",
        ),
        pytest.param(judged(**NOT_BACK), id="recorded busy, whose container may begin anew"),
        pytest.param(
            judged(replace(BUSY, at=NOW - 60), **NOT_BACK, seconds=1e6),
            id="that says it is busy, whatever is told of its container",
        ),
        pytest.param(
            judged(replace(BUSY, silent=True, at=NOW), **NOT_BACK, seconds=1e6),
            id="busy and silent, that spoke after its container was seen to have ended",
        ),
        pytest.param(judged(**ANEW), id="recorded busy, whose pod is pending anew"),
        pytest.param(
            judged(replace(BUSY, periodic=False, at=NOW - 60), **ANEW),
            id="busy by what it told on change, whose pod is pending anew",
        ),
        pytest.param(
            judged(replace(BUSY, periodic=False, at=NOW), **ANEW, seconds=1e6),
            id="that told of players after its pod was seen pending anew",
        ),
        pytest.param(
            judged(replace(BUSY, periodic=False, at=NOW - 60), **{**ANEW, "runs": ()}, seconds=1e6),
            id="busy by what it told on change, and nothing tells that it ever ended",
        ),
        pytest.param(
            judged(None, Ears(deaf_on={"node-1": "all"}), **ANEW, seconds=1e6),
            id="recorded busy, whose pod is pending, of a node that we may be deaf to",
        ),
        pytest.param(
            judged(None, Ears(deaf="all"), **{**ANEW, "mark": Mark.IDLE, "runs": ()}, seconds=1e6),
            id="recorded idle, whose pod is pending, and we may be deaf to",
        ),
        pytest.param(judged(ready=False, lapsed=True, seconds=1e6), id="that was ready once"),
        pytest.param(judged(revision=""), id="whose revision somebody took away"),
        pytest.param(judged(), id="never heard"),
        pytest.param(judged(**IDLE_POD), id="recorded idle and not heard"),
        pytest.param(judged(mark=Mark.DRAINING), id="draining and not heard"),
        pytest.param(judged(replace(BUSY, silent=True), seconds=1e6), id="silent for a long time"),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf="all"), **IDLE_POD), id="we may be deaf to"
        ),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf_on={"node-1": "all"}), **IDLE_POD),
            id="whose node we may not hear",
        ),
        pytest.param(
            judged(a_heard(silent=True), Ears(deaf_here="all"), **IDLE_POD),
            id="of whose workload nobody is heard",
        ),
        pytest.param(judged(a_heard(said=Said.TERMINATING, said_since=NOW)), id="that ends"),
        pytest.param(judged(BUSY, ready=False, lapsed=True), id="busy on a node that is lost"),
        pytest.param(
            judged(replace(BUSY, said=Said.TERMINATING), seconds=1e6),
            id="that takes its time to end, with a match in it",
        ),
        pytest.param(
            judged(a_heard(said=Said.TERMINATING), mark=Mark.ALLOCATED, seconds=1e6),
            id="that takes its time to end, and was allocated",
        ),
        pytest.param(
            judged(Heard(at=NOW, silent=True, tells=False), mark=Mark.BUSY),
            id="recorded busy, of which only its silence is known",
        ),
        pytest.param(
            judged(ready=False, runs=(1,), mark=Mark.DRAINING, was_heard=True),
            id="draining, that restarted and was perhaps ready before",
        ),
    ],
)
def test_a_room_may_not_go(what: Judged) -> None:
    assert what.protected


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(judged(a_heard(), **IDLE_POD), id="that says it is empty"),
        pytest.param(judged(a_heard(), mark=Mark.DRAINING), id="that leaves and is empty"),
        pytest.param(judged(ready=False), id="that starts"),
        pytest.param(judged(BUSY, mark=Mark.BUSY, phase=Phase.FAILED), id="whose containers ended"),
        pytest.param(
            judged(mark=Mark.BUSY, running=False, ready=False, waiting="CrashLoopBackOff"),
            id="recorded busy, of which nothing runs",
        ),
        pytest.param(
            judged(replace(BUSY, silent=True, at=NOW - 60), **NOT_BACK, seconds=1000),
            id="busy and silent, whose container ended and cannot begin anew",
        ),
        pytest.param(
            judged(replace(BUSY, periodic=False, at=NOW - 60), **NOT_BACK, seconds=1000),
            id="busy by what it told on change, whose container ended and cannot begin anew",
        ),
        pytest.param(
            judged(**NOT_BACK, seconds=1000),
            id="recorded busy and not heard, whose container ended and cannot begin anew",
        ),
        pytest.param(judged(**ANEW, seconds=1000), id="recorded busy, pending anew for too long"),
        pytest.param(
            judged(replace(BUSY, silent=True, at=NOW - 60), **ANEW, seconds=1000),
            id="busy and silent since, pending anew for too long",
        ),
        pytest.param(
            judged(replace(BUSY, periodic=False, at=NOW - 60), **ANEW, seconds=1000),
            id="busy by what it told on change, pending anew for too long",
        ),
        pytest.param(judged(a_heard(silent=True), **IDLE_POD), id="empty and silent"),
        pytest.param(
            judged(mark=Mark.FAILED, leaving=Why.REQUEST, phase=Phase.FAILED),
            id="whose post-mortem is over",
        ),
        pytest.param(
            judged(mark=Mark.FAILED, leaving=Why.REQUEST),
            id="whose post-mortem is over, and of which something runs unheard",
        ),
        pytest.param(
            judged(ready=False, mark=Mark.DRAINING),
            id="marked draining before it was ever ready",
        ),
        pytest.param(
            judged(a_heard(said=Said.TERMINATED, players=3), **IDLE_POD),
            id="that is over, whatever it counted before",
        ),
    ],
)
def test_a_room_may_go(what: Judged) -> None:
    assert not what.protected


def test_without_reports_the_pod_is_all_there_is() -> None:
    assert judge(a_room(0), SILENT).state is RoomState.READY
    assert not judge(a_room(0), SILENT, BUSY).protected, "what was said is not listened to"
    lapsed = judge(a_room(0, ready=False, lapsed=True), SILENT, now=NOW + 1e6)
    assert lapsed.state is RoomState.UNREADY, "perhaps it is full: no time-out ends it"


def test_a_commit_that_says_that_rooms_report_no_more_sends_nobody_out_of_them() -> None:
    assert judge(a_room(0, mark=Mark.BUSY), SILENT).protected
    assert judge(a_room(0, mark=Mark.ALLOCATED), SILENT).protected
    assert judge(a_room(0, mark=Mark.IDLE), SILENT).protected, "not heard since we listen"
    assert judge(a_room(0, mark=Mark.DRAINING), SILENT, BUSY).protected, "it is still heard"
    assert not judge(a_room(0, mark=Mark.IDLE), SILENT, a_heard()).protected
    assert not judge(a_room(0, mark=Mark.DRAINING), SILENT).protected, "by its pod alone"


def test_only_a_limit_of_the_users_gives_up_a_busy_room_that_is_silent() -> None:
    silent = replace(BUSY, silent=True, at=NOW - 500)
    pod = a_room(0, mark=Mark.BUSY)
    assert judge(pod, LIMITED, silent, LISTENING, NOW).protected
    assert judge(pod, LIMITED, silent, LISTENING, NOW + 200).state is RoomState.ERROR
    assert judge(pod, LIMITED, silent, Ears(deaf="all"), NOW + 200).protected
    assert judge(pod, LIMITED, replace(silent, silent=False), LISTENING, NOW + 200).protected
    assert judge(pod, LIMITED, None, Ears(since=NOW - 599), NOW).protected, "we listen since then"
    draining = replace(pod, mark=Mark.DRAINING)
    assert not judge(draining, LIMITED, silent, LISTENING, NOW + 200).protected, "to the end"


def test_the_same_limit_ends_a_count_of_which_nobody_knows_whose_word_it_was() -> None:
    told = a_heard(periodic=False, said=None, players=3, at=NOW - 500)
    pod = a_room(0, mark=Mark.BUSY, runs=(1,))
    doubted = judge(pod, LIMITED, told, LISTENING, NOW)
    assert (doubted.state, doubted.again_in_seconds) == (RoomState.OCCUPIED, 100)
    assert "before its game began anew" in doubted.reason
    assert judge(pod, LIMITED, told, LISTENING, NOW + 200).state is RoomState.ERROR
    assert judge(pod, LIMITED, told, Ears(deaf="all"), NOW + 200).protected
    assert judge(pod, LIMITED, replace(told, runs=(1,)), LISTENING, NOW + 200).protected, "its own"
    assert judge(pod, REPORTS, told, LISTENING, NOW + 9e9).protected, "no limit is written"


@pytest.mark.parametrize(
    ("heard", "ears"),
    [
        pytest.param(replace(BUSY, silent=True, at=NOW - 500), LISTENING, id="its last words"),
        pytest.param(a_heard(silent=True, at=NOW - 500), LISTENING, id="its pod"),
        pytest.param(None, Ears(since=NOW - 500), id="its pod alone, since we listen"),
    ],
)
def test_time_gives_up_a_busy_room_by(heard: Heard | None, ears: Ears) -> None:
    pod = a_room(0, mark=Mark.BUSY)
    assert judge(pod, LIMITED, heard, ears, NOW).again_in_seconds == 100
    assert judge(pod, REPORTS, heard, ears, NOW).again_in_seconds is None


def test_demand_is_what_was_recorded_last() -> None:
    assert judged(mark=Mark.BUSY).demand
    assert not judged(**IDLE_POD).demand
    assert judged(replace(BUSY, silent=True), mark=Mark.BUSY).demand


def test_unheard_is_who_was_ready_and_is_not_heard() -> None:
    assert judged().unheard
    assert judged(**IDLE_POD).unheard
    assert judged(mark=Mark.BUSY).unheard
    assert judged(Heard(at=NOW, silent=True, tells=False), mark=Mark.BUSY).unheard
    assert not judged(ready=False).unheard, "a room that starts is not expected to speak"
    assert not judged(a_heard(), **IDLE_POD).unheard


def test_time_says_when_to_look_again() -> None:
    assert judged(**NOT_BACK).again_in_seconds == 300 - 50
    assert judged(ready=False).again_in_seconds == 300 - 50
    assert judged(a_heard(said=Said.TERMINATING, said_since=NOW - 20)).again_in_seconds == 100
    assert judged(a_heard(), **IDLE_POD).again_in_seconds is None


@pytest.mark.parametrize("rule", RULES[:-1], ids=lambda rule: rule.__name__)
def test_every_rule_is_needed(
    rule: Callable[[Facts], Judged | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it another state, another answer to "may it go", or another reason comes out."""
    before = [case() for case in CASES]
    monkeypatch.setattr(room_state, "RULES", tuple(each for each in RULES if each is not rule))
    assert [case() for case in CASES] != before


def test_what_protects_comes_before_what_lets_go() -> None:
    names = [rule.__name__ for rule in RULES]
    assert names.index("_ended") < names.index("_busy"), "a container that ended has no players"
    assert names.index("_busy") < names.index("_reports_failure"), "players come first"


GAME_OVER: dict[str, Any] = {"ready": False, "ended": "Completed", "mark": Mark.BUSY}
"""Its game ended for good, and a container beside it runs on."""
DEAF = Ears(since=NOW - 1000, deaf="nobody is heard")


@pytest.mark.parametrize(
    ("what", "state", "protected"),
    [
        pytest.param(judged(a_heard(), **GAME_OVER), RoomState.TERMINATED, False, id="empty"),
        pytest.param(
            judged(a_heard(), **{**GAME_OVER, "ended": "Error (exit code 139)"}),
            RoomState.ERROR,
            False,
            id="its game crashed for good",
        ),
        pytest.param(
            judged(BUSY, **GAME_OVER), RoomState.OCCUPIED, True, id="told of players since"
        ),
        pytest.param(
            judged(replace(BUSY, silent=True), **GAME_OVER),
            RoomState.TERMINATED,
            False,
            id="whoever told of players is silent since",
        ),
        pytest.param(
            judged(replace(BUSY, silent=True), DEAF, **GAME_OVER),
            RoomState.OCCUPIED,
            True,
            id="while we may be deaf",
        ),
        pytest.param(
            judged(None, Ears(since=NOW - 10), **GAME_OVER),
            RoomState.UNREADY,
            True,
            id="recorded busy, and we have just begun to listen",
        ),
        pytest.param(
            judged(None, Ears(), **GAME_OVER), RoomState.UNREADY, True, id="nobody listens"
        ),
        pytest.param(
            judged(None, LISTENING, **GAME_OVER),
            RoomState.TERMINATED,
            False,
            id="recorded busy, and nobody spoke for long",
        ),
    ],
)
def test_a_room_whose_game_is_over_ends_unless_somebody_tells_of_players(
    what: Judged, state: RoomState, protected: bool
) -> None:
    assert (what.state, bool(what.protected)) == (state, protected)


@pytest.mark.parametrize(
    ("limit", "pod", "told"),
    [
        pytest.param(
            None,
            {"runs": (1,)},
            "it says so, 3 players, or did right before its game began anew: it stays until it "
            "tells a count, for timeouts.silentBusySeconds is not set",
            id="for ever",
        ),
        pytest.param(
            60.0,
            {"runs": (1,)},
            "it says so, 3 players, or did right before its game began anew",
            id="as long as the user wrote",
        ),
        pytest.param(
            60.0,
            {"ended": "Completed", "ready": False},
            "it says so, 3 players, or did right before its game ended",
            id="its game ended",
        ),
    ],
)
def test_a_room_says_that_nobody_knows_whose_word_its_count_is(
    limit: float | None, pod: dict[str, Any], told: str
) -> None:
    workload = replace(REPORTS, timeouts=Timeouts(silent_busy_seconds=limit))
    count = Heard(at=NOW, periodic=False, players=3)
    room = judge(a_room(0, **{"mark": Mark.BUSY, **pod}), workload, count, LISTENING, NOW)
    assert (room.reason, room.protected) == (told, told)


def test_that_a_game_is_over_tells_nothing_of_the_process_that_runs_since() -> None:
    told = replace(a_heard(said=Said.TERMINATED), over_runs=(0,))
    assert judge(a_room(0, runs=(0,)), LIMITED, told, LISTENING, NOW).state is RoomState.TERMINATED
    anew = judge(a_room(0, runs=(1,)), LIMITED, told, LISTENING, NOW)
    assert anew.state not in (RoomState.TERMINATED, RoomState.ERROR)
