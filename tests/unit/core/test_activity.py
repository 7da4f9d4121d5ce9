"""What happens in rooms between two looks, as policies are told it."""

from typing import Any

from reconciler.core.activity import Following
from reconciler.core.rooms import Sorted, sort_rooms
from reconciler.model.live import LivePod, Phase
from reconciler.model.rooms import Mark, Said
from tests.unit.core.making import NOW, a_heard, a_room, a_workload, ears

PLAYING = a_heard(said=Said.OCCUPIED, matches=1, players=4)


def rooms(*pods: LivePod) -> Sorted:
    heard = {
        f"r{pod.ordinal}": PLAYING if pod.mark is Mark.BUSY else a_heard()
        for pod in pods
        if pod.ready
    }
    return sort_rooms(pods, a_workload(reports="required"), ears(**heard), NOW)


def idle(ordinal: int) -> LivePod:
    return a_room(ordinal, mark=Mark.IDLE)


def busy(ordinal: int, **changes: Any) -> LivePod:
    return a_room(ordinal, mark=Mark.BUSY, **changes)


def starting(ordinal: int, asked: float) -> LivePod:
    return a_room(ordinal, phase=Phase.PENDING, ready=False, created_at=asked)


def test_a_match_starts_runs_and_ends() -> None:
    following = Following()
    following.look(rooms(idle(0)), 100.0)
    started = following.look(rooms(busy(0)), 110.0)
    runs = following.look(rooms(busy(0)), 130.0)
    ended = following.look(rooms(idle(0)), 150.0)
    assert (started.since, started.starts, started.begun) == (100.0, (110.0,), (110.0,))
    assert (runs.since, runs.starts, runs.begun) == (110.0, (), (110.0,))
    assert (ended.ends, ended.begun) == ((40.0,), ())


def test_what_was_there_before_the_first_look_has_not_started_now() -> None:
    following = Following()
    first = following.look(rooms(busy(0), starting(1, 90.0)), 100.0)
    assert (first.since, first.starts, first.begun, first.asked) == (100.0, (), (100.0,), (90.0,))


def test_a_start_takes_from_when_it_was_asked_for_until_it_is_ready() -> None:
    following = Following()
    following.look(rooms(starting(0, 95.0)), 100.0)
    assert following.look(rooms(idle(0)), 155.0).startups == (60.0,)
    assert following.look(rooms(idle(0)), 160.0).startups == ()


def test_a_room_that_vanishes_in_its_start_took_no_time() -> None:
    following = Following()
    following.look(rooms(starting(0, 95.0)), 100.0)
    assert following.look(rooms(), 155.0).startups == ()


def test_the_time_without_a_ready_room_is_counted() -> None:
    following = Following()
    following.look(rooms(idle(0)), 100.0)
    assert following.look(rooms(busy(0)), 110.0).dry_seconds == 0.0
    assert following.look(rooms(busy(0)), 118.0).dry_seconds == 8.0
    assert following.look(rooms(busy(0), idle(1)), 120.0).dry_seconds == 2.0
    assert following.look(rooms(busy(0), idle(1)), 130.0).dry_seconds == 0.0


def test_who_plays_on_in_a_room_that_leaves_has_not_ended() -> None:
    following = Following()
    following.look(rooms(busy(0)), 100.0)
    leaves = busy(0, leaving="scale-in", leaving_since=NOW - 5)
    assert following.look(rooms(leaves), 110.0).ends == ()


def test_a_clock_that_goes_back_makes_no_negative_times() -> None:
    following = Following()
    following.look(rooms(busy(0)), 100.0)
    back = following.look(rooms(idle(0)), 40.0)
    assert (back.since, back.ends, back.dry_seconds) == (40.0, (0.0,), 0.0)
