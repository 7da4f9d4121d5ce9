"""Spec `autoscaling` to what the envelope acts on; it is no part of a room's revision."""

from typing import Any

from reconciler.core.policies.policy import policy_of
from reconciler.model.refs import Json
from reconciler.model.scaling import Autoscaling, Bounds, Pace
from reconciler.model.shares import Share

SCALE_UP = Pace()
SCALE_DOWN = Pace(stabilization_seconds=300.0)


def autoscaling_of(spec: Json) -> Autoscaling | None:
    """Return the autoscaling of a valid spec; None where it asks for none."""
    written = spec.get("autoscaling")
    if written is None:
        return None
    return Autoscaling(
        enabled=written.get("enabled", True),
        bounds=Bounds(written["min"], written["max"]),
        policy=policy_of(written["policy"]),
        scale_up=_pace(written.get("scaleUp") or {}, SCALE_UP),
        scale_down=_pace(written.get("scaleDown") or {}, SCALE_DOWN),
    )


def share_of(value: Any) -> Share | None:
    """Return a count or per cent (`25%`) as specs write it; None where none is written."""
    if isinstance(value, str):
        return Share(int(value.removesuffix("%")), percent=True)
    return None if value is None else Share(value)


def _pace(written: Json, plain: Pace) -> Pace:
    return Pace(
        cooldown_seconds=written.get("cooldownSeconds", plain.cooldown_seconds),
        stabilization_seconds=written.get("stabilizationSeconds", plain.stabilization_seconds),
        step=share_of(written.get("step")),
    )
