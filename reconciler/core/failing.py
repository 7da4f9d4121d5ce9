"""Rooms that fail: how many a window allows, and which of them are acted upon (spec `failure`).

The rule of the Azure collections with a rate in the place of a count for ever: up to
`maxFailures` within the window are replaced, those beyond stay as they are until the window has
passed or a commit changes the spec. What was counted stands in the state record before anything
is done about it, so that a restart forgets nothing.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reconciler.core.rooms import Sorted, has_exited, is_told_to_leave
from reconciler.model.live import LivePod, Phase
from reconciler.model.records import Failure
from reconciler.model.rooms import BUSY_MARKS, Heard, Judged, Mark, RoomState, Said
from reconciler.model.specs import FailurePolicy

NOT_ITS_FAULT = frozenset(
    {
        "Evicted",
        "NodeLost",
        "NodeShutdown",
        "NodeAffinity",
        "Preempting",
        "Shutdown",
        "Terminated",
        "UnexpectedAdmissionError",
        "NodePorts",
        "TopologyAffinityError",
        "DisruptionTarget",
        "PreemptionByScheduler",
        "DeletionByTaintManager",
        "EvictionByEvictionAPI",
        "DeletionByPodGC",
        "TerminationByKubelet",
    }
)
"""Reasons of a failed pod that are the cluster's: replaced at once, counted against nobody."""
_SO_BEGINS = ("OutOf", "ContainerStatusUnknown")
"""So begins the reason of a kubelet that lacks something a pod asks for: cpu, pods, a device; or
that lost sight of a container, as when its machine went down, and tells an exit code all the same.
"""


@dataclass(frozen=True, slots=True)
class Failing:
    """`act` are failed rooms to be replaced, `stuck` those beyond the limit, which stay.

    Those that were told to leave before, and hang, `leave` as they were told: they are no part of
    what is wanted, so no limit counts them and no place is kept for them. So do those beyond the
    limit that crashed on their way, with players in them. `log` is what the record must hold first,
    None where it does. `again_in_seconds` is when a place in the window is free again, None where
    nobody waits for one, or where there is none: a limit of 0 lets no failed room be replaced.
    """

    act: tuple[LivePod, ...]
    stuck: tuple[LivePod, ...] = ()
    leave: tuple[LivePod, ...] = ()
    log: tuple[Failure, ...] | None = None
    again_in_seconds: float | None = None


def is_failure(pod: LivePod, judged: Judged) -> bool:
    """Whether a room that is over or broken is so by its own fault."""
    if judged.state is not RoomState.ERROR or pod.phase is Phase.SUCCEEDED:
        return False
    return pod.ended not in NOT_ITS_FAULT and not pod.ended.startswith(_SO_BEGINS)


def is_false_start(pod: LivePod, judged: Judged, heard: Heard | None) -> bool:
    """Whether a room ended well as soon as it had begun, unasked, and nobody played there.

    That is no failure, and no limit counts it. Yet made anew at once it would end again at once,
    for ever: its revision backs off, as no revision does whose rooms end with their match. How long
    its last run took does not tell that of a room whose container had begun anew before.
    """
    over = pod.brief and not pod.restarts and judged.state is RoomState.TERMINATED
    played_in = pod.mark in BUSY_MARKS or (heard is not None and heard.busy)
    return over and not is_told_to_leave(pod) and not played_in


def tells_its_end_alone(pod: LivePod, heard: Heard | None) -> bool:
    """Whether all that a room that runs ever told is that it is over, unasked.

    That is a false start too, which no kubelet tells of: it is known by its mark, for a room that
    began, whoever heard it then, has one; or is yet to have it, where the cluster took no write.
    """
    ends = heard is not None and heard.said is Said.TERMINATED and not heard.begun
    return ends and pod.mark is Mark.NONE and not is_told_to_leave(pod)


def decide(
    failed: Iterable[tuple[LivePod, Judged]],
    known: Sequence[Failure],
    policy: FailurePolicy,
    spec_json: str,
    now: float,
) -> Failing:
    """Return what to do about the failed rooms; `known` is the record's log, `now` Unix seconds."""
    rooms, leave = _apart(failed)
    if policy.max_failures is None:
        acts = tuple(pod for pod, _ in rooms)
        return Failing(acts, leave=tuple(leave), log=() if known else None)
    spec = mark_of(spec_json)
    # A time that lies ahead comes from a clock that was set back since: it counts as now.
    log = [item for item in known if item.spec == spec and now - item.at <= policy.window_seconds]
    counted = {item.uid for item in log}
    act, stuck = [], []
    for pod, judged in rooms:
        if not is_failure(pod, judged) or pod.uid in counted:
            act.append(pod)
        elif len(log) < policy.max_failures:
            log.append(Failure(now, pod.uid, spec))
            act.append(pod)
        elif is_told_to_leave(pod):
            leave.append(pod)
        else:
            stuck.append(pod)
    free_in = min((item.at for item in log), default=now) + policy.window_seconds - now
    return Failing(
        tuple(act),
        tuple(stuck),
        tuple(leave),
        tuple(log) if tuple(log) != tuple(known) else None,
        max(0.0, free_in) if stuck and policy.max_failures else None,
    )


def _apart(
    failed: Iterable[tuple[LivePod, Judged]],
) -> tuple[list[tuple[LivePod, Judged]], list[LivePod]]:
    """Return those that may be counted, and those that hang on their way out, in order.

    A game that crashes with players in it has failed though it was to leave.
    """
    rooms: list[tuple[LivePod, Judged]] = []
    leave: list[LivePod] = []
    for pod, judged in sorted(failed, key=lambda item: item[0].ordinal):
        if is_told_to_leave(pod) and not has_exited(pod):
            leave.append(pod)
        else:
            rooms.append((pod, judged))
    return rooms, leave


@lru_cache(maxsize=1024)
def mark_of(spec_json: str) -> str:
    """Return the digest of a spec; a count that a policy commits mends no room."""
    spec = json.loads(spec_json)
    if (spec.get("spec") or {}).get("autoscaling"):
        spec["spec"].pop("replicas", None)
        spec_json = json.dumps(spec, sort_keys=True)
    return hashlib.sha256(spec_json.encode()).hexdigest()[:12]


def of_rooms(there: Sorted, known: Sequence[Failure], now: float) -> Failing:
    """Return what to do about the failed rooms of a workload."""
    failed = ((pod, there.of(pod)) for pod in there.failed)
    return decide(failed, known, there.workload.failure, there.workload.spec_json, now)
