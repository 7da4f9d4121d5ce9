import pytest

from reconciler.core.rollup import FleetHealth, Rollup, by_state, roll_up
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import Health, Heard, Judged, Mark, RoomState, Why
from tests.unit.core.making import a_key, a_pod, a_room, pending, pods

STUCK = Hold(HoldKind.NEEDS_INTERVENTION, a_key(), "more rooms failed than the spec allows")


def says(ordinal: int, health: Health | None) -> dict[str, Heard]:
    return {f"uid-{ordinal}": Heard(at=1.0, periodic=False, health=health)}


def rolled(
    there: list[LivePod], heard: dict[str, Heard] | None = None, *holds: Hold, wanted: int = 0
) -> tuple[int, str, str]:
    face = roll_up(there, heard or {}, holds, wanted=wanted)
    return face.available, face.health.value, face.pods.value


@pytest.mark.parametrize(
    ("there", "heard", "face"),
    [
        pytest.param([], {}, (0, "Healthy", "Running"), id="no room at all"),
        pytest.param(pods(3), {}, (3, "Healthy", "Running"), id="ready, and silent about health"),
        pytest.param(
            pods(3), says(1, Health.CREATING), (2, "Creating", "Running"), id="one is being made"
        ),
        pytest.param(
            pods(3),
            says(2, Health.FAILED) | says(1, Health.CREATING),
            (1, "Creating", "Running"),
            id="the first that is not healthy wins, though a later one is worse",
        ),
        pytest.param(
            list(reversed(pods(3))),
            says(2, Health.CREATING) | says(1, Health.FAILED),
            (1, "Failed", "Running"),
            id="the first by its number, whatever the order of the list",
        ),
        pytest.param(
            [*pods(2), *pending(1, 2)], {}, (2, "Creating", "Pending"), id="one is pending"
        ),
        pytest.param(
            pending(1), says(0, Health.HEALTHY), (0, "Healthy", "Pending"),
            id="healthy by its word, and not available before it runs",
        ),
        pytest.param(
            [a_pod(0), a_pod(1, phase=Phase.FAILED, ready=False)],
            says(1, Health.HEALTHY),
            (1, "Failed", "Failed"),
            id="one that ended has failed, whatever it said",
        ),
        pytest.param(
            [a_pod(0, phase=Phase.SUCCEEDED, ready=False)], {}, (0, "Failed", "Succeeded"),
            id="a room that ended by itself is not there any more",
        ),
        pytest.param(
            [a_pod(0, ready=False)], {}, (0, "Creating", "Running"), id="running and not ready"
        ),
        pytest.param(
            [a_pod(0, ready=False, lapsed=True)], {}, (1, "Healthy", "Running"),
            id="one that was ready and is full",
        ),
        pytest.param(
            [a_room(0), a_room(1, mark=Mark.IDLE)], {}, (1, "Creating", "Running"),
            id="one that was made to report, and was never heard",
        ),
        pytest.param(
            [a_room(0)], says(0, None), (1, "Healthy", "Running"),
            id="one that was made to report, and told something else",
        ),
        pytest.param(
            [a_pod(0, kept_report='{"players":0,"health":"Failed"}')], {},
            (0, "Failed", "Running"), id="what its pod keeps where nobody listens",
        ),
        pytest.param(
            [a_pod(0, kept_report='{"players":0,"health":"Failed"}')], says(0, Health.HEALTHY),
            (1, "Healthy", "Running"), id="what is heard goes before what its pod keeps",
        ),
    ],
)  # fmt: skip
def test_a_fleet_is(
    there: list[LivePod], heard: dict[str, Heard], face: tuple[int, str, str]
) -> None:
    assert rolled(there, heard) == face


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(a_pod(0, terminating=True), id="one that terminates"),
        pytest.param(a_pod(0, leaving=Why.SCALE_IN), id="one that is to leave"),
        pytest.param(a_pod(0, mark=Mark.DRAINING, leaving=Why.ROLLOUT), id="one that drains"),
        pytest.param(a_pod(0, mark=Mark.FAILED, phase=Phase.FAILED), id="one kept post mortem"),
        pytest.param(a_pod(-1), id="a pod that is no room"),
    ],
)
def test_no_member_is(gone: LivePod) -> None:
    assert roll_up([gone], says(gone.ordinal, Health.FAILED), wanted=0) == Rollup(
        0, FleetHealth.HEALTHY, Phase.RUNNING
    )


def test_where_rooms_are_wanted_and_none_is_there_nothing_is_well() -> None:
    assert rolled([], wanted=6) == (0, "Creating", "Pending")
    assert rolled([a_pod(0, leaving=Why.ROLLOUT)], wanted=1) == (0, "Creating", "Pending")
    assert rolled(pods(1), wanted=6) == (1, "Healthy", "Running")
    assert rolled([], {}, STUCK, wanted=6) == (0, "NeedsIntervention", "Pending")


def test_while_people_are_needed_the_fleet_says_so_and_still_counts_what_is_available() -> None:
    assert rolled(pods(2), {}, STUCK) == (2, "NeedsIntervention", "Running")
    other = Hold(HoldKind.OCCUPIED, a_key(), "rooms with players stay")
    assert rolled(pods(2), {}, other) == (2, "Healthy", "Running")


def test_rooms_are_counted_by_state_and_no_state_is_left_out() -> None:
    states = [RoomState.READY, RoomState.OCCUPIED, RoomState.READY]
    counts = by_state(Judged(state, "") for state in states)
    assert counts.keys() == set(RoomState)
    assert {state: count for state, count in counts.items() if count} == {
        RoomState.READY: 2,
        RoomState.OCCUPIED: 1,
    }


def test_of_one_that_is_suspended_no_room_is_still_to_be_made() -> None:
    suspended = Hold(HoldKind.SUSPENDED, a_key(), "Git says suspend")
    assert rolled([], None, suspended, wanted=6) == (0, "Healthy", "Running")


def test_of_a_record_that_cannot_be_read_nobody_says_that_all_is_well() -> None:
    unreadable = Hold(HoldKind.UNREADABLE_RECORD, a_key(), "schema 9")
    assert rolled([], None, unreadable) == (0, "Creating", "Pending")
    assert rolled(pods(1), None, unreadable) == (1, "Healthy", "Running")
