"""Which rooms go first: not ready before ready, emptiest node first, newest last name first.

Last of all go rooms that lapsed: a game that stops being ready in a match is full of players.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from reconciler.model.live import LivePod


def order(candidates: Iterable[LivePod], rooms: Iterable[LivePod]) -> list[LivePod]:
    """Return candidates in the order in which they should go.

    The emptiest node (fewest of `rooms`) comes first, so that nodes can be given back; a room
    that has no node yet costs nobody anything and comes before all others.
    """
    per_node = Counter(pod.node for pod in rooms if pod.node)

    def rank(pod: LivePod) -> tuple[bool, bool, bool, int, str, int]:
        node = pod.node
        return (pod.lapsed, pod.ready, bool(node), per_node[node], node, -pod.ordinal)

    return sorted(candidates, key=rank)


def choose(candidates: Sequence[LivePod], rooms: Iterable[LivePod], number: int) -> list[LivePod]:
    """Return the `number` candidates that should go first."""
    return order(candidates, rooms)[:number] if number else []
