"""What a webhook is asked and answers: our own review, and Agones' FleetAutoscaleReview.

Ours is `{kind: ScalingReview, workload, replicas, bounds, load}`, answered by `{replicas, reason}`.
Agones sends `{request: {uid, name, namespace, status}}` and takes `{response: {uid, scale,
replicas}}`, where `scale: false`, or none, is "as many as there are". An answer without a response,
over which its controllers crashed, is no advice.
"""

from dataclasses import asdict
from typing import Any

from reconciler.core.policies.policy import MOST_ROOMS
from reconciler.core.policies.signals import sound_number
from reconciler.model.masks import redact
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.scaling import Bounds, Load

_MOST_REASON = 200


def request_of(key: WorkloadKey, load: Load, bounds: Bounds) -> Json:
    """Return our question about a workload."""
    return {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "ScalingReview",
        "workload": {"kind": key.kind, "namespace": key.namespace, "name": key.name},
        "replicas": load.replicas,
        "bounds": {"min": bounds.minimum, "max": bounds.maximum},
        "load": {_camel(name): value for name, value in asdict(load).items()},
    }


def agones_request_of(key: WorkloadKey, load: Load, uid: str) -> Json:
    """Return Agones' question; `uid` names this one question.

    Its allocated rooms are those that serve players, its ready ones those in which nobody plays.
    """
    status = {
        "replicas": load.members,
        "readyReplicas": load.ready,
        "reservedReplicas": 0,
        "allocatedReplicas": load.busy,
    }
    review = {"uid": uid, "name": key.name, "namespace": key.namespace, "status": status}
    return {"request": review, "response": None}


def pertinent(answer: Any) -> Json | None:
    """Return what is kept of our answer: its count and a short reason without secrets."""
    if not isinstance(answer, dict):
        return None
    reason = answer.get("reason")
    told = redact(reason[: 2 * _MOST_REASON])[:_MOST_REASON] if isinstance(reason, str) else ""
    return {"replicas": _plain(answer.get("replicas")), "reason": told}


def agones_pertinent(answer: Any) -> Json | None:
    """Return what is kept of Agones' answer; its uid is of one question, and checked before."""
    if not isinstance(answer, dict):
        return None
    response = answer.get("response")
    if not isinstance(response, dict):
        return {"response": None}
    scale = response.get("scale", False)
    kept = scale if isinstance(scale, bool) else None
    return {"response": {"scale": kept, "replicas": _plain(response.get("replicas"))}}


def agones_doubt(answer: Any, uid: str) -> str:
    """Say why an answer is none to the question `uid`, "" where it may be.

    Agones looks at no uid, so webhooks that work there may send none.
    """
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict) or response.get("uid") in (None, "", uid):
        return ""
    return "its response is to another question: a uid in it must be the request's"


def answer_of(answer: Any) -> tuple[int | None, str]:
    """Return the count of our answer and its reason; None and why not where it holds none."""
    count = _count(answer.get("replicas")) if isinstance(answer, dict) else None
    if count is None:
        return None, "its answer has no replicas that is a count"
    reason = answer.get("reason")
    told = reason[:_MOST_REASON] if isinstance(reason, str) else ""
    return count, "".join(c if c.isprintable() else " " for c in told)


def agones_answer_of(answer: Any, replicas: int) -> tuple[int | None, str]:
    """Return the count of Agones' answer; None and why not where it holds none."""
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        return None, "its answer has no response"
    scale = response.get("scale", False)
    if not isinstance(scale, bool):
        return None, "its response's scale is neither true nor false"
    if not scale:
        return replicas, "it says scale: false"
    count = _count(response.get("replicas"))
    return (count, "") if count is not None else (None, "its response has no replicas")


def agones_scales(answer: Any) -> bool:
    """Whether Agones' answer, one that holds a count, tells one of its own: as many as there are is
    none that a later one could fall from.
    """
    return bool(answer["response"].get("scale", False))


def _count(value: Any) -> int | None:
    number = sound_number(value)
    if number is None or number != int(number) or number > MOST_ROOMS:
        return None
    return int(number)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float) else None


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
