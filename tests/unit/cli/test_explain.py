"""Explanations as sentences: what decided, what it rests on, and what comes next."""

from dataclasses import replace

import pytest

from reconciler.cli.explain_room import room_json, room_lines
from reconciler.cli.explain_workload import workload_json, workload_lines
from reconciler.cli.explained import Explained
from reconciler.cli.room_detail import detail_lines
from reconciler.cli.room_faces import face_of, surplus
from reconciler.cli.room_reading import Around, see
from reconciler.cli.rooms_api import Told
from reconciler.cli.statuses import GOING, WorkloadStatus
from reconciler.core.conditions import READY, STEP_FAILED
from reconciler.core.kept_reports import kept_of
from reconciler.core.rooms import sort_rooms
from reconciler.model.changes import Cause
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LivePod, Phase
from reconciler.model.plans import Counts, CreateRooms, DeleteRoom, MarkRoom, Plan, RoomSeat
from reconciler.model.records import Condition, Ordinals
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark, Why
from reconciler.model.specs import Departure, Disruption
from reconciler.service.lookout import Sighting
from reconciler.service.rooms.unlistened import UNLISTENED
from tests.unit.core.making import NOW, OLD, a_heard, a_key, a_pod, a_room, a_workload

KEY = a_key()
SOURCE = "schedulers/arena.yaml:4"
ON_HOLD = Hold(HoldKind.SUSPENDED, KEY, "Git says suspend")


def explained(
    *pods: LivePod,
    plan: Plan | None = None,
    told: Told | None = None,
    holds: tuple[Hold, ...] = (),
    reports: str = "required",
    seen: Sighting | None = None,
    departure: Departure | None = None,
    disruption: Disruption | None = None,
    desired: int = 3,
) -> Explained:
    departure, disruption = departure or Departure(), disruption or Disruption()
    specs = {KEY: a_workload(reports=reports, departure=departure, disruption=disruption)}
    around = Around(specs=specs, told={("arena", "arena-0"): told} if told else {})
    counts = Counts(desired=desired)
    above = surplus(sort_rooms(pods, specs[KEY]), 3)
    face = face_of(pods, specs[KEY], holds, deleting=False, above=above)
    status = WorkloadStatus(KEY, counts, "reconciling", (), holds, "c" * 40, SOURCE, face)
    rooms = tuple(see(((KEY, pod) for pod in pods), around))
    return Explained(status, seen, rooms, around, plan or Plan(KEY, counts), asked=bool(told))


def of_room(given: Explained) -> str:
    return "\n".join(room_lines(given, given.rooms[0], NOW))


def of_workload(given: Explained) -> str:
    return "\n".join(workload_lines(given, NOW))


def test_a_busy_room_may_not_go_and_no_eviction_passes() -> None:
    said = of_room(explained(a_pod(0, mark=Mark.BUSY), disruption=Disruption("occupied")))
    assert said.startswith("arena/arena-0 is occupied: last recorded busy; silence is not")
    assert "not by our doing, and no eviction passes" in said
    assert f"Scheduler/arena is asked for by {SOURCE} at commit {'c' * 40}" in said
    assert "in the memory of the loop alone: --rooms-api" in said


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        pytest.param("required", "disruption mode count", id="a count of rooms is kept"),
        pytest.param("none", "reports: none", id="nobody reports any more"),
    ],
)
def test_where_an_eviction_of_a_busy_room_passes_that_is_said(reports: str, why: str) -> None:
    busy = a_pod(0, mark=Mark.BUSY, kept_report=kept_of(a_heard(periodic=False, players=3)))
    said = of_room(explained(busy, reports=reports, disruption=Disruption("count")))
    assert "no eviction passes" not in said
    assert why in said


def test_what_an_idle_room_that_pings_said_since_is_not_claimed() -> None:
    said = of_room(explained(a_pod(0, mark=Mark.IDLE)))
    assert "last recorded idle; what it said since the loop alone knows" in said
    assert "not heard" not in said
    assert "not by our doing" not in said
    assert "--rooms-api with its address asks it" in said


def test_where_the_leader_listens_nowhere_no_loop_is_said_to_know() -> None:
    holds = (Hold(HoldKind.DEAF, KEY, UNLISTENED.deaf),)
    given = explained(a_pod(0, mark=Mark.IDLE), holds=holds)
    said = of_room(given)
    assert "its report  heard by nobody, for the process that leads runs without" in said
    assert "may it go?  not by our doing: it is heard by nobody" in said
    assert "--rooms-api" not in said + of_workload(given)


def test_what_the_loop_heard_is_told_where_it_was_asked() -> None:
    told = Told(
        *("uid-0", "active", "1 of 4 matches run", "it plays", a_heard(players=2, matches=1)),
        spoke_at=NOW - 2,
    )
    said = of_room(explained(a_pod(0, mark=Mark.BUSY), told=told))
    assert said.startswith("arena/arena-0 is active: 1 of 4 matches run")
    assert "players 2, matches 1, says ready, the last news 5 s ago, heard 2 s ago" in said


def test_a_room_that_does_not_report_is_known_by_its_pod() -> None:
    said = of_room(explained(a_pod(0), reports="none"))
    assert "`reports: none`" in said
    assert "yes, if something asks for it" in said


def test_a_draining_room_says_what_it_waits_for() -> None:
    pod = a_pod(0, mark=Mark.DRAINING, leaving=Why.SCALE_IN, leaving_since=NOW - 1)
    said = of_room(explained(pod, reports="none"))
    assert "to leave since 1 s: its workload is to have fewer rooms" in said
    assert "it is not deleted yet: marked draining, left alone for 4.0 s more" in said


def test_a_draining_room_waits_for_what_the_loop_says_where_it_was_asked() -> None:
    pod = a_room(0, mark=Mark.DRAINING, leaving=Why.SCALE_IN, leaving_since=NOW - 60)
    told = Told(
        *("uid-0", "draining", "leaves: scale-in", "", a_heard()),
        removal=(True, "known empty since it was marked draining"),
    )
    said = of_room(explained(pod, told=told))
    assert "it is deleted: known empty since it was marked draining" in said


@pytest.mark.parametrize(
    ("on_record", "kind"),
    [
        pytest.param(True, HoldKind.SUSPENDED, id="by its record"),
        pytest.param(True, HoldKind.FAILING, id="by the loop"),
        pytest.param(False, HoldKind.INCOMPLETE_READ, id="by what is seen right now"),
    ],
)
def test_a_draining_room_that_is_held_is_not_said_to_be_deleted(
    on_record: bool, kind: HoldKind
) -> None:
    pod = a_room(0, mark=Mark.DRAINING, leaving=Why.SCALE_IN, leaving_since=NOW - 60)
    hold = Hold(kind, KEY, "something is the matter")
    told = Told(
        *("uid-0", "draining", "leaves: scale-in", "", a_heard()),
        removal=(True, "known empty since it was marked draining"),
    )
    plan = Plan(KEY, Counts(), holds=() if on_record else (hold,))
    given = explained(pod, told=told, plan=plan, holds=(hold,) if on_record else ())
    assert room_json(given, given.rooms[0], NOW)["next"] == [
        f"it may be deleted (known empty since it was marked draining), and is not while it is "
        f"held ({kind})"
    ]


OVER: Json = {"phase": Phase.FAILED, "running": False, "ended": "Error (exit code 1)"}
BESIDE: Json = {"running": True, "ended": "Error (exit code 1)"}


@pytest.mark.parametrize(
    ("room", "kind", "state", "kept"),
    [
        pytest.param({}, HoldKind.FAILING, "", "failing)", id="it was free"),
        pytest.param(OVER, HoldKind.FAILING, "", "", id="ended, and goes though others fail"),
        pytest.param(OVER, HoldKind.INCOMPLETE_READ, "", "", id="ended, and goes unread"),
        pytest.param(OVER, HoldKind.UNSERVED, "", "", id="ended, and goes unserved"),
        pytest.param(OVER, HoldKind.SUSPENDED, "", "suspended)", id="ended, nothing is done"),
        pytest.param(
            {**OVER, "leaving": Why.FAILED},
            *(HoldKind.NEEDS_INTERVENTION, "", "needs-intervention)"),
            id="failed, beyond the limit",
        ),
        pytest.param(
            {"ready": True}, HoldKind.NEEDS_INTERVENTION, "", "", id="beyond it, and told to leave"
        ),
        pytest.param(
            {**BESIDE, "leaving": Why.FAILED},
            *(HoldKind.FAILING, "", "failing), unless another room stands in its place"),
            id="failed, and something of it runs",
        ),
        pytest.param(
            {**BESIDE, "leaving": Why.FAILED},
            *(HoldKind.UNSERVED, "", "unserved)"),
            id="failed, something runs, unserved",
        ),
        pytest.param(BESIDE, HoldKind.FAILING, "", "", id="its game ended as it was told to"),
        pytest.param({}, HoldKind.FOREIGN, "", "foreign)", id="a name is taken"),
        pytest.param({}, HoldKind.FOREIGN, GOING, "", id="left Git beside strangers"),
        pytest.param({}, HoldKind.FAILING, GOING, "", id="left Git while others fail"),
        pytest.param({}, HoldKind.UNSERVED, GOING, "unserved)", id="left Git, unserved"),
    ],
)
def test_a_room_that_leaves_is_said_to_be_held_by_what_keeps_it(
    room: Json, kind: HoldKind, state: str, kept: str
) -> None:
    given = {"mark": Mark.DRAINING, "leaving": Why.SCALE_IN, "leaving_since": NOW - 60, **room}
    told = Told(*("uid-0", "draining", "leaves", "", a_heard()), removal=(True, "it is empty"))
    if room:
        told = replace(told, state="error")
    plan = Plan(KEY, Counts(), holds=(Hold(kind, KEY, "something is the matter"),))
    found = explained(a_room(0, **given), told=told, plan=plan)
    if state:
        found = replace(found, status=replace(found.status, state=state))
    said = room_json(found, found.rooms[0], NOW)["next"]
    held = f"it may be deleted (it is empty), and is not while it is held ({kept}"
    assert said == [held if kept else "it is deleted: it is empty"]


def test_a_name_that_is_skipped_keeps_no_room_that_leaves() -> None:
    pod = a_room(0, mark=Mark.DRAINING, leaving=Why.SCALE_IN, leaving_since=NOW - 60)
    told = Told(*("uid-0", "draining", "leaves", "", a_heard()), removal=(True, "it is empty"))
    hold = Hold(HoldKind.FOREIGN, KEY, "Pod/arena-7 exists and is no room of ours")
    given = explained(pod, told=told, holds=(hold,))
    assert room_json(given, given.rooms[0], NOW)["next"] == ["it is deleted: it is empty"]


def test_what_a_draining_room_said_since_is_not_claimed_where_the_loop_was_not_asked() -> None:
    pod = a_room(0, mark=Mark.DRAINING, leaving=Why.SCALE_IN, leaving_since=NOW - 60)
    said = of_room(explained(pod))
    assert "it is not deleted yet: what it says since it was marked is in the memory" in said


@pytest.mark.parametrize(
    ("pod", "says", "at"),
    [
        pytest.param(
            a_pod(0, mark=Mark.BUSY, leaving=Why.ROLLOUT, leaving_since=NOW - 600),
            "since 10 min: it is of an old revision; deleted in 50 min, whoever plays there "
            "(removal.drainDeadlineSeconds)",
            NOW + 3000,
            id="that plays",
        ),
        pytest.param(
            a_pod(0, leaving=Why.ROLLOUT, leaving_since=NOW - 4000),
            "deleted now, whoever plays there",
            NOW - 400,
            id="that was never heard, and is overdue",
        ),
        pytest.param(a_pod(0, mark=Mark.BUSY), "not told to leave", None, id="that stays"),
    ],
)
def test_a_room_says_when_the_deadline_in_git_ends_it(
    pod: LivePod, says: str, at: float | None
) -> None:
    limited = Departure(drain_deadline_seconds=3600)
    given = explained(pod, departure=limited)
    assert says in of_room(given)
    assert room_json(given, given.rooms[0], NOW)["endsAt"] == at
    if at is not None:
        assert says in "\n".join(detail_lines(given.rooms[0], given.around, NOW))
        assert "whoever plays" not in of_room(explained(pod))


@pytest.mark.parametrize(
    ("since", "holds", "says"),
    [
        (600, (), "not by our doing before its deadline in 50 min, and no eviction passes: last"),
        (4000, (), "yes: its deadline is over, whoever plays there"),
        (600, (ON_HOLD,), "not by our doing while it is held (suspended), and no eviction passes:"),
        (4000, (ON_HOLD,), "not by our doing while it is held (suspended), and no eviction"),
    ],
)
def test_a_room_with_players_stays_no_longer_than_the_deadline_in_git(
    since: float, holds: tuple[Hold, ...], says: str
) -> None:
    pod = a_pod(0, mark=Mark.BUSY, leaving=Why.ROLLOUT, leaving_since=NOW - since)
    limited = Departure(drain_deadline_seconds=3600)
    given = explained(pod, departure=limited, disruption=Disruption("occupied"), holds=holds)
    assert f"may it go?  {says}" in of_room(given)


def test_the_next_step_of_a_room_comes_with_its_reason() -> None:
    pod = a_pod(0, revision=OLD)
    mark = MarkRoom(pod, Mark.DRAINING, Why.ROLLOUT, "arena-0 is of an old revision")
    given = explained(pod, plan=Plan(KEY, Counts(), marks=(mark,)), reports="none")
    assert room_json(given, given.rooms[0], NOW)["next"] == [
        "it is marked draining, so that nobody is sent there, and is deleted once known empty: "
        "arena-0 is of an old revision"
    ]
    assert "an old one: a roll-out replaces it" in of_room(given)


def test_a_workload_tells_its_rooms_its_holds_and_its_next_steps() -> None:
    pod = a_pod(0)
    plan = Plan(
        KEY,
        Counts(desired=3),
        creates=CreateRooms((RoomSeat(4), RoomSeat(5)), Ordinals(6), "3 wanted, 1 there"),
        removals=(DeleteRoom(pod, Cause.HEALING, "it failed"),),
    )
    hold = Hold(HoldKind.FAILING, KEY, "30 % ended at once")
    said = of_workload(explained(pod, plan=plan, holds=(hold,), reports="none"))
    assert said.startswith("Scheduler/arena is reconciling: 3 rooms wanted")
    assert "30 % ended at once (failing)" in said
    assert "2 rooms are made: 3 wanted, 1 there" in said
    assert "arena-0 is deleted (healing): it failed" in said


def test_of_a_record_that_cannot_be_read_the_number_of_status_is_told() -> None:
    given = explained(a_pod(0), plan=Plan(KEY, Counts(desired=0)), desired=5)
    assert of_workload(given).startswith("Scheduler/arena is reconciling: 5 rooms wanted")
    assert workload_json(given, NOW)["desired"] == 5


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (HoldKind.FOREIGN, "nothing, while it is held (foreign)"),
        (HoldKind.SUSPENDED, "nothing, while it is held (suspended)"),
        (HoldKind.UNREADABLE_RECORD, "nothing, while it is held (unreadable-record)"),
        (HoldKind.FAILING, "nothing is to be done"),
    ],
)
def test_what_holds_all_of_a_workload_is_why_nothing_is_done(kind: HoldKind, says: str) -> None:
    given = explained(a_pod(0), holds=(Hold(kind, KEY, "so it is"),))
    assert workload_json(given, NOW)["next"] == [says]


def test_whose_an_object_is_that_was_looked_for_just_now_is_told() -> None:
    hold = Hold(HoldKind.FOREIGN, KEY, "Namespace arena exists and is not ours")
    given = explained(plan=Plan(KEY, Counts(), holds=(hold,)))
    assert "held        Namespace arena exists and is not ours (foreign)" in of_workload(given)
    on_record = replace(given, status=replace(given.status, holds=(hold,)))
    assert len(workload_json(on_record, NOW)["holds"]) == 1


def test_what_the_loop_fails_at_is_told_beside_what_it_is_to_do() -> None:
    said = "create room arena-0: exceeded quota: full"
    given = explained(a_pod(0))
    failing = replace(given.status, conditions=(Condition(READY, False, STEP_FAILED, said, NOW),))
    given = replace(given, status=failing)
    assert workload_json(given, NOW)["failing"] == [said]
    assert f"failing     {said}" in of_workload(given)


def test_rooms_that_stay_though_they_are_to_leave_are_named() -> None:
    leaving = a_pod(0, mark=Mark.BUSY, leaving=Why.LEFT_GIT)
    unheard = a_pod(1, mark=Mark.DRAINING, leaving=Why.LEFT_GIT)
    given = explained(leaving, unheard)
    (stays,) = workload_json(given, NOW)["staying"]
    assert stays.startswith("arena/arena-0 is to leave (left-git): last recorded busy")
    assert workload_json(given, NOW)["reportsKnown"] is False
    assert "what its rooms said last is in the memory of the loop alone" in of_workload(given)


def test_what_a_roll_out_waits_for_is_told_though_no_room_is_told_to_leave() -> None:
    old = a_pod(0, mark=Mark.BUSY, revision="old")
    given = explained(old)
    told = "1 room of an old revision: replaced once known to be empty"
    assert told in workload_json(given, NOW)["staying"]
    assert told not in workload_json(explained(a_pod(0, mark=Mark.BUSY)), NOW)["staying"]
    stopped = Hold(HoldKind.SUSPENDED, KEY, "suspended")
    assert not workload_json(explained(old, holds=(stopped,)), NOW)["staying"]


def test_rooms_with_players_above_the_wanted_count_are_told_of() -> None:
    pods = [a_pod(number, mark=Mark.BUSY) for number in range(5)]
    given = explained(*pods, a_pod(5, mark=Mark.BUSY, revision="old"))
    assert workload_json(given, NOW)["staying"] == [
        "2 rooms with players above the 3 wanted: they go once known to be empty",
        "1 room of an old revision: replaced once known to be empty",
    ]
    for kind in (HoldKind.SUSPENDED, HoldKind.UNREADABLE_RECORD):
        stopped = Hold(kind, KEY, "nothing is removed")
        assert not workload_json(explained(*pods, holds=(stopped,)), NOW)["staying"], kind


def test_explain_counts_as_many_rooms_above_the_wanted_count_as_status() -> None:
    """The API may have heard already what no mark says yet."""
    pods = [a_pod(number, mark=Mark.BUSY) for number in range(5)]
    empty = Told("uid-0", "ready", "it is empty", "", a_heard(), spoke_at=NOW - 2)
    given = explained(*pods, told=empty)
    assert [bool(room.judged.protected) for room in given.rooms] == [False, *[True] * 4]
    assert given.status.rooms.staying == {Why.SCALE_IN: 2}
    assert workload_json(given, NOW)["staying"] == [
        "2 rooms with players above the 3 wanted: they go once known to be empty"
    ]


def test_a_spec_that_left_git_is_told_as_what_was() -> None:
    given = explained(a_pod(0, mark=Mark.BUSY))
    gone = replace(given, status=replace(given.status, state=GOING))
    assert f"was asked for by {SOURCE} at commit {'c' * 40}, and has left Git" in of_room(gone)


def test_while_nobody_leads_nothing_of_it_happens() -> None:
    nobody = Sighting("", 0.0, 15.0, 0.0, 0.0, "")
    assert "No process leads" in of_room(explained(a_pod(0), seen=nobody))
    assert "No process leads" in of_workload(explained(a_pod(0), seen=nobody))
    assert "leads" not in of_workload(explained(a_pod(0)))
