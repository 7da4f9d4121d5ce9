"""Raw JSON of list and watch to the slotted records of `model.live`, on arrival.

Strings that repeat are interned: that, and dropping what is not asked for, makes 25 KiB of dicts
a few hundred bytes.
"""

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from sys import intern

from reconciler.core.backoff import FIRST_DELAY_SECONDS
from reconciler.core.ordinals import number_of
from reconciler.model import labels
from reconciler.model.live import ENDED_PHASES, LiveNode, LiveObject, LivePod, Phase
from reconciler.model.refs import Json, ref_of
from reconciler.model.rooms import Mark, Why
from reconciler.service.pod_ends import end_of, game_ends_of
from reconciler.service.pod_games import Games, games_of
from reconciler.service.pod_ports import host_ports_of

LAST_MOMENT = 253_402_300_800.0
"""The year 10000 in Unix seconds: what says it is later cannot be written as a time."""


def pod_of(pod: Json) -> LivePod:
    """Return the record of a pod; a room of ours where the labels say so."""
    metadata, spec, status, marks, notes, conditions, games, starts, ended = _parts(pod)
    return LivePod(
        uid=metadata["uid"],
        namespace=intern(metadata.get("namespace", "")),
        name=metadata["name"],
        resource_version=metadata.get("resourceVersion", ""),
        phase=_PHASES.get(status.get("phase", ""), Phase.UNKNOWN),
        ready=_is_true(conditions.get("Ready")),
        terminating=bool(metadata.get("deletionTimestamp")),
        node=intern(spec.get("nodeName") or ""),
        host_ip=intern(status.get("hostIP") or ""),
        instance=intern(marks.get(labels.INSTANCE, "")),
        workload=intern(marks.get(labels.WORKLOAD, "")),
        ordinal=_ordinal_of(metadata, marks, notes),
        revision=intern(notes.get(labels.REVISION, "")),
        host_ports=host_ports_of(spec),
        created_at=unix_seconds(metadata.get("creationTimestamp")),
        waiting=_waiting(status),
        unschedulable=_unschedulable(conditions.get("PodScheduled")),
        stamps=labels.digest_of(metadata),
        lapsed=_is_lapsed(spec, status, conditions, games),
        played_since=_played_since(status, games),
        mark=_MARKS.get(marks.get(labels.STATE, ""), Mark.BUSY),
        odd_mark=_odd(marks.get(labels.STATE, ""), _MARKS),
        leaving=_WHYS.get(notes.get(labels.LEAVING, ""), Why.REQUEST),
        odd_leaving=_odd(notes.get(labels.LEAVING, ""), _WHYS),
        leaving_since=_number(notes.get(labels.LEAVING_SINCE)),
        was_heard=notes.get(labels.WAS_HEARD) == "true",
        guard=guard_of(notes),
        kept_report=notes.get(labels.REPORT, ""),
        running=bool(starts) or _is_untold(spec, status),
        started_at=max(starts, default=0.0),
        game_started_at=_game_started_at(status, games),
        ended=ended,
        game_ended_at=_game_ended_at(spec, status, games) if ended else 0.0,
        brief=bool(ended) and _is_brief(spec, status, games),
        runs=_runs(status, games),
        beside_since=min(_running(games.told_beside(status)), default=0.0),
        pod_ip=status.get("podIP") or "",
        host_network=bool(spec.get("hostNetwork")),
        address=intern(notes.get(labels.ADDRESS, "")),
        bare=not notes,
    )


def _parts(
    pod: Json,
) -> tuple[Json, Json, Json, Json, Json, Mapping[str, Json], Games, list[float], str]:
    """Return a pod's metadata, spec, status, labels and annotations, empty where it has none.

    With them come its conditions by type, which of its containers are the game, when those that
    run started, and why it ended.
    """
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    marks, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    conditions, games = _conditions(status), games_of(spec)
    starts, ended = _starts(status, games), _end(spec, status, conditions, games)
    return metadata, spec, status, marks, notes, conditions, games, starts, ended


def _ordinal_of(metadata: Json, marks: Json, notes: Json) -> int:
    workload, given = marks.get(labels.WORKLOAD, ""), notes.get(labels.ORDINAL, "")
    return number_of(metadata["name"], workload, given)


def _odd(text: str, ours: Container[str]) -> str:
    """Return a text that is none of ours, "" for one that is."""
    return "" if text in ours else text


def node_of(node: Json) -> LiveNode:
    """Return the record of a node."""
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    conditions = _conditions(status)
    return LiveNode(
        name=intern(metadata["name"]),
        ready=_is_true(conditions.get("Ready")),
        unschedulable=bool(spec.get("unschedulable")),
        labels=tuple(sorted((metadata.get("labels") or {}).items())),
        taints=tuple(
            (each["key"], each.get("value", ""), each["effect"])
            for each in spec.get("taints") or ()
        ),
        addresses=tuple((each["type"], each["address"]) for each in status.get("addresses") or ()),
    )


def object_of(obj: Json) -> LiveObject:
    """Return the record of an object that is no room, with its body but for what others keep.

    Of a namespace that is being deleted its status is kept, which says what it waits for.
    """
    metadata = obj["metadata"]
    marks = metadata.get("labels") or {}
    ends = obj.get("kind") == "Namespace" and "deletionTimestamp" in metadata
    body = {name: value for name, value in obj.items() if name != "status" or ends}
    body["metadata"] = {name: each for name, each in metadata.items() if name != "managedFields"}
    return LiveObject(
        ref=ref_of(obj),
        uid=metadata["uid"],
        resource_version=metadata.get("resourceVersion", ""),
        instance=marks.get(labels.INSTANCE, ""),
        workload=marks.get(labels.WORKLOAD, ""),
        body=body,
        terminating=bool(metadata.get("deletionTimestamp")),
    )


@lru_cache(maxsize=16)
def _guard(evict: str, disrupt: str) -> tuple[str, str]:
    return evict, disrupt


def guard_of(annotations: Json) -> tuple[str, str]:
    """Return the two disruption annotations as they stand, "" where one does not."""
    evict = annotations.get(labels.SAFE_TO_EVICT, "")
    return _guard(evict, annotations.get(labels.DO_NOT_DISRUPT, ""))


def _conditions(status: Json) -> dict[str, Json]:
    return {each["type"]: each for each in status.get("conditions") or ()}


def _is_true(condition: Json | None) -> bool:
    return condition is not None and condition.get("status") == "True"


def _unschedulable(condition: Json | None) -> str:
    if condition is None or condition.get("status") != "False":
        return ""
    return intern(condition.get("message") or condition.get("reason") or "not scheduled")


def _waiting(status: Json) -> str:
    for group in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(group) or ():
            reason = ((container.get("state") or {}).get("waiting") or {}).get("reason")
            if reason:
                return intern(reason)
    return ""


def _is_lapsed(spec: Json, status: Json, conditions: Mapping[str, Json], games: Games) -> bool:
    """Whether a pod was ready, is not, and its game runs on, perhaps full of players.

    A pod that never was ready has been so since before its first container started; one whose
    game ended has none that runs, or none that started before it lapsed. Of a silent node it is
    the control plane that says so, by another clock, and only of the pod: its containers stay
    ready.
    """
    ready = conditions.get("Ready")
    if ready is None or ready.get("status") != "False":
        return False
    started = _played_since(status, games)
    if _is_true(conditions.get("ContainersReady")) and not spec.get("readinessGates"):
        return started > 0
    return unix_seconds(ready.get("lastTransitionTime")) > started > 0


def _played_since(status: Json, games: Games) -> float:
    """Return when the first container started that players may be in, 0 where none runs.

    A sidecar that ends beside one makes the pod unready, and sends nobody home. Where no port
    tells, each may be the game: one that runs keeps the room.
    """
    public = games.public
    told = games.told(status)
    return min(
        _running([one for one in told if not public or one.get("name") in public]), default=0.0
    )


def _game_started_at(status: Json, games: Games) -> float:
    """Return when the first container of the game started, 0 where none of it runs."""
    return min(_running(games.told_of_game(status)), default=0.0)


def _end(spec: Json, status: Json, conditions: Mapping[str, Json], games: Games) -> str:
    """Return why a pod ended, or its game did, "" where neither has."""
    return end_of(spec, status, conditions.get("DisruptionTarget"), games)


def _game_ended_at(spec: Json, status: Json, games: Games) -> float:
    """Return when the last container of a game ended that ended for good, 0 where it did not."""
    ends = game_ends_of(spec, status, games)
    return max((unix_seconds(end.get("finishedAt")) for end in ends), default=0.0)


def _is_brief(spec: Json, status: Json, games: Games) -> bool:
    """Whether a game is over, and its last run was no match, by its kubelet's own two times."""
    if status.get("phase") in ENDED_PHASES:
        told = games.told_of_game(status)
        ends = [(one.get("state") or {}).get("terminated") or {} for one in told]
    else:
        ends = game_ends_of(spec, status, games)
    began = [unix_seconds(end.get("startedAt")) for end in ends]
    over = [unix_seconds(end.get("finishedAt")) for end in ends]
    if not ends or not all(began) or not all(over):
        return False  # nobody tells
    # Less than nothing: a clock that was set back meanwhile, which tells nothing of it.
    return 0 <= max(over) - min(began) < FIRST_DELAY_SECONDS


def _starts(status: Json, games: Games) -> list[float]:
    """Return when each running container started (Unix seconds)."""
    if status.get("phase") in ENDED_PHASES:
        return []  # whatever an old kubelet left there: no container runs any more
    return _running(games.told(status))


def _running(told: Sequence[Json]) -> list[float]:
    running = ((one.get("state") or {}).get("running") for one in told)
    return [unix_seconds(each.get("startedAt")) for each in running if each is not None]


def _is_untold(spec: Json, status: Json) -> bool:
    """Whether a pod is past its start, and nobody tells of its containers: they may run."""
    begun = status.get("phase") not in (*ENDED_PHASES, Phase.PENDING)
    return begun and bool(spec.get("nodeName")) and not status.get("containerStatuses")


def _runs(status: Json, games: Games) -> tuple[int, ...]:
    """Return how often each container of the game was restarted; () where none was."""
    runs = tuple(one.get("restartCount", 0) for one in games.told_of_game(status))
    return runs if any(runs) else ()


def _number(text: str | None) -> float:
    try:
        number = float(text or 0.0)
    except ValueError:
        return 0.0
    return number if 0.0 <= number < LAST_MOMENT else 0.0


def unix_seconds(text: str | None) -> float:
    """Read a time of Kubernetes, 0 where there is none."""
    return datetime.fromisoformat(text).timestamp() if text else 0.0


_PHASES = {phase.value: phase for phase in Phase}
_MARKS = {mark.value: mark for mark in Mark}
"""A label that is none of ours was written by somebody else: it protects until we know more."""
_WHYS = {why.value: why for why in Why}
