"""A room as others see it: headers for itself, JSON for people, an object for the collections."""

import json
from datetime import UTC, datetime
from typing import Any

from reconciler.core.rollup import health_of
from reconciler.model.live import LivePod, Phase
from reconciler.model.refs import Json
from reconciler.model.rooms import GameState, Health, Mark, RoomState, Why
from reconciler.room_ports import Desk, Happening, RoomView

UP = frozenset({RoomState.READY, RoomState.ACTIVE, RoomState.OCCUPIED, RoomState.ALLOCATED})
"""The states of a room that serves, or could."""


def state_headers(room: RoomView) -> dict[str, str]:
    """Return the headers that tell a room what it is, and that it is to leave."""
    state = room.judged.state.value
    if room.pod.leaving is Why.STAYS:
        return {"X-Gamekeeper-State": state}
    return {"X-Gamekeeper-State": state, "X-Gamekeeper-Leaving": room.pod.leaving.value}


def texted(value: Any) -> str:
    """Return text as it is, and any other JSON value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def leaves(pod: LivePod) -> bool:
    """Whether a room is to leave, drains, or is being deleted: nobody may be sent to it."""
    gone = pod.terminating or pod.mark in (Mark.DRAINING, Mark.FAILED)
    return gone or pod.leaving is not Why.STAYS


def takes_nobody(room: RoomView) -> bool:
    """Whether nobody may be sent to a room: it is to leave, or it is not heard as it should be."""
    return room.overdue or leaves(room.pod)


def room_json(room: RoomView, desk: Desk, now: float) -> Json:
    """Return everything there is to see of a room; ages are in seconds at `now` (Unix seconds)."""
    pod, heard, verdict = room.pod, room.heard, desk.fence(room)
    return {
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "workload": key_text(room),
        "state": room.judged.state.value,
        "reason": room.judged.reason,
        "protected": room.judged.protected,
        "available": room.available and not takes_nobody(room),
        "mark": pod.mark.value,
        "leaving": pod.leaving.value,
        "leavingSince": stamp(pod.leaving_since),
        "removal": {"may": verdict.may, "reason": verdict.reason} if verdict else None,
        "revision": pod.revision,
        "node": pod.node,
        "hostIP": pod.host_ip,
        "podIP": pod.pod_ip,
        "address": room.address,
        "ports": ports_json(pod),
        "phase": pod.phase.value,
        "ready": pod.ready,
        "matches": heard.matches if heard else 0,
        "matchesMax": room.matches_max,
        "players": heard.told_players if heard else None,
        "health": heard.health.value if heard and heard.health else None,
        "gameState": heard.game_state.value if heard and heard.game_state else None,
        "createdAt": stamp(pod.created_at),
        "ageSeconds": _age(pod.created_at, now),
        "reportAgeSeconds": _age(room.heard_at, now),
        "heardAgeSeconds": _age(desk.spoke_at(room), now),
        "overdue": room.overdue,
        "silent": bool(heard and heard.silent),
    }


def key_text(room: RoomView) -> str:
    """Return kind/namespace/name of a room's workload, as `?workload=` takes it."""
    return f"{room.key.kind}/{room.key.namespace}/{room.key.name}"


def ports_json(pod: LivePod) -> list[Json]:
    """Return the host ports of a room."""
    return [
        {
            "name": port.name,
            "protocol": port.protocol,
            "port": port.port,
            "containerPort": port.container_port,
        }
        for port in pod.host_ports
    ]


def happening_json(happening: Happening) -> Json:
    """Return what a room told."""
    return {
        "kind": happening.kind,
        "name": happening.name,
        "metadata": dict(happening.metadata),
        "at": stamp(happening.at),
    }


def is_running(room: RoomView) -> bool:
    """Whether the collections' /running lists a room: healthy, running, heard, not to be deleted.

    A server with players is listed too, with their number (`_players`): its list was never one of
    empty ones.
    """
    healthy = health_of(room.pod, room.heard) is Health.HEALTHY and room.judged.state in UP
    return healthy and room.pod.phase is Phase.RUNNING and not takes_nobody(room)


def server_json(room: RoomView) -> Json:
    """Return a room in the shape of the collections' DedicatedGameServer."""
    pod, heard = room.pod, room.heard
    ports = [
        {
            "name": port.name,
            "containerPort": port.container_port,
            "hostPort": port.port,
            "protocol": port.protocol,
        }
        for port in pod.host_ports
    ]
    return {
        "kind": "DedicatedGameServer",
        "apiVersion": "azuregaming.com/v1alpha1",
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "uid": pod.uid,
            "resourceVersion": pod.resource_version,
            "creationTimestamp": stamp(pod.created_at),
            "labels": {"DedicatedGameServerCollectionName": pod.workload},
        },
        "spec": {
            "portsToExpose": [port.container_port for port in pod.host_ports],
            "template": {"containers": [{"name": pod.workload, "ports": ports}]},
        },
        "status": {
            "podPhase": pod.phase.value,
            "health": health_of(pod, heard).value,
            "dgsState": _game_state(room).value,
            "markedForDeletion": leaves(pod),
            "publicIP": room.address,
            "nodeName": pod.node,
            "activePlayers": _players(room),
        },
    }


def _players(room: RoomView) -> int:
    """Return how many players are in a room; where it is busy and tells no number, at least one.

    Who goes by the list sends people where few are, and takes a server with none for an empty one.
    A match has a player at least. A word that nobody is there counts, before its mark has followed.
    """
    heard = room.heard
    told = heard is not None and heard.tells
    busy = heard.busy if heard and told else room.judged.demand
    if not busy:
        return 0
    return (heard.players or max(heard.matches, 1)) if heard else 1


def _game_state(room: RoomView) -> GameState:
    if room.heard is not None and room.heard.game_state is not None:
        return room.heard.game_state
    if room.judged.state is RoomState.ALLOCATED:
        return GameState.ASSIGNED
    busy = room.judged.state in (RoomState.OCCUPIED, RoomState.ACTIVE)
    return GameState.RUNNING if busy else GameState.IDLE


def stamp(at: float) -> str | None:
    """Return Unix seconds as Kubernetes writes a time, None for 0."""
    if not at:
        return None
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _age(since: float, now: float) -> float | None:
    return round(max(0.0, now - since), 3) if since else None
