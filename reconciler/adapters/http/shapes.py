"""The schemas of the OpenAPI document: what is sent and what is answered (JSON Schema 2020-12)."""

from reconciler.core.hearing import MOST_PLAYERS
from reconciler.core.rollup import FleetHealth
from reconciler.model.live import Phase
from reconciler.model.refs import Json
from reconciler.model.rooms import GameState, Health, Mark, RoomState, Said, Why

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer", "minimum": 0}
_COUNT: Json = {"type": "integer", "minimum": 0, "maximum": MOST_PLAYERS}
_BOOL: Json = {"type": "boolean"}
_TIME: Json = {"type": ["string", "null"], "format": "date-time"}
_AGE: Json = {"type": ["number", "null"], "minimum": 0, "description": "seconds"}
_METADATA: Json = {"type": "object", "description": "values that are no text come as JSON"}
_NUMBER_OR_TEXT: Json = {"type": ["integer", "string", "null"]}


def _closed(required: Json, **optional: Json) -> Json:
    """Return an object of exactly these properties."""
    return {
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


def _open(required: Json, **optional: Json) -> Json:
    """Return an object that may hold what is not looked at."""
    return {"type": "object", "properties": required | optional, "required": list(required)}


def _values(
    kind: type[Said | Mark | Why | Health | GameState | RoomState | Phase | FleetHealth],
) -> Json:
    return {"enum": [value.value for value in kind]}


def _or_null(schema: Json) -> Json:
    return {"enum": [*schema["enum"], None]}


def _listed(name: str) -> Json:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


_SERVER: Json = {"serverName": _TEXT, "namespace": _TEXT}
_PORT: Json = {"name": _TEXT, "protocol": _TEXT, "port": _WHOLE}
_NEVER_TOLD = (
    "null where nobody told, and instead of 0 beside a match or `occupied`: "
    "Maestro's pings know no players"
)

ROOM: Json = {
    "namespace": _TEXT,
    "name": _TEXT,
    "uid": _TEXT,
    "workload": _TEXT | {"description": "kind/namespace/name"},
    "state": _values(RoomState),
    "reason": _TEXT,
    "protected": _TEXT | {"description": "why it may not be removed; empty when it may"},
    "available": _BOOL | {"description": "whether a matchmaker may send players to it"},
    "mark": _values(Mark) | {"description": "the state that stands on its pod"},
    "leaving": _values(Why) | {"description": "why it is to leave; empty when it stays"},
    "leavingSince": _TIME,
    "removal": {
        "anyOf": [_closed({"may": _BOOL, "reason": _TEXT}), {"type": "null"}],
        "description": "of a room that is to leave: whether it may be deleted now, and by which "
        "rule; null where it stays",
    },
    "revision": _TEXT,
    "node": _TEXT,
    "hostIP": _TEXT | {"description": "address of its node inside; empty while it has none"},
    "podIP": _TEXT | {"description": "address of its pod; empty while it has none"},
    "address": _TEXT | {"description": "public address, empty while it has no node"},
    "ports": {"type": "array", "items": _closed({**_PORT, "containerPort": _WHOLE})},
    "phase": _values(Phase),
    "ready": _BOOL,
    "matches": _COUNT,
    "matchesMax": _COUNT,
    "players": {"type": ["integer", "null"], "minimum": 0, "description": _NEVER_TOLD},
    "health": _or_null(_values(Health)),
    "gameState": _or_null(_values(GameState)),
    "createdAt": _TIME,
    "ageSeconds": _AGE,
    "reportAgeSeconds": _AGE | {"description": "since the last report that changed something"},
    "heardAgeSeconds": _AGE
    | {"description": "since it spoke last, whatever it said; null where it has not, to us"},
    "overdue": _BOOL | {"description": "not heard for longer than it ever paused: not available"},
    "silent": _BOOL,
}

SCHEMAS: Json = {
    "Any": {"type": "object"},
    "Ping": _open(
        {"status": _values(Said)},
        runningMatches=_NUMBER_OR_TEXT,
        timestamp=_NUMBER_OR_TEXT,
        metadata=_METADATA,
    ),
    "MaestroEvent": _open({}, event=_TEXT, timestamp=_NUMBER_OR_TEXT, metadata=_METADATA),
    "PlayerEvent": _open(
        {"event": {"enum": ["playerJoin", "playerLeft"]}},
        timestamp=_NUMBER_OR_TEXT,
        metadata=_METADATA,
    ),
    "Success": _closed({"success": _BOOL}),
    "Passed": _closed({"success": _BOOL, "message": _TEXT}),
    "Address": _closed(
        {
            "host": _TEXT,
            "ports": {"type": "array", "items": _closed(_PORT)},
            "ipv6Label": _TEXT,
        }
    ),
    "ServerPlayers": _open({**_SERVER, "playerCount": _WHOLE}),
    "ServerState": _open({**_SERVER, "state": _values(GameState)}),
    "ServerHealth": _open({**_SERVER, "health": _values(Health)}),
    "ServerMarked": _open(
        {**_SERVER, "markedForDeletion": {"enum": [True, False, "true", "false"]}}
    ),
    "Collection": _open(
        {"metadata": _open({"name": _TEXT}), "spec": _open({"replicas": _WHOLE, "template": {}})}
    ),
    "Server": _open(
        {
            "kind": {"const": "DedicatedGameServer"},
            "apiVersion": {"const": "azuregaming.com/v1alpha1"},
            "metadata": _open({"name": _TEXT, "namespace": _TEXT, "uid": _TEXT}),
            "spec": {"type": "object"},
            "status": _closed(
                {
                    "podPhase": _values(Phase),
                    "health": _values(Health),
                    "dgsState": _values(GameState),
                    "markedForDeletion": _BOOL,
                    "publicIP": _TEXT,
                    "nodeName": _TEXT,
                    "activePlayers": _COUNT,
                }
            ),
        }
    ),
    "Servers": _listed("Server"),
    "Room": _closed(ROOM),
    "Rooms": _closed({"rooms": _listed("Room")}),
    "Report": _closed({}, state=_values(Said), matches=_COUNT, players=_COUNT),
    "RoomEvent": _closed(
        {"name": _TEXT | {"minLength": 1}}, kind={"enum": ["room", "player"]}, metadata=_METADATA
    ),
    "Standing": _closed(
        {
            "name": _TEXT,
            "state": _values(RoomState),
            "leave": _BOOL | {"description": "whether to end when it is empty"},
            "leaving": _values(Why),
        }
    ),
    "Workloads": _closed({"workloads": _listed("WorkloadCounts")}),
    "WorkloadCounts": _closed(
        {
            "workload": _TEXT,
            "rooms": _WHOLE,
            "available": _WHOLE,
            "players": {
                "type": ["integer", "null"],
                "description": "the sum of what rooms told; null instead of 0 "
                "where somebody plays, and where no room that was heard told",
            },
            "matches": _WHOLE,
            "states": {"type": "object", "additionalProperties": _WHOLE},
            "healthy": _WHOLE | {"description": "rooms that are healthy and run"},
            "health": _values(FleetHealth) | {"description": "of the first that is not healthy"},
            "pods": _values(Phase) | {"description": "phase of the first that does not run"},
        }
    ),
    "Error": _closed({"status": _WHOLE, "error": _TEXT, "fix": _TEXT}),
    "MaestroError": _closed({"success": {"const": False}, "message": _TEXT}),
}
