"""When rooms that were told to leave go, whoever plays there: by what stands on their pods."""

from dataclasses import replace

from reconciler.cli.ages import age
from reconciler.core import fence
from reconciler.model.live import LivePod, Seen
from reconciler.model.specs import Workload


def dated(pod: LivePod) -> LivePod:
    """Return a pod as if it had been seen from the first: by the time that stands on it."""
    return replace(pod, seen=Seen(draining=pod.leaving_since, left=pod.leaving_since))


def ends_in_seconds(pod: LivePod, spec: Workload | None, now: float) -> float | None:
    """Return in how many seconds a room goes whoever plays there, None for never; at `now` Unix."""
    return None if spec is None else fence.deadline_in_seconds(dated(pod), spec, now)


def end_text(seconds: float) -> str:
    """Say when that is, and by which field of the spec."""
    when = f"in {age(seconds)}" if seconds > 0 else "now"
    return f"deleted {when}, whoever plays there (removal.drainDeadlineSeconds)"
