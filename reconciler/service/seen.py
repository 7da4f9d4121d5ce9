"""When our own view first saw something of a pod: what ages are counted from."""

from reconciler.core.reporting import drains_unheard
from reconciler.core.revision import tells_reports
from reconciler.model.live import NEVER_SEEN, LivePod, Seen
from reconciler.model.rooms import Mark, Why


def seen_of(pod: LivePod, before: LivePod | None, now: float, elapsed: float) -> Seen:
    """Return what was seen when of a pod as it is now; `before` is how it was known.

    `now` is Unix seconds and asked only for the age of an annotation that another process may
    have written; `elapsed` is the clock that never jumps.
    """
    known = before.seen if before is not None else NEVER_SEEN
    # Taken back and asked anew between two looks: its time begins anew too.
    anew = before is not None and before.leaving_since not in (0.0, pod.leaving_since)
    draining = 0.0 if anew else known.draining
    seen = Seen(
        starting=_starting(pod, before, known, elapsed),
        draining=(draining or elapsed) if pod.mark is Mark.DRAINING else 0.0,
        left=_left(pod, before, known, now, elapsed, anew),
        ending=(known.ending or elapsed) if pod.terminating else 0.0,
    )
    if seen == known:
        return known
    return NEVER_SEEN if seen == NEVER_SEEN else seen


def has_lapsed(pod: LivePod, before: LivePod | None) -> bool:
    """Whether a room that is not ready was seen ready, and its game runs on since.

    The times on a pod tell that too, unless a clock was set between them.
    """
    if pod.lapsed or pod.ready or before is None or not pod.played_since:
        return pod.lapsed
    return (before.ready or before.lapsed) and pod.played_since == before.played_since


def _starting(pod: LivePod, before: LivePod | None, known: Seen, elapsed: float) -> float:
    if not pod.node or (pod.ready and not _is_awaited(pod)):
        return 0.0
    restarted = before is not None and pod.started_at > before.started_at > 0
    stopped = before is not None and before.running and not pod.running
    return elapsed if restarted or stopped or not known.starting else known.starting


def _is_awaited(pod: LivePod) -> bool:
    """Whether a room that is ready has yet to say that it has begun."""
    unmarked = pod.mark is Mark.NONE or drains_unheard(pod)
    return unmarked and tells_reports(pod.revision)


def _left(
    pod: LivePod, before: LivePod | None, known: Seen, now: float, elapsed: float, anew: bool
) -> float:
    if pod.leaving is Why.STAYS:
        return 0.0
    if anew or (before is not None and before.leaving is Why.STAYS):
        # It was seen to stay: whatever time stands there, of whoever's clock, it is told now.
        return elapsed
    if known.left:
        return known.left
    age_seconds = now - pod.leaving_since if pod.leaving_since else 0.0
    return elapsed - max(0.0, age_seconds)
