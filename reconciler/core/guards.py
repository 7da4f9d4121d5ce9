"""What the tools that empty nodes may do with a room: its two disruption annotations."""

from reconciler.core.reporting import covers_heard
from reconciler.model import labels
from reconciler.model.live import LivePod
from reconciler.model.rooms import Mark
from reconciler.model.specs import Workload

_KEEP = ("false", "true")
"""Do not evict it, do disrupt nothing: (safe-to-evict, do-not-disrupt)."""
_LET_GO = ("true", "false")
_EMPTY = frozenset({Mark.IDLE, Mark.DRAINING})


def guarded_as(pod: LivePod, mark: Mark) -> Mark:
    """Return by which mark a room is guarded that has `mark`, or is given it.

    One that drains and was never heard may be full by the time that somebody empties its node.
    """
    unheard = mark is Mark.DRAINING and not covers_heard(pod, mark)
    return Mark.NONE if unheard else mark


def guard_for(workload: Workload, mark: Mark) -> tuple[str, str]:
    """Return the values of (safe-to-evict, do-not-disrupt) for a room with this mark.

    What the user's template says stands, each of the two by itself. A room that was never heard
    may be full, and so may every room that does not report; one that is kept for a post-mortem is
    kept, its node too.
    """
    ours = _LET_GO if workload.hears and mark in _EMPTY else _KEEP
    own = (workload.template.get("metadata") or {}).get("annotations") or {}
    safe_to_evict, do_not_disrupt = ours
    return (
        own.get(labels.SAFE_TO_EVICT, safe_to_evict),
        own.get(labels.DO_NOT_DISRUPT, do_not_disrupt),
    )
