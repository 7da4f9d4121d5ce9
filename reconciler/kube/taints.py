"""Taints of nodes and the tolerations that answer them."""

from collections.abc import Iterable

from reconciler.kube.json_types import Json

REPELLING = frozenset({"NoSchedule", "NoExecute"})


def tolerates(tolerations: Iterable[Json], taint: Json) -> bool:
    """Tell whether one of the tolerations covers the taint."""
    return any(_covers(toleration, taint) for toleration in tolerations)


def untolerated(
    tolerations: Iterable[Json], taints: Iterable[Json], effects: frozenset[str] = REPELLING
) -> Json | None:
    """Find the first taint of these effects that keeps the pod away; None when none does."""
    held = list(tolerations)
    return next(
        (
            taint
            for taint in taints
            if taint.get("effect") in effects and not tolerates(held, taint)
        ),
        None,
    )


def _covers(toleration: Json, taint: Json) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint.get("effect"):
        return False
    if key and key != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    if not key or operator != "Equal":
        return False
    return (toleration.get("value") or "") == (taint.get("value") or "")
