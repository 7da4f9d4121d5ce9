"""Which rooms go first: not ready before ready, emptiest node first, newest last name first.

Last of all go rooms that lapsed: a game that stops being ready in a match is full of players.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reconciler.model.live import LivePod

NOBODY: Mapping[str, Counter[int]] = {}


def order(
    candidates: Iterable[LivePod],
    rooms: Iterable[LivePod],
    held: Mapping[str, Counter[int]] = NOBODY,
) -> list[LivePod]:
    """Return candidates in the order in which they should go.

    The emptiest node comes first, so that nodes can be given back: the one with the fewest users
    of host ports, anybody's (`held`, by node), for other fleets stand there too; then the one with
    the fewest of `rooms`. A room that has no node yet costs nobody anything and comes before all
    others.
    """
    per_node = Counter(pod.node for pod in rooms if pod.node)
    users = {node: held[node].total() for node in per_node if node in held}

    def rank(pod: LivePod) -> tuple[bool, bool, bool, int, int, str, int]:
        node = pod.node
        full = (users.get(node, 0), per_node[node])
        return (pod.lapsed, pod.ready, bool(node), *full, node, -pod.ordinal)

    return sorted(candidates, key=rank)


def choose(
    candidates: Sequence[LivePod],
    rooms: Iterable[LivePod],
    number: int,
    held: Mapping[str, Counter[int]] = NOBODY,
) -> list[LivePod]:
    """Return the `number` candidates that should go first."""
    return order(candidates, rooms, held)[:number] if number else []
