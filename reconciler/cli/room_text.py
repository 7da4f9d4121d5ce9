"""Rooms as people and programs read them."""

from collections.abc import Sequence
from typing import Any

from reconciler.cli.ages import age
from reconciler.cli.console import Console
from reconciler.cli.room_reading import SeenRoom
from reconciler.model.printable import escaped
from reconciler.model.rooms import Heard, RoomState, Why

HEADS = (
    "room", "state", "players", "matches", "node", "address", "ports", "revision", "age", "leaving",
)  # fmt: skip
WIDEST = {"state": max(map(len, RoomState)), "age": len("119 min")}
"""The most that is to be seen in a column in which rooms change."""
NONE = "-"
PORTS_SHOWN = 3
GONE = "gone"


class Table:
    """A table; one that `grows` keeps its columns when a later row says more than the first ones.

    Nobody can widen what is printed already.
    """

    def __init__(self, console: Console, *, grows: bool = False) -> None:
        self._console = console
        widest = WIDEST if grows else {}
        self._widths = [max(len(head), widest.get(head, 0)) for head in HEADS]

    def print(self, rooms: Sequence[SeenRoom], now: float) -> None:
        """Print the head and these rooms, or that there are none."""
        if not rooms:
            self._console.note("No rooms.")
        rows = [row_of(room, now) for room in rooms]
        for row in rows:
            self._widen(row)
        self._line([head.upper() for head in HEADS])
        for row in rows:
            self._line(row)

    def add(self, room: SeenRoom, now: float, *, gone: bool) -> None:
        """Print one more row."""
        row = row_of(room, now)
        if gone:
            row[1] = GONE
        self._widen(row)
        self._line(row)

    def _widen(self, row: Sequence[str]) -> None:
        self._widths = [
            max(width, len(cell)) for width, cell in zip(self._widths, row, strict=True)
        ]

    def _line(self, row: Sequence[str]) -> None:
        cells = (cell.ljust(width) for cell, width in zip(row, self._widths, strict=True))
        self._console.print("   ".join(cells).rstrip())


def row_of(room: SeenRoom, now: float) -> list[str]:
    """Return the cells of one room."""
    pod, heard = room.pod, room.heard
    cells = (
        room.name, room.judged.state,
        _players(heard), heard.matches if heard else NONE,
        pod.node or NONE, room.address or NONE, _ports(room), _revision(room),
        age(now - pod.created_at) if pod.created_at else NONE, _leaving(room, now),
    )  # fmt: skip
    return [escaped(str(cell)) for cell in cells]


def _players(heard: Heard | None) -> str:
    told = heard.told_players if heard else None
    return NONE if told is None else str(told)


def as_json(room: SeenRoom, now: float) -> dict[str, Any]:
    """Return one room as a JSON object: what `rooms --output json` promises."""
    pod, heard, key = room.pod, room.heard, room.key
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "uid": pod.uid,
        "workload": {"kind": key.kind, "namespace": key.namespace, "name": key.name},
        "state": room.judged.state.value,
        "reason": room.judged.reason,
        "protectedBecause": room.judged.protected or None,
        "mark": pod.mark.value or None,
        "players": heard.told_players if heard else None,
        "matches": heard.matches if heard else None,
        "reportAgeSeconds": round(max(0.0, now - heard.at)) if heard and room.told else None,
        "heardAgeSeconds": _heard_seconds(room, now),
        "node": pod.node or None,
        "address": room.address or None,
        "ports": [
            {
                "name": port.name,
                "port": port.port,
                "containerPort": port.container_port,
                "protocol": port.protocol,
            }
            for port in pod.host_ports
        ],
        "revision": pod.revision,
        "isWantedRevision": room.current,
        "ageSeconds": round(max(0.0, now - pod.created_at)) if pod.created_at else None,
        "restarts": pod.restarts,
        "leaving": _leaving_json(room),
    }


def _heard_seconds(room: SeenRoom, now: float) -> int | None:
    spoke_at = room.told.spoke_at if room.told else None
    return None if spoke_at is None else round(max(0.0, now - spoke_at))


def _leaving_json(room: SeenRoom) -> dict[str, Any] | None:
    if room.pod.leaving is Why.STAYS:
        return None
    return {"why": room.pod.leaving.value, "since": room.pod.leaving_since or None}


def _ports(room: SeenRoom) -> str:
    ports = [f"{port.port}/{port.protocol}" for port in room.pod.host_ports]
    rest = [f"+{len(ports) - PORTS_SHOWN}"] if len(ports) > PORTS_SHOWN else []
    return ",".join([*ports[:PORTS_SHOWN], *rest]) or NONE


def _revision(room: SeenRoom) -> str:
    return f"{room.pod.revision or NONE}{' (old)' if room.current is False else ''}"


def _leaving(room: SeenRoom, now: float) -> str:
    """Say why it leaves and since when; what is being deleted has left already."""
    pod = room.pod
    if pod.leaving is Why.STAYS or room.judged.state is RoomState.TERMINATING:
        return NONE
    since = f" {age(now - pod.leaving_since)}" if pod.leaving_since else ""
    return f"{pod.leaving.value}{since}"
