"""Which host port a new room asks for: one that nobody in the cluster uses, else the least used.

Conflicts are per node and the kube-scheduler picks the node, so this is a preference that is
repaired later (`to_move`), never a reservation (DESIGN §4, "Host ports").
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from reconciler.core.exposed_ports import container_ports
from reconciler.core.grounds import Ground
from reconciler.model.live import LivePod
from reconciler.model.specs import PortRange, Workload

REPLAN_AFTER_SECONDS = 5.0
"""How long a room may be pending for its host port before it is planned again."""
MOST_NAMED = 5
"""So many nodes are named."""


def choose_for(workload: Workload, rooms: int, ground: Ground) -> list[tuple[int, ...]]:
    """Choose the host ports of each of `rooms` new rooms of a workload; none without a range."""
    if workload.port_range is None:
        return [()] * rooms
    ports = len(container_ports(workload.template, workload.ports_to_expose))
    return choose(ports, rooms, workload.port_range, ground.in_use, ground.elsewhere)


def choose(
    ports: int,
    rooms: int,
    port_range: PortRange,
    in_use: Counter[int],
    elsewhere: Collection[int] = (),
) -> list[tuple[int, ...]]:
    """Choose `ports` distinct host ports for each of `rooms` rooms, the least used first.

    Of ports that nobody uses, those of `elsewhere` (held on nodes where these rooms do not go) go
    last; of ports that are used alike, the lower number goes first. A range that is smaller than
    what one room wants is refused by `validate`.
    """
    if not ports:
        return [()] * rooms
    # Numbers by their users, each level sorted: a batch takes a level in one slice, where a heap
    # would be asked for every port.
    levels: dict[int, list[int]] = {}
    for number in range(port_range.start, port_range.end + 1):
        levels.setdefault(in_use.get(number, 0), []).append(number)
    if elsewhere and 0 in levels:
        levels[0].sort(key=elsewhere.__contains__)
    seats: list[tuple[int, ...]] = []
    lowest = min(levels)
    while len(seats) < rooms:
        numbers = levels.pop(lowest)
        whole = min(len(numbers) // ports, rooms - len(seats)) * ports
        seats += zip(*[iter(numbers[:whole])] * ports, strict=True)
        _raise(levels, lowest + 1, numbers[:whole])
        if len(seats) < rooms and numbers[whole:]:
            seats.append(_across(levels, lowest, numbers[whole:], ports))
        lowest += 1  # where all that was taken is now
    return seats


def _across(
    levels: dict[int, list[int]], lowest: int, numbers: list[int], ports: int
) -> tuple[int, ...]:
    """Take `numbers` and what one room wants besides from the next levels, each number once."""
    taken, level = {lowest: numbers}, lowest
    missing = ports - len(numbers)
    while missing:
        above = level + 1
        level = above if above in levels else min(each for each in levels if each > level)
        there = levels.pop(level)
        taken[level] = there[:missing]
        _raise(levels, level, there[missing:])
        missing -= len(taken[level])
    for each, some in taken.items():
        _raise(levels, each + 1, some)
    return tuple(number for some in taken.values() for number in some)


def _raise(levels: dict[int, list[int]], level: int, numbers: list[int]) -> None:
    """Put numbers on a level, which stays sorted."""
    if numbers:
        levels[level] = sorted([*levels.get(level, ()), *numbers])


def crowding(workload: Workload, pods: Iterable[LivePod], ground: Ground) -> str:
    """Say why no port of a workload's range can be had on any of its nodes, "" when one can.

    A port number can be had once on each node. `pods` are the workload's own.
    """
    port_range, in_use, nodes = workload.port_range, ground.in_use, len(ground.nodes)
    if port_range is None or not nodes:
        return ""
    numbers = range(port_range.start, port_range.end + 1)
    if any(in_use[number] < nodes for number in numbers):
        return ""
    there = (pod for pod in pods if not pod.node or pod.node in ground.nodes)
    own = sum(len({each.port for each in pod.host_ports if each.port in numbers}) for pod in there)
    others = sum(in_use[number] for number in numbers) - own
    ports = container_ports(workload.template, workload.ports_to_expose)
    wanted = workload.replicas * len(ports)
    least = -(-(wanted + max(0, others)) // nodes)
    theirs = f" and {others} by other pods" if others > 0 else ""
    are = "is" if len(numbers) == 1 else "are"
    return (
        f"host ports {port_range.start}-{port_range.end} are all taken: "
        f"{_counted(len(numbers), 'port')} on {_named(ground)} {are} "
        f"{_counted(len(numbers) * nodes, 'place')}, asked for {_counted(own, 'time')} by its own "
        f"rooms{theirs}; make portRange at least {_counted(least, 'port')} wide, or bring nodes"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _named(ground: Ground) -> str:
    """Return how many nodes there are; their names where its template asks for some of all."""
    count = _counted(len(ground.nodes), "node")
    if len(ground.nodes) == ground.out_of:
        return count
    names = sorted(ground.nodes)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    shown = ", ".join(names[:MOST_NAMED])
    return f"the {count} of {ground.out_of} that its template may use ({shown}{more})"


def waits(pod: LivePod) -> bool:
    """Whether a room cannot be placed for its host ports.

    The message is the kube-scheduler's ("didn't have free ports for the requested pod ports").
    """
    return "free ports" in pod.unschedulable


def to_move(
    waiting: Iterable[LivePod], workload: Workload, ground: Ground, now: float
) -> list[LivePod]:
    """Return the rooms that wait for a host port while a freer one is to be had on their nodes.

    Freer: fewer pods ask for it, this room not counted, and fewer than there are nodes. So a move
    never leads back, and rooms that wait for something else besides are not moved about.
    """
    due = [pod for pod in waiting if _is_due(pod, now)]
    if workload.port_range is None or not due:
        return []
    others = ground.in_use.copy()
    for pod in due:
        others.subtract(_numbers(pod))
    places = len(ground.nodes) or math.inf
    moved = []
    seats = choose_for(workload, len(due), replace(ground, in_use=others))
    for pod, seat in zip(due, seats, strict=True):
        rivals = max((others[number] for number in seat), default=0)
        moves = rivals < min(places, max(others[number] for number in _numbers(pod)))
        if moves:
            moved.append(pod)
        others.update(seat if moves else _numbers(pod))
    return moved


def _numbers(pod: LivePod) -> set[int]:
    return {each.port for each in pod.host_ports}


def _is_due(pod: LivePod, now: float) -> bool:
    if not pod.host_ports:
        return False
    return not pod.created_at or now - pod.created_at >= REPLAN_AFTER_SECONDS
