"""Whether it is rather we who do not hear: everywhere, or on single nodes (ADR 10).

Rooms of one outage fall silent over as long as the pause between their reports. So it is told by
those overdue, before the first of them counts as silent: whoever waited for the share to be
silent would meanwhile have replaced the first.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

log = logging.getLogger("gamekeeper")

DEAF_ROOMS = 3
DEAF_SHARE = 0.2
"""So many rooms at least, and more than this share, that fall silent together make us suspect."""
PAIR = 2
"""On a node with so few rooms that report, all of them must be overdue; one alone tells nothing."""

_RATHER = "rather we do not hear them than that all of them hang"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why our own ears are suspect, "" while they are not; `on` says it of single nodes."""

    everywhere: str = ""
    on: Mapping[str, str] = field(default_factory=dict)

    def __or__(self, other: "Suspicion") -> "Suspicion":
        """Return the suspicions of both."""
        return Suspicion(self.everywhere or other.everywhere, {**self.on, **other.on})

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.on)

    def of(self, node: str) -> str:
        """Return why a room on this node may be heard by nobody, "" where that is not suspected."""
        return self.everywhere or self.on.get(node, "")

    def say(self, before: "Suspicion") -> None:
        """Tell people what is suspected since `before`, and what no longer."""
        for text in sorted(self._texts() - before._texts()):
            log.warning("%s. Nothing is replaced for its silence there", text)
        for text in sorted(before._texts() - self._texts()):
            log.info("heard again, whoever is silent has its whole time-out once more: %s", text)

    def _texts(self) -> frozenset[str]:
        return frozenset({self.everywhere, *self.on.values()} - {""})


UNSUSPECTED = Suspicion()


class Tally:
    """Counts who is overdue, everywhere and by node. `before` is what is suspected until now."""

    def __init__(self, before: Suspicion) -> None:
        self._before = before
        self._heard: Counter[str] = Counter()
        self._overdue: Counter[str] = Counter()
        self._late: Counter[str] = Counter()
        self._late_everywhere = 0

    def count(self, node: str, overdue: bool, news: bool) -> None:
        """Count a room that reports and is listened to.

        One whose silence was noted long before is no `news`: it tells nothing of an outage that
        begins now, and goes on telling of one that was suspected then.
        """
        if not overdue:
            self._heard[node] += 1
            return
        self._overdue[node] += 1
        self._late[node] += news or node in self._before.on
        self._late_everywhere += news or bool(self._before.everywhere)

    def verdict(self, is_lost: Callable[[str], bool]) -> Suspicion:
        """Return what is to be suspected; the same words for as long as it lasts.

        `is_lost` says of which node Kubernetes itself does not hear: there one silent room tells
        of it too. When the node comes back so do its rooms, with who joined them meanwhile.
        A text whose numbers change each second would be news each second.
        """
        rooms, late = self._heard.total() + self._overdue.total(), self._late_everywhere
        if late >= DEAF_ROOMS and late > DEAF_SHARE * rooms:
            told = f"{late} of {rooms} rooms that report fell silent together: {_RATHER}"
            return Suspicion(self._before.everywhere or told)
        on = {
            node: self._lost(node) if is_lost(node) else self._told(node)
            for node in sorted(self._late)
            if is_lost(node) or self._is_cut_off(node)
        }
        return Suspicion("", on)

    def _is_cut_off(self, node: str) -> bool:
        """Whether one node's rooms fell silent together while others are heard."""
        rooms, late = self._heard[node] + self._overdue[node], self._late[node]
        most = 2 * late > rooms if late >= DEAF_ROOMS else late == rooms == PAIR
        return bool(node) and most and self._heard.total() > self._heard[node]

    def _lost(self, node: str) -> str:
        return self._before.on.get(node) or (
            f"the kubelet of node {node} is not heard either: rather the node is cut off than that "
            "its rooms hang"
        )

    def _told(self, node: str) -> str:
        rooms = self._heard[node] + self._overdue[node]
        return self._before.on.get(node) or (
            f"{self._late[node]} of {rooms} rooms on node {node} that report fell silent together, "
            f"while others are heard: {_RATHER}"
        )
