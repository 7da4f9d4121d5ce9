"""`gamekeeper demand import` writes beside a loop: neither loses what the other wrote."""

from dataclasses import replace

import pytest

from reconciler.cli.demand import put
from reconciler.core import demand
from reconciler.model.errors import RecordChanged
from reconciler.model.records import StateRecord
from tests.loop.world import Process, World, spec
from tests.unit.core.making import a_key

KEY = a_key()
SEEN, BEFORE = 2_000_000, 1_999_999
"""Two quarters of an hour: one that the loop saw, and the one before it."""


def seen(newest: StateRecord) -> StateRecord:
    """What a loop puts on record of the quarter that it saw."""
    return replace(newest, demand=demand.put(newest.demand, SEEN, 5))


async def begun() -> tuple[Process, Process]:
    """A loop that has put its demand on record, and a command that has read that."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    loop = await world.process()
    await world.settle(loop)
    await loop.lane.store.change_state(KEY, seen)
    return loop, await world.process()


@pytest.mark.parametrize(("replaces", "kept"), [(False, 5), (True, 9)])
async def test_what_is_known_stays_unless_the_file_is_to_be_right(
    replaces: bool, kept: int
) -> None:
    _, command = await begun()

    before = await put(command.lane.store, KEY, {BEFORE: 3, SEEN: 9}, replaces=replaces)

    assert before == {SEEN: 5}
    assert demand.decode(command.lane.store.state(KEY).demand) == {BEFORE: 3, SEEN: kept}


async def test_a_loop_finds_an_import_when_it_next_writes_the_record_and_loses_nothing() -> None:
    loop, command = await begun()
    await put(command.lane.store, KEY, {BEFORE: 3}, replaces=False)

    with pytest.raises(RecordChanged):
        await loop.lane.store.change_state(KEY, lambda newest: replace(newest, demand=b""))
    await loop.lane.store.change_state(KEY, seen)

    assert demand.decode(loop.lane.store.state(KEY).demand) == {BEFORE: 3, SEEN: 5}


async def test_an_import_finds_what_a_loop_wrote_meanwhile() -> None:
    loop, command = await begun()
    await loop.lane.store.change_state(
        KEY, lambda newest: replace(newest, demand=demand.put(newest.demand, SEEN + 1, 7))
    )

    await put(command.lane.store, KEY, {BEFORE: 3}, replaces=False)

    assert demand.decode(command.lane.store.state(KEY).demand) == {BEFORE: 3, SEEN: 5, SEEN + 1: 7}
