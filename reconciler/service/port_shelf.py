"""Host ports that pods ask for, anybody's: how many users each number has, and on which node."""

from collections import Counter
from collections.abc import Mapping

from reconciler.model.live import HostPort

Held = tuple[str, tuple[HostPort, ...]]
"""The node of a pod ("" while it has none) and the host ports that it asks for."""

NOTHING: Held = ("", ())


class PortShelf:
    """Counts the users of each port number; what it hands out is never changed afterwards."""

    def __init__(self) -> None:
        self._in_use: Counter[int] = Counter()
        self._on: dict[str, Counter[int]] = {}
        self._use: Counter[int] | None = None
        self._by_node: Mapping[str, Counter[int]] | None = None
        self._lent: set[str] = set()
        """Nodes whose counter was handed out and must be copied before it is changed."""

    def use(self) -> Counter[int]:
        """Return how many pods ask for each number; the same value until that changes."""
        if self._use is None:
            self._use = self._in_use.copy()
        return self._use

    def by_node(self) -> Mapping[str, Counter[int]]:
        """Return the same by their nodes, "" for pods without one."""
        if self._by_node is None:
            self._by_node = dict(self._on)
            self._lent.update(self._on)
        return self._by_node

    def take(self, held: Held) -> None:
        """Count one pod's ports; entries of one number (TCP and UDP) are one user."""
        self._count(held, +1)

    def give_back(self, held: Held) -> None:
        """Count them no more."""
        self._count(held, -1)

    def _count(self, held: Held, change: int) -> None:
        node, ports = held
        if not ports:
            return
        self._use = self._by_node = None
        there = self._on.get(node, Counter())
        if node in self._lent:
            self._lent.discard(node)
            there = there.copy()
        for number in {each.port for each in ports}:
            _add(self._in_use, number, change)
            _add(there, number, change)
        if there:
            self._on[node] = there
        else:
            self._on.pop(node, None)


def _add(users: Counter[int], number: int, change: int) -> None:
    users[number] += change
    if not users[number]:
        del users[number]
