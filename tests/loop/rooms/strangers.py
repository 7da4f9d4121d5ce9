"""Somebody else who changes what is ours: objects beside rooms, and the rooms' own metadata.

What is a stranger's stays; what is ours is made again and set back, which `unhealed` looks for.
"""

import asyncio
import json
import random
from collections.abc import Callable, Iterable, Iterator

from reconciler.model import labels
from reconciler.model.refs import Json
from reconciler.sandbox.kinds import BUDGET, NAMESPACE, POD, SERVICE_ACCOUNT, Kind
from reconciler.sandbox.requests import Request, Response
from reconciler.sandbox.store import Stored
from tests.loop.rooms.wild import WildHouse
from tests.loop.rooms.wishes import Piece

THEIRS = "example.com/team"
STRANGER = "a-stranger"
MANY = 97
"""What a stranger sets a budget to: more than there are."""
LEVEL = "pod-security.kubernetes.io/enforce"
_KEPT = (labels.SAFE_TO_EVICT, labels.DO_NOT_DISRUPT)
_PATHS = {
    BUDGET: "/apis/policy/v1/namespaces/{0}/poddisruptionbudgets/{1}",
    SERVICE_ACCOUNT: "/api/v1/namespaces/{0}/serviceaccounts/{1}",
    POD: "/api/v1/namespaces/{0}/pods/{1}",
    NAMESPACE: "/api/v1/namespaces/{1}",
}

Deed = Callable[[WildHouse, random.Random], bool]
"""Does something where there is anything to do it to; whether it did."""


async def meddle(there: WildHouse, chance: random.Random) -> None:
    """Let a stranger do some things, one after another."""
    for what in chance.sample(list(DEEDS), 6):
        if DEEDS[what](there, chance):
            there.weather.met[f"a stranger: {what}"] += 1
            there.changed()
        await asyncio.sleep(chance.uniform(0.1, 8.0))


def unhealed(there: WildHouse, pieces: Iterable[Piece]) -> list[str]:
    """Return what these workloads have that is gone, or does not say what we say."""
    return [f"{piece.name}: {what}" for piece in pieces for what in _not_ours(there, piece)]


def _not_ours(there: WildHouse, piece: Piece) -> Iterator[str]:
    shelves = there.world.sandbox.world.store.shelves
    beside = ((BUDGET, piece.name), (SERVICE_ACCOUNT, piece.name), (NAMESPACE, piece.place))
    found = []
    for kind, name in beside:
        key = name if kind is NAMESPACE else f"{piece.place}/{name}"
        stored = shelves[kind].objects.get(key)
        if stored is None:
            yield f"no {kind.kind}"
            return
        found.append(stored.decode(kind))
    budget, account, space = found
    pods = [
        pod.decode(POD)
        for pod in _known(there, POD)
        if pod.namespace == piece.place and pod.labels.get(labels.WORKLOAD) == piece.name
    ]
    for each in (*found, *pods):
        if _labels(each).get(labels.MANAGED_BY, STRANGER) == STRANGER:
            yield f"{each['metadata']['name']} is marked a stranger's: {_labels(each)}"
    if not _keeps(budget):
        yield f"the budget says {budget['spec']}"
    if account.get("automountServiceAccountToken") is not False:
        yield "the account hands its token out"
    if _labels(space).get(LEVEL) != "privileged":
        yield f"the namespace says {_labels(space)}"
    for pod in pods:
        if not all(_notes(pod).get(key) in ("true", "false") for key in _KEPT):
            yield f"{pod['metadata']['name']} does not say whether it may be evicted"


def _keeps(budget: Json) -> bool:
    """Whether a budget has our number; of one that counts rooms it may be 0."""
    number = budget["spec"].get("minAvailable")
    return number != MANY and (number != 0 or "matchExpressions" not in budget["spec"]["selector"])


def _labels(item: Json) -> dict[str, str]:
    return item["metadata"].get("labels") or {}


def _notes(item: Json) -> dict[str, str]:
    return item["metadata"].get("annotations") or {}


def _deleted(kind: Kind) -> Deed:
    def deed(there: WildHouse, chance: random.Random) -> bool:
        one = _one(there, kind, chance)
        return one is not None and _sent(there, "DELETE", kind, one, {})

    return deed


def _changed(kind: Kind, *bodies: Json) -> Deed:
    """Merge one of some bodies into an object."""

    def deed(there: WildHouse, chance: random.Random) -> bool:
        one, body = _one(there, kind, chance), chance.choice(bodies)
        return one is not None and _sent(there, "PATCH", kind, one, body)

    return deed


def _metadata(**fields: Json) -> Json:
    return {"metadata": fields}


_THEIRS = (
    _metadata(labels={THEIRS: "net"}),
    _metadata(annotations={THEIRS: "net"}),
    _metadata(labels={THEIRS: None}, annotations={THEIRS: None}),
)
_OURS = (
    _metadata(labels={labels.MANAGED_BY: None}),
    _metadata(labels={labels.MANAGED_BY: STRANGER}),
)
DEEDS: dict[str, Deed] = {
    "a budget is deleted": _deleted(BUDGET),
    "a budget says otherwise": _changed(
        BUDGET, {"spec": {"minAvailable": 0}}, {"spec": {"minAvailable": MANY}}, *_OURS
    ),
    "an account is deleted": _deleted(SERVICE_ACCOUNT),
    "an account says otherwise": _changed(
        SERVICE_ACCOUNT, {"automountServiceAccountToken": True}, *_OURS
    ),
    "a namespace is marked": _changed(NAMESPACE, *_THEIRS),
    "marks of ours are off a namespace": _changed(
        NAMESPACE, *_OURS, _metadata(labels={LEVEL: "baseline"}), _metadata(labels={LEVEL: None})
    ),
    "a room is marked": _changed(POD, *_THEIRS),
    "marks of ours are off a room": _changed(
        POD,
        *_OURS,
        *(_metadata(annotations={key: None}) for key in _KEPT),
        *(_metadata(annotations={key: STRANGER}) for key in _KEPT),
    ),
}
"""By which workload a room is known, and its state, is no label that may go: who takes that off has
taken the room from us (docs/operations.md), or said that nobody plays there."""


def _one(there: WildHouse, kind: Kind, chance: random.Random) -> Stored | None:
    """Return an object of ours, None where there is none."""
    found = sorted(_known(there, kind), key=lambda each: each.key)
    return chance.choice(found) if found else None


def _known(there: WildHouse, kind: Kind) -> Iterator[Stored]:
    """Every object of ours of a kind, in the namespaces of rooms."""
    places = there.places
    for stored in list(there.world.sandbox.world.store.shelves[kind].objects.values()):
        place = stored.name if kind is NAMESPACE else stored.namespace
        if place in places and labels.INSTANCE in stored.labels:
            yield stored


def _sent(there: WildHouse, method: str, kind: Kind, one: Stored, body: Json) -> bool:
    """Change an object or delete it, as somebody else; whether that was taken."""
    headers = {"content-type": "application/merge-patch+json"}
    content = json.dumps(body).encode() if body else b""
    path = _PATHS[kind].format(one.namespace, one.name)
    request = Request.of(method, path, content, headers)
    answer = there.world.sandbox.handle(request, there.world.time.at)
    assert isinstance(answer, Response)
    if kind is BUDGET and answer.status < 300:
        changed = json.loads(answer.body).get("metadata", {}) if body else {}
        there.unguarded[one.key] = changed.get("generation", 0)
    return answer.status < 300
