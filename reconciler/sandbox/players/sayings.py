"""What games send: the requests of the three ways to report, as their clients make them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from reconciler.sandbox.players.natures import Lie, Nature, Voice
from reconciler.sandbox.requests import Json

HEALTH, COUNT = "/setsdgshealth", "/setactiveplayers"


@dataclass(frozen=True, slots=True)
class Where:
    """A room as it knows itself: the name of its workload, its namespace and its own name."""

    workload: str
    namespace: str
    room: str


@dataclass(frozen=True, slots=True)
class Saying:
    """One request of a room. `players` is what it says of them, None where it says nothing."""

    method: str
    path: str
    body: bytes
    players: int | None = None


def report(where: Where, nature: Nature, matches: int, players: int, now: float) -> Saying:
    """Say how many players are there, as this game does it."""
    told = _told(nature.lie, matches, players, now)
    match nature.voice:
        case Voice.MAESTRO | Voice.BOTH:
            status = "occupied" if told[1] else "ready"
            body: Json = {
                "status": status,
                "timestamp": int(now),
                "metadata": {"region": "sandbox"},
                "runningMatches": told[0],
            }
            path = f"/scheduler/{where.workload}/rooms/{where.room}/ping"
            return _saying("PUT", path, body, nature, players)
        case Voice.NATIVE:
            body = {
                "state": "occupied" if told[1] else "ready",
                "matches": told[0],
                "players": told[1],
            }
            path = f"/v1/rooms/{where.namespace}/{where.room}/report"
            return _saying("PUT", path, body, nature, players)
        case Voice.COLLECTIONS:
            return count(where, nature, matches, players, now)


def count(where: Where, nature: Nature, matches: int, players: int, now: float) -> Saying:
    """Say how many players are there as the collections' servers do."""
    told = _told(nature.lie, matches, players, now)
    body = {**_named(where), "playerCount": told[1]}
    return _saying("POST", COUNT, body, nature, players)


def healthy(where: Where) -> Saying:
    """Say that a server of the collections is up."""
    body = {**_named(where), "health": "Healthy"}
    return Saying("POST", HEALTH, json.dumps(body).encode())


def ends(where: Where, nature: Nature, now: float) -> Saying | None:
    """Say that a game ends; the collections have no word for it."""
    if nature.voice is Voice.COLLECTIONS:
        return None
    body: Json = {"status": "terminating", "timestamp": int(now)}
    path = f"/scheduler/{where.workload}/rooms/{where.room}/ping"
    if nature.voice is Voice.NATIVE:
        body, path = {"state": "terminating"}, f"/v1/rooms/{where.namespace}/{where.room}/report"
    return Saying("PUT", path, json.dumps(body).encode())


def _named(where: Where) -> Json:
    return {"serverName": where.room, "namespace": where.namespace}


def _told(lie: Lie, matches: int, players: int, now: float) -> tuple[float, float]:
    match lie:
        case Lie.NAN:
            return float("nan"), float("nan")
        case Lie.NEGATIVE:
            return -3, -3
        case Lie.HUGE:
            return 10**30, 10**30
        case Lie.EMPTY:
            return 0, 0
        case Lie.FLIPPING:
            full = int(now) % 2
            return full, full
        case _:
            return matches, players


def _saying(method: str, path: str, body: Json, nature: Nature, players: int) -> Saying:
    text = b'{"status": "rea' if nature.lie is Lie.GARBAGE else json.dumps(body).encode()
    return Saying(method, path, text, players if nature.honest else None)
