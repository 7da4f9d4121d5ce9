from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import rollout
from reconciler.core.rollout import Step
from reconciler.core.rooms import Sorted, sort_rooms
from reconciler.model.refs import WorkloadKey
from reconciler.model.shares import Share
from reconciler.model.specs import Rollout
from tests.unit.core.making import a_workload, pending, pods

ONE_BY_ONE = Rollout(Share(1), Share(0))


def rooms(
    new_ready: int = 0, new_unready: int = 0, old_ready: int = 0, old_unready: int = 0
) -> Sorted:
    return Sorted(
        a_workload(),
        new_ready=pods(new_ready),
        new_unready=pending(new_unready, 1000),
        old_ready=pods(old_ready, 2000),
        old_unready=pending(old_unready, 3000),
    )


@pytest.mark.parametrize(
    ("there", "desired", "policy", "step"),
    [
        pytest.param(rooms(), 3, ONE_BY_ONE, Step(3, 0, 0, 0), id="an empty fleet is filled"),
        pytest.param(
            rooms(new_ready=3), 3, ONE_BY_ONE, Step(0, 0, 0, 0), id="a full fleet is left alone"
        ),
        pytest.param(
            rooms(new_ready=2), 3, ONE_BY_ONE, Step(1, 0, 0, 0), id="a lost room is replaced"
        ),
        pytest.param(
            rooms(new_ready=3, new_unready=2),
            3,
            ONE_BY_ONE,
            Step(0, 0, 0, 2),
            id="a fleet that is too large loses the excess",
        ),
        pytest.param(
            rooms(old_ready=4),
            4,
            ONE_BY_ONE,
            Step(1, 0, 0, 0),
            id="a roll-out without unavailability starts with one more",
        ),
        pytest.param(
            rooms(new_unready=1, old_ready=4),
            4,
            ONE_BY_ONE,
            Step(0, 0, 0, 0),
            id="it waits for the new room to be ready",
        ),
        pytest.param(
            rooms(new_ready=1, old_ready=4),
            4,
            ONE_BY_ONE,
            Step(0, 0, 1, 0),
            id="a ready new room lets an old one go; the next one starts when it has gone",
        ),
        pytest.param(
            rooms(old_ready=10),
            10,
            Rollout(Share(0), Share(20, percent=True)),
            Step(0, 0, 2, 0),
            id="unavailability alone makes place first",
        ),
        pytest.param(
            rooms(old_ready=10),
            10,
            Rollout(Share(25, percent=True), Share(25, percent=True)),
            Step(3, 0, 2, 0),
            id="surge rounds up and unavailability down",
        ),
        pytest.param(
            rooms(old_unready=3, old_ready=1),
            4,
            ONE_BY_ONE,
            Step(1, 3, 0, 0),
            id="old rooms that are not ready go at once",
        ),
        pytest.param(
            rooms(old_ready=10),
            4,
            ONE_BY_ONE,
            Step(0, 0, 6, 0),
            id="a roll-out and a scale-in go together",
        ),
        pytest.param(
            rooms(old_ready=2),
            6,
            ONE_BY_ONE,
            Step(5, 0, 0, 0),
            id="a roll-out and a scale-out go in one step",
        ),
        pytest.param(rooms(new_ready=2), 0, ONE_BY_ONE, Step(0, 0, 0, 2), id="zero is a count"),
    ],
)
def test_the_next_step_is(there: Sorted, desired: int, policy: Rollout, step: Step) -> None:
    assert rollout.next_step(there, desired, policy) == step


def test_a_roll_out_can_always_move() -> None:
    assert rollout.bounds(Rollout(Share(0, percent=True), Share(10, percent=True)), 3) == (0, 1)


counts = st.integers(0, 30)
shares = st.builds(Share, st.integers(0, 100), st.booleans())


@given(counts, counts, counts, counts, counts, shares, shares)
def test_a_step_keeps_its_bounds(
    new_ready: int,
    new_unready: int,
    old_ready: int,
    old_unready: int,
    desired: int,
    surge: Share,
    unavailable: Share,
) -> None:
    there = rooms(new_ready, new_unready, old_ready, old_unready)
    policy = Rollout(surge, unavailable)
    step = rollout.next_step(there, desired, policy)
    may_surge, may_miss = rollout.bounds(policy, desired)
    removed_ready = step.remove_old_ready + max(0, step.remove_excess - new_unready)
    ready_before = new_ready + old_ready
    # By our own doing readiness never falls below the bound, or below what it was.
    assert ready_before - removed_ready >= min(ready_before, desired - may_miss)
    # Also before any of the removals is done: their deletes may fail, or the process die.
    assert there.alive + step.create <= max(there.alive, desired + may_surge)
    assert step.remove_old_ready <= old_ready
    assert step.create <= desired


@given(counts, counts, counts, counts, counts, shares, shares)
def test_a_roll_out_ends(
    new_ready: int,
    new_unready: int,
    old_ready: int,
    old_unready: int,
    desired: int,
    surge: Share,
    unavailable: Share,
) -> None:
    policy = Rollout(surge, unavailable)
    for _ in range(200):
        step = rollout.next_step(
            rooms(new_ready, new_unready, old_ready, old_unready), desired, policy
        )
        if step == Step(0, 0, 0, 0) and not new_unready:
            break
        excess_unready = min(step.remove_excess, new_unready)
        old_ready -= step.remove_old_ready
        old_unready -= step.remove_old_unready
        # Whoever was starting is ready by the next step.
        new_ready += new_unready - excess_unready - (step.remove_excess - excess_unready)
        new_unready = step.create
    assert (new_ready, new_unready, old_ready, old_unready) == (desired, 0, 0, 0)


def test_old_rooms_that_lapsed_go_at_the_pace_of_ready_ones() -> None:
    lapsed = pods(4, revision="1-old", ready=False, lapsed=True)
    there = sort_rooms(lapsed, a_workload())
    assert rollout.next_step(there, 4, ONE_BY_ONE) == Step(1, 0, 0, 0)
    fresh = pods(1, 10, revision="1-new")
    assert (
        rollout.next_step(
            sort_rooms([*lapsed, *fresh], a_workload()), 4, ONE_BY_ONE
        ).remove_old_ready
        == 1
    )


def test_new_rooms_that_lapsed_let_no_old_one_go() -> None:
    lapsed = pods(1, revision="1-new", ready=False, lapsed=True)
    there = sort_rooms([*lapsed, *pods(4, 10, revision="1-old")], a_workload())
    assert rollout.next_step(there, 4, ONE_BY_ONE) == Step(0, 0, 0, 0)


def test_a_scale_in_that_spares_a_lapsed_room_counts_the_ready_one_that_goes() -> None:
    lapsed = pods(1, revision="1-new", ready=False, lapsed=True)
    there = sort_rooms(
        [*lapsed, *pods(2, 10, revision="1-new"), *pods(1, 20, revision="1-old")], a_workload()
    )
    # One of three new rooms is too many, and it is a ready one: the old one stays for it.
    assert rollout.next_step(there, 2, ONE_BY_ONE) == Step(0, 0, 0, 1)


few = st.integers(0, 6)


@given(few, few, few, few, few, shares, shares)
def test_a_roll_out_ends_though_old_rooms_were_never_heard(
    new_ready: int,
    old_ready: int,
    old_unready: int,
    old_unheard: int,
    desired: int,
    surge: Share,
    unavailable: Share,
) -> None:
    policy = Rollout(surge, unavailable)
    new_unready = 0
    for _ in range(50):
        there = rooms(new_ready, new_unready, old_ready, old_unready + old_unheard)
        there.protected = {pod.uid for pod in there.old_unready[:old_unheard]}
        step = rollout.next_step(there, desired, policy)
        if step == Step(0, 0, 0, 0) and not (new_unready or old_unheard):
            break
        # Old rooms that were never heard are told to leave at once, and are no members then.
        old_unheard = 0
        excess_unready = min(step.remove_excess, new_unready)
        old_ready -= step.remove_old_ready
        old_unready -= step.remove_old_unready
        new_ready += new_unready - excess_unready - (step.remove_excess - excess_unready)
        new_unready = step.create
    assert (new_ready, new_unready, old_ready, old_unready) == (desired, 0, 0, 0)


def _in_fleet(there: Sorted, playing: int, quiet: int) -> Sorted:
    """Let the first of the rooms be busy, and of the next nothing be known yet."""
    ready = [*there.new_ready, *there.old_ready]
    uids = [pod.uid for pod in ready]
    key = WorkloadKey("Fleet", "servers", "arena")
    return replace(
        there,
        workload=replace(there.workload, key=key),
        busy=set(uids[:playing]),
        protected=set(uids[: playing + quiet]),
    )


def test_full_rooms_are_not_told_to_leave_for_free_ones_that_are_heard_in_a_moment() -> None:
    there = _in_fleet(rooms(new_ready=5), playing=3, quiet=2)
    assert rollout.next_step(there, 1, ONE_BY_ONE).leave_excess == 2

    heard = _in_fleet(rooms(new_ready=5), playing=3, quiet=0)
    step = rollout.next_step(heard, 1, ONE_BY_ONE)
    assert (step.remove_excess, step.leave_excess) == (2, 2), "as many as when all are heard"


def test_nor_are_full_rooms_of_an_old_revision() -> None:
    policy = Rollout(Share(0), Share(2))
    there = _in_fleet(rooms(old_ready=5), playing=3, quiet=2)
    step = rollout.next_step(there, 5, policy)
    assert (step.remove_old_ready, step.leave_old) == (0, 0)
