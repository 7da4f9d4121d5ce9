"""When our own view first saw something of a pod: what ages are counted from."""

from reconciler.core.revision import tells_reports
from reconciler.model.live import NEVER_SEEN, LivePod, Seen
from reconciler.model.rooms import Mark, Why


def seen_of(pod: LivePod, before: LivePod | None, now: float, elapsed: float) -> Seen:
    """Return what was seen when of a pod as it is now; `before` is how it was known.

    `now` is Unix seconds and asked only for the age of an annotation that another process may
    have written; `elapsed` is the clock that never jumps.
    """
    known = before.seen if before is not None else NEVER_SEEN
    seen = Seen(
        starting=_starting(pod, before, known, elapsed),
        draining=(known.draining or elapsed) if pod.mark is Mark.DRAINING else 0.0,
        left=_left(pod, known, now, elapsed),
        ending=(known.ending or elapsed) if pod.terminating else 0.0,
    )
    if seen == known:
        return known
    return NEVER_SEEN if seen == NEVER_SEEN else seen


def _starting(pod: LivePod, before: LivePod | None, known: Seen, elapsed: float) -> float:
    if not pod.node or (pod.ready and not _is_awaited(pod)):
        return 0.0
    restarted = before is not None and pod.started_at > before.started_at > 0
    return elapsed if restarted or not known.starting else known.starting


def _is_awaited(pod: LivePod) -> bool:
    """Whether a room that is ready has yet to say that it has begun."""
    return pod.mark is Mark.NONE and tells_reports(pod.revision)


def _left(pod: LivePod, known: Seen, now: float, elapsed: float) -> float:
    if pod.leaving is Why.STAYS:
        return 0.0
    if known.left:
        return known.left
    age_seconds = now - pod.leaving_since if pod.leaving_since else 0.0
    return elapsed - max(0.0, age_seconds)
