"""Whom to replace first where no room of a workload is heard: the new room's word tells (ADR 21).

Silence alone does not say whether rooms hang or are cut off. Another room of the same workload
does: where it is heard, so would they be, and they are replaced for their silence; where it is
not, nobody was deleted.
"""

from reconciler.core.rooms import Sorted
from reconciler.model.live import LivePod
from reconciler.model.rooms import Why

REASON = "{name} is not heard, as no room of its workload is: another one is made, whose word tells"


def place_for(there: Sorted) -> LivePod | None:
    """Return the room to be told to leave, so that another one is made in its place; it stays.

    None where nothing is suspected, where one was told before, or where somebody is on the way
    already who may speak.
    """
    members = there.members
    if not there.ears.deaf_here or len(members) > there.workload.replicas:
        return None
    told = any(pod.leaving is Why.FAILED for pod in there.leaving)
    if told or any(there.heard(pod) is None for pod in members):
        return None
    silent = [pod for pod in members if _would_go(there, pod)]
    return min(silent, key=lambda pod: (pod.uid in there.busy, pod.ordinal), default=None)


def _would_go(there: Sorted, pod: LivePod) -> bool:
    """Whether a room would be replaced for its silence some day, were nothing suspected.

    One that may be full would by `silentBusySeconds` alone, and is not told where that begins the
    clock of a deadline.
    """
    heard, workload = there.heard(pod), there.workload
    if heard is None or not heard.silent:
        return False
    limited = workload.timeouts.silent_busy_seconds is not None
    return pod.uid not in there.busy or (
        limited and workload.departure.drain_deadline_seconds is None
    )
