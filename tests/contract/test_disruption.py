"""What our disruption budgets refuse, and what they let go: on the sandbox and the real thing.

The objects are those of our own templates, the marks are patched as the loop patches them.
"""

import asyncio
import json

import pytest

from reconciler.core import desired
from reconciler.core.stamp import stamp_room
from reconciler.model import labels
from reconciler.model.plans import Desired, RoomSeat
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Disruption, Rollout, Scheduling, Source, Workload
from tests.contract.api_server_world import APPLY, JSON_PATCH, Reply, Speaker
from tests.loop.compiler import InlineCompiler

OCCUPIED, COUNT = Disruption("occupied"), Disruption("count")


def wanted(space: str, disruption: Disruption) -> Desired:
    """Return a Fleet in the namespace of a test."""
    key = WorkloadKey("Fleet", space.rpartition("/")[2], "arena")
    workload = Workload(
        key=key,
        game="arena",
        replicas=3,
        reports="required",
        rollout=Rollout(),
        port_range=None,
        disruption=disruption,
        scheduling=Scheduling.DISTRIBUTED,
        suspend=False,
        template={
            "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "game", "image": "game:1"}],
            }
        },
        revision="1-0123456789ab",
        spec_json="{}",
        source=Source("fleets/arena.yaml", 1),
        replicas_source=Source("fleets/arena.yaml", 7),
    )
    rendered = asyncio.run(InlineCompiler().render([workload], "contract"))
    return desired.build(workload, rendered[key])


def budget_path(space: str) -> str:
    return f"{space.replace('/api/v1', '/apis/policy/v1')}/poddisruptionbudgets/arena"


def apply_budget(api: Speaker, space: str, asked: Desired) -> Json:
    """Apply the budget as the loop does; return it as it stands then."""
    (body,) = [item.body for item in asked.objects if item.ref.kind == "PodDisruptionBudget"]
    query = "?fieldManager=gamekeeper-contract&force=true"
    reply = api.ask("PATCH", budget_path(space) + query, json.dumps(body).encode(), APPLY)
    assert reply.status in (200, 201), reply.body
    applied: Json = reply.body
    return applied


def rooms(api: Speaker, space: str, asked: Desired, number: int = 3) -> list[str]:
    """Make the account, the budget and rooms that are ready; return the paths of the rooms."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "arena"}}
    api.make(f"{space}/serviceaccounts", account)
    apply_budget(api, space, asked)
    pods = [stamp_room(asked.room, asked.workload, RoomSeat(n)) for n in range(number)]
    paths = [f"{space}/pods/{pod['metadata']['name']}" for pod in pods]
    for pod in pods:
        api.make(f"{space}/pods", pod)
    for path in paths:
        api.until(path, is_ready)
    return paths


def is_ready(reply: Reply) -> bool:
    conditions = reply.body.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def mark(api: Speaker, room: str, state: str) -> None:
    """Patch the state of a room as the loop does, with nothing to wait for afterwards."""
    there = api.ask("GET", room).metadata["labels"].get(labels.STATE)
    path = f"/metadata/labels/{labels.STATE.replace('/', '~1')}"
    operations = [
        {"op": "test", "path": path, "value": there},
        {"op": "add", "path": path, "value": state},
    ]
    reply = api.ask("PATCH", room, operations if there else operations[1:], JSON_PATCH)
    assert reply.status == 200, reply.body


def evict(api: Speaker, room: str) -> int:
    body = {"apiVersion": "policy/v1", "kind": "Eviction"}
    name = room.rpartition("/")[2]
    return api.ask("POST", f"{room}/eviction", {**body, "metadata": {"name": name}}).status


def observed(api: Speaker, space: str, allowed: int | None = None) -> None:
    """Wait until the disruption controller has looked at the budget, and lets so many go."""

    def is_so(reply: Reply) -> bool:
        status = reply.body.get("status", {})
        seen = status.get("observedGeneration", 0) >= reply.metadata["generation"]
        return seen and (allowed is None or status.get("disruptionsAllowed") == allowed)

    api.until(budget_path(space), is_so)


@pytest.mark.parametrize("state", ["busy", "allocated"])
def test_a_room_that_serves_players_is_not_evicted_and_an_empty_one_is(
    api: Speaker, space: str, state: str
) -> None:
    serving, empty, unheard = rooms(api, space, wanted(space, OCCUPIED))
    mark(api, serving, state)
    mark(api, empty, "idle")
    observed(api, space)

    assert evict(api, serving) == 429
    assert evict(api, empty) == 201
    assert evict(api, serving) == 429
    # Never heard: the annotations ask to spare it, the budget does not know it.
    assert evict(api, unheard) == 201


def test_in_the_instant_after_it_turned_busy_a_room_is_not_evicted(
    api: Speaker, space: str
) -> None:
    paths = rooms(api, space, wanted(space, OCCUPIED), number=8)
    for path in paths:
        mark(api, path, "idle")
    observed(api, space)
    for path in paths:
        mark(api, path, "busy")
        assert evict(api, path) == 429

    # And back: what has emptied may go at once, and nothing else may.
    mark(api, paths[0], "idle")
    assert evict(api, paths[0]) == 201
    assert evict(api, paths[1]) == 429


def test_while_the_budget_was_not_looked_at_yet_a_busy_room_is_not_evicted(
    api: Speaker, space: str
) -> None:
    asked = wanted(space, OCCUPIED)
    (room,) = rooms(api, space, asked, number=1)
    mark(api, room, "busy")
    assert api.ask("DELETE", budget_path(space)).status == 200
    apply_budget(api, space, asked)
    assert evict(api, room) == 429


def test_a_counted_budget_lets_go_what_the_occupied_rooms_do_not_need(
    api: Speaker, space: str
) -> None:
    asked = wanted(space, COUNT)
    paths = rooms(api, space, asked)
    mark(api, paths[0], "busy")
    observed(api, space, allowed=0)
    assert evict(api, paths[1]) == 429, "until it is counted every room is needed"

    applied = apply_budget(api, space, desired.with_occupied(asked, total=3, occupied=1))
    assert applied["spec"]["minAvailable"] == 2
    observed(api, space, allowed=1)
    assert evict(api, paths[1]) == 201
    assert [evict(api, path) for path in (paths[0], paths[2])] == [429, 429]


def test_a_budget_of_one_room_lets_it_go(api: Speaker, space: str) -> None:
    asked = wanted(space, COUNT)
    (room,) = rooms(api, space, asked, number=1)
    mark(api, room, "busy")
    apply_budget(api, space, desired.with_occupied(asked, total=1, occupied=1))
    observed(api, space, allowed=1)
    assert evict(api, room) == 201


def test_a_changed_mode_changes_the_one_budget_that_there_is(api: Speaker, space: str) -> None:
    counted, by_state = wanted(space, COUNT), wanted(space, OCCUPIED)
    first, second, third = rooms(api, space, counted)
    mark(api, first, "busy")
    apply_budget(api, space, desired.with_occupied(counted, total=3, occupied=0))
    observed(api, space, allowed=3)

    applied = apply_budget(api, space, by_state)
    assert evict(api, first) == 429, "before the controller has seen the change, too"
    assert applied["spec"]["minAvailable"] == 1_000_000
    assert [one["key"] for one in applied["spec"]["selector"]["matchExpressions"]] == [labels.STATE]
    assert evict(api, second) == 201

    applied = apply_budget(api, space, counted)
    assert "matchExpressions" not in applied["spec"]["selector"]
    assert evict(api, third) == 429
    observed(api, space, allowed=0)
    assert evict(api, third) == 429
