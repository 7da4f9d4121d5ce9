"""What rooms tell together: places, demand wherever it is, and numbers that are no ground."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.loads import load_of
from reconciler.core.rooms import sort_rooms
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import Health, Heard, Mark, Said, Why
from tests.unit.core.making import NOW, a_heard, a_room, a_workload, ears

PLAYING = a_heard(said=Said.OCCUPIED, matches=1, players=4)


def busy(ordinal: int, **changes: Any) -> LivePod:
    return a_room(ordinal, mark=Mark.BUSY, **changes)


def idle(ordinal: int, **changes: Any) -> LivePod:
    return a_room(ordinal, mark=Mark.IDLE, **changes)


@pytest.mark.parametrize(
    ("pods", "heard", "matches_max", "told"),
    [
        pytest.param([idle(0)], {"r0": a_heard()}, 1, {"ready": 1}, id="a ready room is a place"),
        pytest.param(
            [busy(0)],
            {"r0": PLAYING},
            1,
            {"occupied": 1, "matches": 1, "players": 4},
            id="a full room is demand",
        ),
        pytest.param(
            [busy(0)],
            {"r0": replace(PLAYING, matches=2)},
            3,
            {"active": 1, "matches": 2, "players": 4},
            id="a room with a match to spare is active",
        ),
        pytest.param(
            [busy(0)],
            {"r0": a_heard(said=Said.OCCUPIED)},
            3,
            {"occupied": 1, "matches": 1},
            id="a busy room that tells no number counts as one match",
        ),
        pytest.param(
            [a_room(0, mark=Mark.ALLOCATED)],
            {"r0": a_heard()},
            1,
            {"allocated": 1},
            id="a room that was handed out waits for its players",
        ),
        pytest.param(
            [a_room(0, phase=Phase.PENDING, ready=False)],
            {},
            1,
            {"starting": 1, "healthy": False},
            id="a room that starts is no place yet",
        ),
        pytest.param(
            [busy(0, leaving=Why.ROLLOUT, leaving_since=NOW - 5)],
            {"r0": PLAYING},
            1,
            {"occupied": 1, "matches": 1, "players": 4},
            id="who plays in a room that leaves is demand all the same",
        ),
        pytest.param(
            [a_room(0, mark=Mark.DRAINING, leaving=Why.SCALE_IN, leaving_since=NOW - 5)],
            {"r0": a_heard()},
            1,
            {},
            id="an empty room that leaves counts nowhere",
        ),
        pytest.param(
            [idle(0), idle(1, lapsed=True, ready=False)],
            {"r0": a_heard(), "r1": a_heard(health=Health.FAILED)},
            1,
            {"ready": 1},
            id="a room that failed by its own word counts nowhere",
        ),
    ],
)
def test_rooms_are_counted_by_what_they_offer(
    pods: list[LivePod], heard: dict[str, Heard], matches_max: int, told: dict[str, Any]
) -> None:
    workload = a_workload(reports="required", matches_max=matches_max)
    load = load_of(sort_rooms(pods, workload, ears(**heard), NOW), 3)
    names = ("ready", "active", "occupied", "allocated", "starting", "matches", "players")
    counted = {name: getattr(load, name) for name in names if getattr(load, name)}
    if not load.healthy:
        counted["healthy"] = False
    assert counted == told
    assert (load.replicas, load.matches_max) == (3, matches_max)


def test_the_players_are_told_room_by_room_too() -> None:
    workload, full = a_workload(reports="required"), replace(PLAYING, players=9)
    heard = ears(r0=PLAYING, r1=a_heard(), r2=full)
    load = load_of(sort_rooms([busy(0), idle(1), busy(2)], workload, heard, NOW), 3)
    assert (load.players, load.crowds) == (13, (4, 9))


def test_silence_is_no_place_and_much_of_it_is_no_ground() -> None:
    workload = a_workload(reports="required")
    rooms = [idle(0), idle(1), idle(2)]
    load = load_of(sort_rooms(rooms, workload, ears(r0=a_heard(), r1=a_heard()), NOW), 3)
    assert (load.ready, load.unheard) == (2, 1)
    assert load.trouble == "1 of 3 rooms are not heard"


def test_who_is_to_leave_unheard_counts_with_those_that_stay() -> None:
    rooms = [idle(0), *(replace(busy(number), leaving=Why.SCALE_IN) for number in (1, 2))]
    load = load_of(sort_rooms(rooms, a_workload(reports="required"), ears(), NOW), 1)
    assert load.trouble == "3 of 3 rooms are not heard"


def test_a_little_silence_is_still_ground() -> None:
    workload = a_workload(reports="required")
    heard = ears(**{f"r{n}": a_heard() for n in range(19)})
    load = load_of(sort_rooms([idle(n) for n in range(20)], workload, heard, NOW), 20)
    assert (load.unheard, load.trouble) == (1, "")


def test_of_who_serves_players_those_are_told_apart_that_are_heard() -> None:
    workload = a_workload(reports="required")
    rooms = [busy(0), busy(1), busy(2), a_room(3, mark=Mark.ALLOCATED)]
    heard = ears(r0=PLAYING, r1=replace(PLAYING, silent=True), r3=a_heard())
    load = load_of(sort_rooms(rooms, workload, heard, NOW), 4)
    assert (load.busy, load.busy_heard) == (4, 2)
    none = load_of(sort_rooms(rooms, a_workload(), heard, NOW), 4)
    assert none.busy_heard == 0, "with reports: none nobody waits for what they say"


def test_our_own_deafness_is_no_ground() -> None:
    workload = a_workload(reports="required")
    deaf = replace(ears(r0=a_heard()), deaf="3 of 4 rooms fell silent at once")
    assert load_of(sort_rooms([idle(0)], workload, deaf, NOW), 1).trouble == deaf.deaf


def test_rooms_that_do_not_report_are_places_and_no_demand() -> None:
    load = load_of(sort_rooms([a_room(0), a_room(1)], a_workload()), 2)
    assert (load.ready, load.busy, load.matches, load.trouble) == (2, 0, 0, "")
