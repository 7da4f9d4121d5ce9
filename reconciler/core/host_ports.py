"""Which host port a new room asks for: one that nobody in the cluster uses, else the least used.

Conflicts are per node and the kube-scheduler picks the node, so this is a preference that is
repaired later (`to_move`), never a reservation (DESIGN §4, "Host ports").
"""

from collections import Counter
from collections.abc import Collection, Iterable

from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.model.specs import PortRange, Workload

REPLAN_AFTER_SECONDS = 5.0
"""How long a room may be pending for its host port before it is planned again."""


def container_ports(template: Json, expose: Collection[int] | None = None) -> tuple[int, ...]:
    """Return the distinct containerPorts of a pod template that get a host port, in order.

    Only those of `expose`, where it is given. Entries of one containerPort with several protocols
    are a pair and share one host port, as games that speak TCP and UDP on one number expect.
    """
    return tuple(
        dict.fromkeys(
            entry["containerPort"]
            for container in template.get("spec", {}).get("containers", [])
            for entry in container.get("ports") or []
            if expose is None or entry["containerPort"] in expose
        )
    )


def choose_for(workload: Workload, rooms: int, in_use: Counter[int]) -> list[tuple[int, ...]]:
    """Choose the host ports of each of `rooms` new rooms of a workload; none without a range."""
    if workload.port_range is None:
        return [()] * rooms
    ports = len(container_ports(workload.template, workload.ports_to_expose))
    return choose(ports, rooms, workload.port_range, in_use)


def choose(
    ports: int, rooms: int, port_range: PortRange, in_use: Counter[int]
) -> list[tuple[int, ...]]:
    """Choose `ports` distinct host ports for each of `rooms` rooms, the least used first.

    Of ports that are used alike, the lower number goes first. A range that is smaller than what
    one room wants is refused by `validate`.
    """
    if not ports:
        return [()] * rooms
    # Numbers by their users, each level sorted: a batch takes a level in one slice, where a heap
    # would be asked for every port.
    levels: dict[int, list[int]] = {}
    for number in range(port_range.start, port_range.end + 1):
        levels.setdefault(in_use.get(number, 0), []).append(number)
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


def crowding(workload: Workload, pods: Iterable[LivePod], in_use: Counter[int], nodes: int) -> str:
    """Say why no port of a workload's range can be had on any of so many nodes, "" when one can.

    A port number can be had once on each node. `pods` are the workload's own.
    """
    port_range = workload.port_range
    if port_range is None or not nodes:
        return ""
    numbers = range(port_range.start, port_range.end + 1)
    if any(in_use[number] < nodes for number in numbers):
        return ""
    own = sum(len({each.port for each in pod.host_ports if each.port in numbers}) for pod in pods)
    others = sum(in_use[number] for number in numbers) - own
    ports = container_ports(workload.template, workload.ports_to_expose)
    wanted = workload.replicas * len(ports)
    least = -(-(wanted + max(0, others)) // nodes)
    theirs = f" and {others} by other pods" if others > 0 else ""
    places = "1 node" if nodes == 1 else f"{nodes} nodes"
    return (
        f"host ports {port_range.start}-{port_range.end} are all taken: {len(numbers)} ports on "
        f"{places} are {len(numbers) * nodes} places, asked for {own} times by its own "
        f"rooms{theirs}; make portRange at least {least} ports wide, or bring nodes"
    )


def to_move(
    pods: Iterable[LivePod], in_use: Counter[int], port_range: PortRange | None, now: float
) -> list[LivePod]:
    """Return the pending rooms that wait for a host port while a freer one is to be had.

    The message is the kube-scheduler's ("didn't have free ports for the requested pod ports").
    """
    waiting = [pod for pod in pods if "free ports" in pod.unschedulable and _is_due(pod, now)]
    if port_range is None or not waiting:
        return []
    fewest = min(in_use[number] for number in range(port_range.start, port_range.end + 1))
    # Its own use counts once: a port is freer when even with this room it had fewer users.
    return [
        pod for pod in waiting if fewest + 1 < max(in_use[entry.port] for entry in pod.host_ports)
    ]


def look_in_seconds(pods: Iterable[LivePod]) -> float | None:
    """Return when to look again at pods that wait for a port; no event says that time is up."""
    waits = any("free ports" in pod.unschedulable for pod in pods)
    return REPLAN_AFTER_SECONDS if waits else None


def _is_due(pod: LivePod, now: float) -> bool:
    if not pod.host_ports:
        return False
    return not pod.created_at or now - pod.created_at >= REPLAN_AFTER_SECONDS
