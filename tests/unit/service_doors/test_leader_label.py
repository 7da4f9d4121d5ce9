"""The label that leads rooms to whoever decides: on one pod, before its first decision."""

import asyncio

import pytest

from reconciler.model import labels
from reconciler.model.errors import Denied, Unavailable
from reconciler.service.leader_label import LeaderLabel
from tests.unit.service_doors.gate import Gate

PODS = "/api/v1/namespaces/gamekeeper/pods"
APP = {labels.NAME: "gamekeeper"}


def stage() -> Gate:
    gate = Gate()
    gate.pass_time(5.0)
    for name, marks in {
        "one": APP,
        "two": APP,
        "other-app": {labels.NAME: "other", labels.LEADS: "true"},
    }.items():
        spec = {"containers": [{"name": "c", "image": "i"}]}
        gate.make(PODS, {"metadata": {"name": name, "labels": marks}, "spec": spec})
    return gate


def label(gate: Gate, pod: str, leading: bool = True) -> LeaderLabel:
    return LeaderLabel(gate.cluster, "gamekeeper", pod, gate.time, lambda: leading)


async def turns() -> None:
    """Let what runs beside go on for a while."""
    for _ in range(200):
        await asyncio.sleep(0)


def leaders(gate: Gate) -> list[str]:
    """What the rooms' Service selects."""
    found = gate.ask(
        "GET", f"{PODS}?labelSelector=app.kubernetes.io/name=gamekeeper,{labels.LEADS}"
    )
    return [pod["metadata"]["name"] for pod in found["items"]]


async def test_a_new_leader_takes_it_from_the_old_one_and_from_no_other_program() -> None:
    gate = stage()
    await label(gate, "one").take()
    assert leaders(gate) == ["one"]
    await label(gate, "two").take()
    assert leaders(gate) == ["two"]
    kept = gate.ask("GET", f"{PODS}/other-app")["metadata"]["labels"]
    assert kept[labels.LEADS] == "true"


async def test_it_goes_from_the_others_before_it_comes_to_us() -> None:
    gate = stage()
    await label(gate, "one").take()
    gate.transport.calls.clear()
    await label(gate, "two").take()
    patches = [call.path for call in gate.transport.calls if call.method == "PATCH"]
    assert [path.partition("?")[0] for path in patches] == [f"{PODS}/one", f"{PODS}/two"]


async def test_who_leads_no_more_takes_it_off() -> None:
    gate = stage()
    own = label(gate, "one")
    await own.take()
    await own.drop()
    assert leaders(gate) == []
    before = len(gate.asked())
    await own.drop()
    assert len(gate.asked()) == before


async def test_what_cannot_be_told_now_is_tried_again_before_anything_is_decided() -> None:
    gate = stage()
    gate.fails("pods", lambda: Unavailable("down"))
    with pytest.raises(Unavailable):
        await label(gate, "one").take()


async def test_without_the_right_everything_else_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    gate = stage()
    gate.fails("pods", lambda: Denied("pods is forbidden"))
    await label(gate, "one").take()
    assert "cannot be led to this process" in caplog.text


async def test_a_permission_that_was_repaired_leads_rooms_here_without_a_restart(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = stage()
    gate.fails("pods", lambda: Denied("pods is forbidden"))
    own = label(gate, "one")
    await own.take()
    running = asyncio.create_task(own.run())
    await turns()
    assert leaders(gate) == []
    gate.transport.before = lambda number, call: None
    await turns()
    running.cancel()
    assert leaders(gate) == ["one"]
    assert caplog.text.count("cannot be led to this process") == 1


async def test_outside_of_a_pod_nothing_is_done() -> None:
    gate = stage()
    own = label(gate, "")
    before = len(gate.asked())
    await own.take()
    await own.run()
    await own.drop()
    assert len(gate.asked()) == before
    await label(gate, "gone").take()
    assert leaders(gate) == []
