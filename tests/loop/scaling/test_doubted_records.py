"""A record that says what no head led to: it is seen at the next write, and judged at once."""

import asyncio
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.loop.requests import ask
from reconciler.model.errors import Unanswered
from reconciler.model.refs import Json
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, scene, stage
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import spec

RECORD = "gamekeeper-main-local-scheduler-arena.arena"
PLACE = f"/api/v1/namespaces/gamekeeper/configmaps/{RECORD}"
LATER = [{"from": "08:07", "to": "20:00", "replicas": 5}]
"""Between two times at which the head is judged though nothing changed."""
GOES, STAYS = '"deleting":true', '"deleting":false'


def says(there: Scene) -> str:
    return "".join(there.world.ask(PLACE)["data"].values())


def written_by_hand(there: Scene) -> None:
    """Write that the workload left Git, which it did not."""
    record = there.world.ask(PLACE)
    assert STAYS in says(there)
    data = {name: text.replace(STAYS, GOES) for name, text in record["data"].items()}
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
