"""A record that says what no head led to: it is seen at the next write, and judged at once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.loop import head
from reconciler.loop.requests import ask
from reconciler.model.errors import Unanswered, Unavailable
from reconciler.model.refs import Json
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, scene, stage
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World, spec

RECORD = "gamekeeper-main-local-scheduler-arena.arena"
PLACE = f"/api/v1/namespaces/gamekeeper/configmaps/{RECORD}"
LATER = [{"from": "08:07", "to": "20:00", "replicas": 5}]
"""Between two times at which the head is judged though nothing changed."""
ROOMS = "/api/v1/namespaces/arena/pods"
BUSY = {"metadata": {"labels": {"gamekeeper.dev/state": "busy"}}}
GOES, STAYS = '"deleting":true', '"deleting":false'


def says(there: Scene) -> str:
    return "".join(there.world.ask(PLACE)["data"].values())


def written_by_hand(there: Scene, said: str = STAYS, says_now: str = GOES) -> None:
    """Write that the workload left Git, which it did not, or the contrary."""
    record = there.world.ask(PLACE)
    assert said in says(there)
    data = {name: text.replace(said, says_now) for name, text in record["data"].items()}
    there.world.patch(PLACE, {"data": data})


def undecided(there: Scene) -> int:
    return sum(ledger.undecided_count for ledger in there.ledgers)


@pytest.mark.parametrize("is_asked", [False, True])
def test_what_a_hand_wrote_is_judged_at_the_next_write_or_when_it_is_asked_for(
    is_asked: bool,
) -> None:
    async def main() -> None:
        async with scene(spec("arena", 2) if is_asked else scaled(2, LATER)) as there:
            leader = there.start("one")
            await there.until("it stands", lambda: there.has_rooms(2), 200.0)
            await asyncio.sleep(30.0)
            written_by_hand(there)
            if is_asked:
                await ask(leader.kube, leader.app.head_service.request_ref, "main", "now")
            else:
                await there.until("its policy moves", lambda: bool(undecided(there)), 600.0)
            await there.until("it is judged", lambda: STAYS in says(there), 15.0)
            assert there.rooms() >= 2

    in_virtual_time(main())


def test_who_takes_a_removal_back_waits_for_no_look_though_its_write_was_not_answered() -> None:
    async def main() -> None:
        files = {FILE: spec("arena", 2), "schedulers/lobby.yaml": spec("lobby", 1)}
        async with stage(files, dict.fromkeys(("arena", "lobby"), Bounds(30, 0))) as there:
            leader = there.start("one")
            await there.until("it stands", lambda: there.has_rooms(2), 200.0)
            send, lost, attr = leader.transport.send, list[Call](), "send"

            async def sent(call: Call) -> tuple[int, Json]:
                answer = await send(call)
                body: Any = call.body
                if call.verb == "update" and not lost and GOES in str(body):
                    lost.append(call)
                    raise Unanswered(f"{call.what}: said nothing for 30 s")
                return answer

            setattr(leader.transport, attr, sent)
            there.world.commit({FILE: None})
            await there.until("it is on record", lambda: bool(lost), 60.0)
            there.world.commit({FILE: spec("arena", 2)})
            await there.until("it is judged", lambda: STAYS in says(there), 40.0)
            assert ARENA in leader.lane.wanted.effective

    in_virtual_time(main())


def test_what_a_hand_wrote_of_one_that_goes_is_compared_too() -> None:
    async def main() -> None:
        files = {FILE: spec("arena", 2), "schedulers/lobby.yaml": spec("lobby", 1)}
        async with stage(files, dict.fromkeys(("arena", "lobby"), Bounds(30, 0))) as there:
            leader = there.start("one")
            await there.until("it stands", lambda: there.has_rooms(2), 200.0)
            for pod in there.world.pods("arena"):
                there.world.patch(f"{ROOMS}/{pod['metadata']['name']}", BUSY)
            await asyncio.sleep(20.0)
            there.world.commit({FILE: None})
            await there.until("it goes", lambda: GOES in says(there), 60.0)
            await asyncio.sleep(60.0)
            written_by_hand(there, GOES, STAYS)
            await ask(leader.kube, leader.app.head_service.request_ref, "main", "now")
            await there.until("it is judged", lambda: GOES in says(there), 15.0)

    in_virtual_time(main())


@pytest.mark.parametrize("fails", ["the look", "what it puts on record"])
def test_a_doubt_wakes_nobody_who_cannot_look(fails: str) -> None:
    """A host that wants to be left alone is left alone, however many rooms end meanwhile."""

    async def main() -> None:
        async with scene(spec("arena", 2)) as there:
            leader = there.start("one")
            await there.until("it stands", lambda: there.has_rooms(2), 200.0)
            await asyncio.sleep(60.0)
            repository, transport = leader.head.repository, leader.transport
            looks, fetch, fetches = list[float](), repository.fetch, "fetch"
            send, sends = transport.send, "send"

            async def fetched() -> Any:
                looks.append(there.world.time.now())
                return await fetch()

            async def sent(call: Call) -> tuple[int, Json]:
                if call.verb == "update" and RECORD in call.path:
                    raise Unavailable("429", retry_after_seconds=120.0)
                return await send(call)

            setattr(repository, fetches, fetched)
            if fails == "the look":
                there.world.host.fault = Unavailable("429", retry_after_seconds=120.0)
            else:
                setattr(transport, sends, sent)
            written_by_hand(there)
            there.world.delete(f"{ROOMS}/{there.world.pods('arena')[0]['metadata']['name']}")
            for number in range(60):
                for pod in there.world.pods("arena")[:1]:
                    told = {"metadata": {"labels": {"seen": f"{number}"}}}
                    there.world.patch(f"{ROOMS}/{pod['metadata']['name']}", told)
                await asyncio.sleep(3.0)
            assert leader.lane.store.doubted
            assert len(looks) < 12
            there.world.host.fault = None
            setattr(transport, sends, send)

    in_virtual_time(main())


async def test_a_doubt_outlives_a_look_while_the_record_is_read_again() -> None:
    world = World()
    world.commit({f"schedulers/{name}.yaml": spec(name, 1) for name in ("arena", "bravo")})
    process = await world.process()
    await world.settle(process)
    store, send, attr = process.lane.store, process.transport.send, "send"
    data = world.ask(PLACE)["data"]
    world.patch(PLACE, {"data": {name: text.replace(STAYS, GOES) for name, text in data.items()}})
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def sent(call: Call) -> tuple[int, Json]:
        if call.verb == "get" and PLACE in call.path and not asked.is_set():
            asked.set()
            await goes_on.wait()
        return await send(call)

    setattr(process.transport, attr, sent)
    change = store.change_state(ARENA, lambda record: replace(record, observed_commit="another"))
    writing = asyncio.create_task(change)
    await asked.wait()
    await head.look(process.head, world.time.now())
    goes_on.set()
    await asyncio.gather(writing, return_exceptions=True)
    await head.look(process.head, world.time.now())
    assert not store.state(ARENA).deleting


async def test_a_doubt_outlives_a_look_that_fails_after_it() -> None:
    """Two records are looked at anew; the first is another, and the second is not answered once."""
    world = World()
    world.commit({f"schedulers/{name}.yaml": spec(name, 1) for name in ("arena", "bravo")})
    process = await world.process()
    await world.settle(process)
    store, send, failed, attr = process.lane.store, process.transport.send, list[Call](), "send"
    for kept in store._states.values():
        kept.doubtful = True
    data = world.ask(PLACE)["data"]
    world.patch(PLACE, {"data": {name: text.replace(STAYS, GOES) for name, text in data.items()}})
    world.touch(PLACE.replace("arena", "bravo"))

    async def sent(call: Call) -> tuple[int, Json]:
        if call.verb == "get" and "bravo.bravo" in call.path and not failed:
            failed.append(call)
            raise Unavailable(f"{call.what}: no answer")
        return await send(call)

    setattr(process.transport, attr, sent)
    with pytest.raises(Unavailable):
        await head.look(process.head, world.time.now())
    await head.look(process.head, world.time.now())
    assert not store.state(ARENA).deleting
