"""Which pods stand together: pod affinity, counted once and kept up to date."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from reconciler.kube.selectors import LabelSelector
from reconciler.sandbox.controllers.rooms import Need, Room
from reconciler.sandbox.requests import Json


@dataclass(slots=True)
class Tally:
    """How many pods of a selector every node holds."""

    selector: LabelSelector
    nodes: Counter[str] = field(default_factory=Counter)


class Neighbours:
    """The tallies of every affinity term that was ever asked, by namespace."""

    def __init__(self) -> None:
        self._tallies: dict[str, dict[str, Tally]] = defaultdict(dict)

    def count(self, need: Need, node: str, step: int) -> None:
        """Count a pod in (1) or out (-1) on its node."""
        for tally in self._tallies.get(need.namespace, {}).values():
            if tally.selector.matches(need.labels):
                tally.nodes[node] += step

    def on(self, term: Json, namespace: str, rooms: Iterable[Room]) -> Counter[str]:
        """Count the pods that a term means, by the value of its topology key."""
        rooms = list(rooms)
        per_node: Counter[str] = Counter()
        for place in term.get("namespaces") or (namespace,):
            per_node.update(self._tally(term, place, rooms).nodes)
        key, counts = term.get("topologyKey", ""), Counter[str]()
        for room in rooms:
            value = room.labels.get(key)
            if value is not None and per_node[room.name]:
                counts[value] += per_node[room.name]
        return counts

    def _tally(self, term: Json, namespace: str, rooms: list[Room]) -> Tally:
        name = json.dumps(term.get("labelSelector"), sort_keys=True)
        known = self._tallies[namespace].get(name)
        if known is None:
            known = Tally(LabelSelector.from_object(term.get("labelSelector")))
            self._tallies[namespace][name] = known
            for room in rooms:
                known.nodes[room.name] = sum(
                    1
                    for need in room.needs.values()
                    if need.namespace == namespace and known.selector.matches(need.labels)
                )
        return known
