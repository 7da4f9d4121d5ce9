"""What is long is done in turns: others on the event loop are served meanwhile."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reconciler.core import approval, freezing, intake, withholding
from reconciler.loop import head, judging, keep_records
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from tests.loop.test_freezes import HOUR, config
from tests.loop.world import World, spec

pytestmark = pytest.mark.long

RECORDS = 200


async def turns_during(work: Coroutine[Any, Any, Any], each: Callable[[], None]) -> int:
    """Do `work` and return how often another task came round meanwhile; `each` is called then."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            each()
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    try:
        await work
    finally:
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
    return turns


async def test_records_are_read_in_turns_and_nobody_sees_half_of_them() -> None:
    world = World()
    first, second = await world.process(), await world.process()
    keys = [WorkloadKey("Scheduler", f"w{n}", f"w{n}") for n in range(RECORDS)]
    for key in keys:
        await first.lane.store.change_state(key, lambda record: StateRecord(highest=7))
    store = second.lane.store
    listed = len(second.transport.calls)
    seen: set[int] = set()
    turns = await turns_during(store.load(), lambda: seen.add(len(store.states())))
    requests = len(second.transport.calls) - listed
    assert seen <= {0, RECORDS}
    assert len(store.states()) == RECORDS
    assert turns > requests + 3


async def test_a_large_head_is_judged_and_kept_in_turns() -> None:
    world = World()
    world.commit({f"schedulers/w{n}.yaml": spec(f"w{n}", 1) for n in range(RECORDS)})
    process = await world.process()
    await process.view.read()
    begun: list[int] = []

    def count() -> None:
        begun.append(sum("change_state" in str(task.get_coro()) for task in asyncio.all_tasks()))

    await turns_during(head.look(process.head, world.time.now()), count)
    assert len(process.lane.store.states()) == RECORDS
    assert 0 < max(begun) <= keep_records.WRITES


async def test_a_large_head_in_a_freeze_is_judged_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.commit({"gamekeeper.yaml": config()})
    world.commit({f"schedulers/w{n}.yaml": spec(f"w{n}", 1) for n in range(RECORDS)})
    process = await world.process()
    await process.view.read()
    await head.look(process.head, world.time.now())
    world.pass_time(HOUR + 1800)
    world.commit({f"schedulers/w{n}.yaml": spec(f"w{n}", 2) for n in range(RECORDS)})
    on_the_loop: list[str] = []

    def watched(judge: Callable[..., Any]) -> Callable[..., Any]:
        def judging(*args: Any, **named: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                on_the_loop.append(judge.__name__)
            return judge(*args, **named)

        return judging

    for module, name in (
        (freezing, "open_freezes"),
        (judging, "asked_by"),
        (freezing, "edits_of"),
        (approval, "offer"),
        (withholding, "withheld"),
        (intake, "take_in"),
    ):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    wanted = await head.look(process.head, world.time.now())
    assert len(wanted.holds) == RECORDS
    assert not on_the_loop
