"""Which host port a new room asks for: one that nobody in the cluster uses, else the least used.

Conflicts are per node and the kube-scheduler picks the node, so this is a preference that is
repaired later (`to_move`), never a reservation (DESIGN §4, "Host ports").
"""

import heapq
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


def choose(
    ports: int, rooms: int, port_range: PortRange, in_use: Counter[int]
) -> list[tuple[int, ...]]:
    """Choose `ports` distinct host ports for each of `rooms` rooms, the least used first.

    A range that is smaller than what one room wants is refused by `validate`.
    """
    heap = [(in_use[number], number) for number in range(port_range.start, port_range.end + 1)]
    heapq.heapify(heap)
    seats = []
    for _ in range(rooms):
        taken = [heapq.heappop(heap) for _ in range(ports)]
        seats.append(tuple(number for _, number in taken))
        for uses, number in taken:
            heapq.heappush(heap, (uses + 1, number))
    return seats


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


def _is_due(pod: LivePod, now: float) -> bool:
    if not pod.host_ports:
        return False
    return not pod.created_at or now - pod.created_at >= REPLAN_AFTER_SECONDS
