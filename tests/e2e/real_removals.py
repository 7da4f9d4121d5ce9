"""Who was removed, as the API server wrote it down, and whether somebody played there."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_voices import Span

CREATED = 201


class Speaker(Protocol):
    """Whoever said when matches ran."""

    spans: list[Span]


@dataclass(frozen=True)
class Removal:
    """The request that removed a room first. `received` and `answered` are Unix seconds."""

    room: str
    evicted: bool
    user: str
    received: float
    answered: float


def removals(cluster: ControlPlane, namespace: str) -> dict[str, Removal]:
    """Return the first removal of each room of a namespace, by namespace/name."""
    found: dict[str, Removal] = {}
    for event in cluster.audited(f'"namespace":"{namespace}"', '"resource":"pods"'):
        removal = _removal(event)
        if removal is None:
            continue
        earlier = found.get(removal.room)
        if earlier is None or removal.received < earlier.received:
            found[removal.room] = removal
    return found


def _removal(event: Json) -> Removal | None:
    ref, verb = event["objectRef"], event["verb"]
    evicted = verb == "create" and ref.get("subresource") == "eviction"
    deleted = verb == "delete" and not ref.get("subresource")
    if not (evicted or deleted) or event.get("responseStatus", {}).get("code", 500) >= 300:
        return None
    return Removal(
        f"{ref['namespace']}/{ref['name']}",
        evicted,
        event["user"]["username"],
        _seconds(event["requestReceivedTimestamp"]),
        _seconds(event["stageTimestamp"]),
    )


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def made_twice(cluster: ControlPlane, namespace: str) -> list[str]:
    """Return the names of rooms of a namespace that were made more than once, ever."""
    made: Counter[str] = Counter()
    for event in cluster.audited(f'"namespace":"{namespace}"', '"verb":"create"'):
        ref = event["objectRef"]
        is_room = ref["resource"] == "pods" and not ref.get("subresource")
        if is_room and event.get("responseStatus", {}).get("code") == CREATED:
            made[ref["name"]] += 1
    assert made, f"the audit log tells of no room of {namespace}"
    return [name for name, times in made.items() if times > 1]


def thrown_out(found: Mapping[str, Removal], voices: Mapping[str, Speaker]) -> list[str]:
    """Return the rooms that were removed by a request that came after the 200 of their match."""
    return [
        f"{name}: {'evicted' if removal.evicted else 'deleted'} by {removal.user}"
        for name, removal in found.items()
        if name in voices and any(span.holds(removal.received) for span in voices[name].spans)
    ]


def namespace_removed(cluster: ControlPlane, namespace: str) -> float:
    """Return when a namespace was first asked to be removed. Raises StopIteration if never."""
    return next(
        _seconds(event["requestReceivedTimestamp"])
        for event in cluster.audited(f'"name":"{namespace}"', '"verb":"delete"')
        if event["objectRef"]["resource"] == "namespaces"
    )


def writes(cluster: ControlPlane, namespace: str, token_id: str, since: float) -> list[str]:
    """Return what the bearer of a token wrote in a namespace after `since` (Unix seconds)."""
    found = []
    for event in cluster.audited(f'"namespace":"{namespace}"', f"JTI={token_id}"):
        wrote = event["verb"] not in ("get", "list", "watch")
        if wrote and _seconds(event["requestReceivedTimestamp"]) > since:
            found.append(f"{event['verb']} {event['requestURI']}")
    return found


def forbidden(cluster: ControlPlane, account: str) -> list[str]:
    """Return what a service account was not allowed."""
    return [
        f"{event['verb']} {event['requestURI']}"
        for event in cluster.audit(account)
        if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
    ]
