"""Rooms that report, as plans of who leaves are tested with them, and what such a plan says."""

from collections.abc import Mapping
from typing import Any

from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.live import LivePod, Seen
from reconciler.model.plans import Plan
from reconciler.model.rooms import Ears, Heard, Mark, Said, Why
from reconciler.model.shares import Share
from reconciler.model.specs import (
    Disruption,
    Rollout,
    Workload,
)
from tests.unit.core.making import NOW, REPORTS, a_heard, a_room, a_situation, a_workload

SCHEMAS = Schemas({})
BUSY = a_heard(said=Said.OCCUPIED, matches=1)
EMPTY = a_heard(confirmed_at=NOW - 5)
LET_GO, KEEP = ("true", "false"), ("false", "true")
EXITED: dict[str, Any] = {"running": False, "ready": False}


def reporting(**changes: Any) -> Workload:
    plain = {
        "reports": "required",
        "revision": REPORTS,
        "rollout": Rollout(Share(1), Share(0)),
        "disruption": Disruption("occupied"),
    }
    return a_workload(**{**plain, **changes})


def idle(n: int, **changes: Any) -> LivePod:
    return a_room(n, **{"mark": Mark.IDLE, "guard": LET_GO, **changes})


def busy(n: int, **changes: Any) -> LivePod:
    return a_room(n, **{"mark": Mark.BUSY, "guard": KEEP, **changes})


def draining(n: int, why: Why = Why.SCALE_IN, ago: float = 10.0, **changes: Any) -> LivePod:
    seen = Seen(draining=NOW - ago, left=NOW - ago)
    drained = {"mark": Mark.DRAINING, "leaving": why, "seen": seen, "was_heard": True}
    return idle(n, **{**drained, **changes})


def plan(workload: Workload | None, there: Mapping[LivePod, Heard | None], **changes: Any) -> Plan:
    heard = {pod.uid: what for pod, what in there.items() if what is not None}
    ears = Ears(heard, since=NOW - 1000)
    situation = a_situation(workload, list(there), **{"ears": ears, **changes})
    return planning.plan(situation, SCHEMAS, NOW)


def told(made: Plan) -> list[tuple[int, str, Why]]:
    return [(item.pod.ordinal, item.verb, item.leaving) for item in made.marks]


def removed(made: Plan) -> list[tuple[int, Cause]]:
    return [(item.pod.ordinal, item.cause) for item in made.removals]
