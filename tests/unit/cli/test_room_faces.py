"""What status shows of rooms: by state, a fleet's face, and who stays though it is to leave."""

from dataclasses import replace

import pytest

from reconciler.cli.room_faces import NO_ROOMS, RoomsFace, face_of, surplus
from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import Status, WorkloadStatus
from reconciler.core.rooms import sort_rooms
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LivePod
from reconciler.model.plans import Counts
from reconciler.model.records import RepositoryRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Mark, RoomState, Why
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key, a_pod, a_workload

FLEET = WorkloadKey("Fleet", "arcade", "openarena")
HEARD = a_workload(reports="required")
NOTHING = Counts()


def status_with(
    key: WorkloadKey,
    rooms: RoomsFace = NO_ROOMS,
    holds: tuple[Hold, ...] = (),
    counts: Counts = NOTHING,
) -> Status:
    source = "fleets/x.yaml:1"
    each = WorkloadStatus(key, counts, "being removed", (), holds, "c" * 40, source, rooms)
    return Status(RepositoryRecord(), None, (each,))


def told(status: Status) -> str:
    screen = console()
    print_text(screen, status, 0.0)
    return text_of(screen.out)


def test_rooms_with_players_of_a_spec_that_left_git_are_counted_as_staying() -> None:
    pods = [a_pod(0, mark=Mark.BUSY), a_pod(1, mark=Mark.ALLOCATED), a_pod(2, mark=Mark.IDLE)]
    face = face_of(pods, HEARD, (), deleting=True)
    assert face.stay_lines == ["leaving Git: 2 rooms with players stay until they end"]


def test_a_busy_room_that_is_to_leave_says_why_and_stays_until_it_ends() -> None:
    pods = [a_pod(0, mark=Mark.BUSY, leaving=Why.ROLLOUT), a_pod(1, mark=Mark.BUSY)]
    face = face_of(pods, HEARD, (), deleting=False)
    assert face.stay_lines == ["rolling out: 1 room with players stays until it ends"]


def test_who_is_not_told_of_a_roll_out_that_waits_for_its_players_is_counted_with_it() -> None:
    pods = [a_pod(0, mark=Mark.BUSY), a_pod(1, mark=Mark.BUSY), a_pod(2, mark=Mark.IDLE)]
    face = face_of(pods, HEARD, (), deleting=False, outdated={pods[0].uid, pods[2].uid})
    assert face.stay_lines == ["rolling out: 1 room with players stays until it ends"]


def test_rooms_with_players_above_the_wanted_count_are_counted_though_nobody_told_them() -> None:
    pods = [a_pod(number, mark=Mark.BUSY) for number in range(6)]
    left = surplus(sort_rooms(pods, HEARD), 2)
    assert len(left) == 4
    face = face_of(pods, HEARD, (), deleting=False, above=left)
    assert face.above == 4
    assert face.stay_lines == ["fewer are wanted: 4 rooms with players stay until they end"]
    status = status_with(a_key(), rooms=face)
    assert as_json(status, 0.0)["workloads"][0]["staying"] == {"scale-in": 4}
    for kind in (HoldKind.SUSPENDED, HoldKind.UNREADABLE_RECORD):
        stopped = (Hold(kind, a_key(), "nothing is removed"),)
        untouched = face_of(pods, HEARD, stopped, deleting=False, above=left)
        assert (untouched.stay_lines, untouched.above) == ([], 0), kind
    going = face_of(pods, HEARD, (), deleting=True, above=left)
    assert (going.staying, going.above) == ({Why.LEFT_GIT: 6}, 0)


@pytest.mark.parametrize(
    ("pods", "wanted", "above"),
    [
        pytest.param([a_pod(n, mark=Mark.BUSY) for n in range(3)], 3, 0, id="as many as wanted"),
        pytest.param(
            [a_pod(0, mark=Mark.IDLE), *(a_pod(n, mark=Mark.BUSY) for n in range(1, 4))],
            *(2, 1),
            id="an empty one goes first",
        ),
        pytest.param(
            [
                a_pod(0, mark=Mark.BUSY, leaving=Why.SCALE_IN),
                a_pod(1, mark=Mark.BUSY, terminating=True),
                a_pod(2, mark=Mark.ALLOCATED),
                a_pod(3, mark=Mark.BUSY),
            ],
            *(1, 1),
            id="one that leaves is counted as such",
        ),
    ],
)
def test_only_who_plays_beyond_the_count_is_above_it(
    pods: list[LivePod], wanted: int, above: int
) -> None:
    assert len(surplus(sort_rooms(pods, HEARD), wanted)) == above


def test_who_stays_says_by_when_a_deadline_ends_it() -> None:
    spec = replace(HEARD, departure=replace(HEARD.departure, drain_deadline_seconds=90))
    pods = [
        a_pod(number, mark=Mark.BUSY, leaving=Why.ROLLOUT, leaving_since=since)
        for number, since in enumerate((1000.0, 1020.0))
    ]
    end = "whoever plays there (removal.drainDeadlineSeconds)"
    (line,) = face_of(pods, spec, (), deleting=False, now=1030.0).stay_lines
    first = f"or the first is deleted in 60 s, {end}"
    assert line == f"rolling out: 2 rooms with players stay until they end, {first}"
    (line,) = face_of(pods[1:], spec, (), deleting=False, now=1120.0).stay_lines
    assert line.endswith(f"1 room with players stays until it ends, or is deleted now, {end}")


def test_rooms_that_are_kept_for_a_post_mortem_are_counted() -> None:
    status = status_with(a_key(), counts=Counts(kept=2))
    line = "kept: Scheduler/arena: 2 failed rooms for a post-mortem, until drained or deleted"
    assert line in told(status)
    assert as_json(status, 0.0)["workloads"][0]["kept"] == 2
    assert "kept:" not in told(status_with(a_key()))


def test_the_hold_of_occupied_rooms_is_told_once_with_their_number() -> None:
    hold = Hold(HoldKind.OCCUPIED, a_key(), "left Git: rooms with players stay")
    face = face_of([a_pod(0, mark=Mark.BUSY)], HEARD, (), deleting=True)
    said = told(status_with(a_key(), rooms=face, holds=(hold,)))
    assert "stays: Scheduler/arena: leaving Git: 1 room with players stays until it ends" in said
    assert "rooms with players stay (occupied)" not in said
    assert "(occupied)" in told(status_with(a_key(), holds=(hold,)))


def test_a_fleet_shows_the_collections_face() -> None:
    kept = '{"players":5,"health":"Healthy","at":1}'
    pods = [
        a_pod(0, mark=Mark.BUSY, kept_report=kept),
        a_pod(1, mark=Mark.IDLE, kept_report='{"players":0,"health":"Failed","at":1}'),
    ]
    status = status_with(FLEET, rooms=face_of(pods, HEARD, (), deleting=False))
    lines = told(status).splitlines()
    assert lines[-2].split() == ["FLEET", "AVAILABLE", "HEALTH", "PODS", "PLAYERS"]
    assert lines[-1].split() == ["Fleet/arcade/openarena", "1", "Failed", "Running", "5"]
    (shown,) = as_json(status, 0.0)["workloads"]
    assert (shown["available"], shown["health"], shown["players"]) == (1, "Failed", 5)


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        (['{"said":"occupied","players":0,"at":1}', '{"players":0,"at":1}'], None),
        (['{"said":"occupied","players":0,"at":1}', '{"players":4,"at":1}'], 4),
        (['{"players":0,"at":1}', '{"players":0,"at":1}'], 0),
        (["", ""], None),
    ],
    ids=["one unknown, one empty", "one unknown, one told", "both empty", "never heard"],
)
def test_players_are_summed_as_the_list_of_rooms_shows_them(
    kept: list[str], shown: int | None
) -> None:
    pods = [a_pod(number, kept_report=said) for number, said in enumerate(kept)]
    assert face_of(pods, HEARD, (), deleting=False).players == shown


def test_rooms_are_counted_by_state_for_programs() -> None:
    pods = [a_pod(0, mark=Mark.BUSY), a_pod(1, mark=Mark.IDLE), a_pod(2, mark=Mark.IDLE)]
    face = face_of(pods, HEARD, (), deleting=False)
    assert face.states[RoomState.OCCUPIED] == 1
    (shown,) = as_json(status_with(a_key(), rooms=face), 0.0)["workloads"]
    assert shown["states"] == {"ready": 2, "occupied": 1}
