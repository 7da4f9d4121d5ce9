"""What a replica that does not lead writes for one that does."""

import asyncio

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.loop import requests
from reconciler.model.errors import PortError, Unavailable
from reconciler.model.refs import Json, ObjectRef
from reconciler.service.relay import PAUSE_SECONDS, Relay
from tests.loop.world import Process, World

REF = requests.request_ref("gamekeeper", "main")


def relay_of(process: Process) -> Relay:
    time = process.world.time
    return Relay(process.cluster, REF, "main", time, time.now)


async def started() -> Process:
    return await World().process()


async def test_what_is_passed_on_is_a_request_that_the_leader_answers() -> None:
    process = await started()
    await relay_of(process).ask()
    request = await requests.pending(process.cluster, REF)
    assert request
    await requests.answer(process.cluster, REF, request)
    assert await requests.pending(process.cluster, REF) == ""


async def test_many_at_once_are_one_write_and_whoever_comes_later_is_another() -> None:
    process = await started()
    relay = relay_of(process)
    before = len(process.transport.writes)
    await asyncio.gather(*(relay.ask() for _ in range(50)))
    assert len(process.transport.writes) == before + 1
    asked_at = process.world.time.at
    await asyncio.gather(*(relay.ask() for _ in range(50)))
    assert len(process.transport.writes) == before + 2
    assert process.world.time.at == asked_at + PAUSE_SECONDS


async def test_a_sender_that_hangs_up_takes_nothing_from_the_others() -> None:
    process = await started()
    relay = relay_of(process)
    first, second = asyncio.create_task(relay.ask()), asyncio.create_task(relay.ask())
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()
    assert await requests.pending(process.cluster, REF)


async def test_a_cluster_that_does_not_answer_is_told_and_the_next_one_tries_again() -> None:
    process = await started()
    relay = relay_of(process)

    def refuse(number: int, call: object) -> None:
        raise Unavailable("the connection was lost")

    process.transport.before = refuse
    with pytest.raises(PortError, match="lost"):
        await relay.ask()
    process.transport.before = lambda number, call: None
    await relay.ask()
    assert await requests.pending(process.cluster, REF)


async def test_two_that_ask_for_the_first_time_at_once_both_have_asked() -> None:
    process = await started()

    class Late(KubernetesCluster):
        """Sees no request yet, though another replica has just written one."""

        async def get(self, ref: ObjectRef) -> Json | None:
            return None

    await requests.ask(process.cluster, REF, "main", "one")
    await requests.ask(Late(process.transport, "main"), REF, "main", "two")
    assert await requests.pending(process.cluster, REF) == "two"
