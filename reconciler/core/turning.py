"""Which rooms of a workload changed between two looks at it.

Records that did not change are the same values, so thousands are compared without a look at one.
"""

from itertools import compress
from operator import is_not

from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.rooms import Ears

Turned = list[tuple[LivePod, LivePod]]
"""Rooms as they were and as they are."""


def turned_of(was: LiveWorkload, said: Ears, now: LiveWorkload, says: Ears) -> Turned | None:
    """Return the rooms of which anything changed: the pod, or what was heard.

    None where there are others than before, or others are heard.
    """
    pods, before, after = now.pods, said.rooms, says.rooms
    if len(was.pods) != len(pods) or list(before) != list(after):
        return None
    places = compress(range(len(pods)), map(is_not, was.pods, pods))
    turned = [(was.pods[place], pods[place]) for place in places]
    if any(old.uid != new.uid for old, new in turned):
        return None
    spoke = set(compress(after, map(is_not, before.values(), after.values())))
    spoke.difference_update([new.uid for _, new in turned])
    if spoke:
        turned += [(pod, pod) for pod in pods if pod.uid in spoke]
    return turned
