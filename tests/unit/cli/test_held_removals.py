"""What `status` says of a removal that is held: by which hash it goes, and what goes with it."""

from dataclasses import replace

import pytest

from reconciler.cli.statuses import status_of
from reconciler.core.offers import asks_of
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Scaling
from reconciler.model.records import HeldRemoval, Notice, Offer
from tests.loop.world import Process, World
from tests.unit.cli.test_statuses import KEY, LINE, accepted


async def test_no_deletion_is_offered_while_a_file_is_unreadable() -> None:
    process = Process(World())
    await process.start()
    held = HeldRemoval(HoldKind.LAST_SPEC, LINE, "the last one")
    store = process.lane.store
    await store.change_state(KEY, lambda _: replace(accepted(), held=held))
    offers = (Offer("a" * 12, (LINE,), "c1", asks_of({LINE: ""})),)
    notices = (Notice(HoldKind.UNREADABLE, "", "x.yaml cannot be read"),)
    await store.change_repository(lambda newest: replace(newest, offers=offers, notices=notices))
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    assert arena.holds[0].change_hash == ""


async def test_a_refused_removal_comes_with_the_hash_that_was_offered() -> None:
    process = Process(World())
    await process.start()
    held = HeldRemoval(HoldKind.OVER_BUDGET, LINE, "too many")
    store = process.lane.store
    await store.change_state(KEY, lambda _: replace(accepted(), held=held))
    offers = tuple(
        Offer(digit * 12, (), commit, asks_of({LINE: ""}))
        for digit, commit in (("a", "c1"), ("b", "c2"))
    )
    await store.change_repository(lambda newest: replace(newest, offers=offers))
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    assert arena.holds[0].change_hash == "b" * 12


async def test_of_several_hashes_the_one_is_shown_that_lets_least_through() -> None:
    process = Process(World())
    await process.start()
    held = HeldRemoval(HoldKind.OVER_BUDGET, LINE, "too many")
    store = process.lane.store
    await store.change_state(KEY, lambda _: replace(accepted(), held=held))
    both = {LINE: "", "local Scheduler duel/duel left-git to=0": ""}
    offers = (
        Offer("a" * 12, (), "c1", asks_of({LINE: ""})),
        Offer("b" * 12, (), "c2", asks_of(both)),
    )
    await store.change_repository(lambda newest: replace(newest, offers=offers))
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    assert arena.holds[0].change_hash == "a" * 12


@pytest.mark.parametrize(
    ("count", "acts", "told"),
    [
        pytest.param(20, 32, "too many; by now 32 are wanted, and 12 more would go", id="more"),
        pytest.param(20, 20, "too many", id="as many"),
        pytest.param(20, 9, "too many", id="fewer"),
        pytest.param(0, 32, "too many", id="the reason tells no number"),
    ],
)
async def test_rooms_that_came_since_a_removal_was_held_are_told(
    count: int, acts: int, told: str
) -> None:
    process = Process(World())
    await process.start()
    held = HeldRemoval(HoldKind.OVER_BUDGET, LINE, "too many", count=count)
    scaling = Scaling(intent=Intent(3, acts, (), 0.0))
    record = replace(accepted(), held=held, scaling=scaling)
    await process.lane.store.change_state(KEY, lambda _: record)
    (arena,) = status_of(process.lane, [], None, 0.0).workloads
    assert arena.holds[0].reason == told
