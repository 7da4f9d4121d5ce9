"""State flips of rooms on the real API server, beside a client that only patches.

A flip is one JSON patch of a pod. The raw client sends what `gamekeeper run` sends, to the same
pods, while nothing else runs. Ours are asked for by pings: who says it is busy is answered when
the patch stands; who says it is empty is written 5 s later.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from benchmarks import stage
from benchmarks.fleet import Fleet
from benchmarks.raw import IN_FLIGHT, Sent, send_all
from benchmarks.results import Figure, Section, at_least, median_and_all
from benchmarks.rooms_voices import SAYS_BUSY, SAYS_READY, Voice, say_all
from reconciler.core.room_patch import operations
from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark, Why
from reconciler.service.live_records import pod_of

ROUNDS = 5
FLIPS = 900
"""A crowd that comes in at once; below `--burst`, whose bucket fills between the rounds."""
CONNECTIONS = 64
RAW_SHARE_LEAST = 0.7
LONGEST_SECONDS = 60.0
BUCKET_SECONDS = 2.0
_GUARDS = {Mark.BUSY: ("false", "true"), Mark.IDLE: ("true", "false")}


def measure(fleet: Fleet) -> Section:
    """Measure raw patches and ours in turns."""
    shares = len(fleet.voices) // FLIPS
    rooms = fleet.voices[::shares][:FLIPS]
    found: dict[str, list[float]] = {"raw": [], "busy": [], "idle": []}
    for _ in range(ROUNDS):
        found["raw"].append(statistics.mean(_raw(fleet, rooms)))
        with fleet.running(POLL_SECONDS="3600", RESYNC_SECONDS="3600"):
            # As in any fleet that runs: everybody was heard, and its token is known.
            say_all(fleet.rooms_address, fleet.voices, SAYS_READY, CONNECTIONS)
            for what, says in (("busy", SAYS_BUSY), ("idle", SAYS_READY)):
                log = stage.AuditLog(fleet.cluster)
                say_all(fleet.rooms_address, rooms, says, CONNECTIONS)
                found[what].append(_rate(log))
                time.sleep(BUCKET_SECONDS)
    return _section(found)


def _section(found: dict[str, list[float]]) -> Section:
    figures = [
        Figure("rooms turn busy, each answered when it stands", _all(found["busy"])),
        Figure("rooms turn idle", _all(found["idle"])),
        Figure(f"raw client, {IN_FLIGHT} in flight", _all(found["raw"])),
    ]
    for what in ("busy", "idle"):
        shares = [ours / raw for ours, raw in zip(found[what], found["raw"], strict=True)]
        share = statistics.median(shares)
        figures.append(
            at_least(f"{what} beside the raw client", share, RAW_SHARE_LEAST, "times"),
        )
    notes = [
        f"{FLIPS} rooms of all workloads at once, by the API server's audit log: from the first"
        " PATCH received to the last answered. Pings come on"
        f" {CONNECTIONS} connections, each the next when it is answered.",
        "`run` also hears, plans and follows the cluster meanwhile, and the pings are sent from"
        " the same two CPUs; the raw client has the API server to itself. In turns; each share is"
        " of one turn.",
    ]
    return Section("room-flips", "state flips of rooms", figures, notes)


def _all(rates: Sequence[float]) -> str:
    return median_and_all(rates, "flips/s", 0)


def _raw(fleet: Fleet, rooms: Sequence[Voice]) -> list[float]:
    """Turn the rooms busy and idle again with a client that only sends."""
    pods = _pods(fleet, rooms)
    rates = []
    for mark in (Mark.BUSY, Mark.IDLE):
        log = stage.AuditLog(fleet.cluster)
        send_all(fleet.cluster, [_patch(pod, mark) for pod in pods])
        rates.append(_rate(log))
        pods = [replace(pod, mark=mark, guard=_GUARDS[mark]) for pod in pods]
    return rates


def _pods(fleet: Fleet, rooms: Sequence[Voice]) -> list[LivePod]:
    wanted = {voice.uid for voice in rooms}
    items: list[Json] = fleet.cluster.api.demand("GET", "/api/v1/pods")["items"]
    return [pod_of(item) for item in items if item["metadata"]["uid"] in wanted]


def _patch(pod: LivePod, mark: Mark) -> Sent:
    body = operations(pod, mark, Why.STAYS, 0.0, _GUARDS[mark])
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
    return Sent("PATCH", path, body, "application/json-patch+json")


def _rate(log: stage.AuditLog) -> float:
    """Wait until the patches are written down, and return how many were answered a second."""
    found: list[stage.Request] = []

    def are_there() -> bool:
        found.extend(each for each in log.more() if is_flip(each))
        return len(found) >= FLIPS

    stage.until(are_there, f"{FLIPS} flips", LONGEST_SECONDS)
    return len(found) / (max(e.answered for e in found) - min(e.received for e in found))


def is_flip(request: stage.Request) -> bool:
    """Whether a request wrote a room's state."""
    return (request.verb, request.resource, request.code) == ("patch", "pods", 200)
