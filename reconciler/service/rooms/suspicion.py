"""Whether it is rather we who do not hear: everywhere, on single nodes, of single workloads.

Rooms of one outage fall silent over as long as the pause between their reports. So it is told by
those overdue, before the first of them counts as silent: whoever waited for the share to be
silent would meanwhile have replaced the first (ADR 10, and of workloads ADR 21).
"""

import logging
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard

log = logging.getLogger("gamekeeper")

DEAF_ROOMS = 3
DEAF_SHARE = 0.2
"""So many rooms at least, and more than this share, that fall silent together make us suspect."""
PAIR = 2
"""On a node with so few rooms that report, all of them must be overdue; one alone tells nothing."""

_SILENT = {True: "that report fell silent together", False: "that are to report are not heard"}
"""By whether all of them spoke to this process before."""
_UNHEARD = {True: "that reports is heard any more", False: "that is to report is heard"}
_RATHER = "rather we do not hear them than that all of them hang"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why our own ears are suspect, "" while they are not.

    `on` says it of single nodes, `to` of workloads of which nobody is heard.
    """

    everywhere: str = ""
    on: Mapping[str, str] = field(default_factory=dict)
    to: Mapping[WorkloadKey, str] = field(default_factory=dict)

    def __or__(self, other: "Suspicion") -> "Suspicion":
        """Return the suspicions of both."""
        everywhere = self.everywhere or other.everywhere
        return Suspicion(everywhere, {**self.on, **other.on}, {**self.to, **other.to})

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.on or self.to)

    def of(self, key: WorkloadKey, node: str) -> str:
        """Return why a workload's room on a node may be heard by nobody, "" where nothing says so.

        Its workload comes first: that is told of it where both are suspected.
        """
        return self.everywhere or self.to.get(key, "") or self.on.get(node, "")

    def ears(
        self,
        key: WorkloadKey,
        rooms: Mapping[str, Heard],
        since: float,
        again_on: Mapping[str, float],
    ) -> Ears:
        """Return what is heard of a workload by whom we listen to `since` then (see Ears)."""
        return Ears(rooms, self.everywhere, since, self.on, self.to.get(key, ""), again_on)

    def ended(self, before: "Suspicion") -> set[str]:
        """Return the nodes that were suspected, and are no more; "" for all of them.

        A workload that was may be on any.
        """
        nodes = before.on.keys() - self.on.keys()
        anywhere = before.everywhere and not self.everywhere
        return nodes | {""} if anywhere or before.to.keys() - self.to.keys() else nodes

    def say(self, before: "Suspicion") -> None:
        """Tell people what is suspected since `before`, and what no longer."""
        for text in sorted(self._texts() - before._texts()):
            log.warning("%s. Nothing is replaced for its silence there", text)
        for text in sorted(before._texts() - self._texts()):
            log.info("heard again, whoever is silent has its whole time-out once more: %s", text)

    def _texts(self) -> frozenset[str]:
        return frozenset({self.everywhere, *self.on.values(), *self.to.values()} - {""})


UNSUSPECTED = Suspicion()


class Tally:
    """Counts who is overdue: everywhere, by node, by workload.

    `before` is what is suspected until now.
    """

    def __init__(self, before: Suspicion) -> None:
        self._before = before
        self._heard: Counter[str] = Counter()
        self._overdue: Counter[str] = Counter()
        self._overdue_of: dict[str, set[WorkloadKey]] = {}
        self._late: Counter[str] = Counter()
        self._late_everywhere = 0
        self._heard_of: set[WorkloadKey] = set()
        self._late_of: dict[WorkloadKey, set[str]] = {}
        self._fell_silent: Counter[str] = Counter()
        self._fell_silent_of: set[WorkloadKey] = set()

    def count(self, key: WorkloadKey, node: str, overdue: bool, news: bool, spoke: bool) -> None:
        """Count a room that reports and is listened to.

        One whose silence was noted long before is no `news`: it tells nothing of an outage that
        begins now, and goes on telling of one that was suspected then. One that never `spoke` to
        this process (it was adopted, or heard by the one before) did not fall silent either.
        """
        if not overdue:
            self._heard[node] += 1
            self._heard_of.add(key)
            return
        self._overdue[node] += 1
        if spoke:
            self._fell_silent[node] += 1
            self._fell_silent_of.add(key)
        self._overdue_of.setdefault(node, set()).add(key)
        self._late[node] += news or node in self._before.on
        self._late_everywhere += news or bool(self._before.everywhere)
        if news or key in self._before.to:
            self._late_of.setdefault(key, set()).add(node)

    def verdict(self, lost: Set[str], mute: Set[str]) -> Suspicion:
        """Return what is to be suspected; the same words for as long as it lasts.

        `lost` are the nodes of which Kubernetes itself does not hear: there one silent room tells
        of it too. When the node comes back so do its rooms, with who joined them meanwhile. `mute`
        are those of them on which rooms report on change only: these are silent anyway.
        A text whose numbers change each second would be news each second.
        """
        rooms, late = self._heard.total() + self._overdue.total(), self._late_everywhere
        if late >= DEAF_ROOMS and late > DEAF_SHARE * rooms:
            fell = self._fell_silent.total() == self._overdue.total()
            told = f"{late} of {rooms} rooms {_SILENT[fell]}: {_RATHER}"
            return Suspicion(self._before.everywhere or told)
        on = {
            node: self._lost(node) if node in lost else self._told(node)
            for node in sorted({*self._late, *mute})
            if node in lost or self._is_cut_off(node)
        }
        cut_off = {node for node in on if node in lost or self._is_reason(node)}
        return Suspicion("", on, self._unheard_of(cut_off))

    def _is_cut_off(self, node: str) -> bool:
        """Whether one node's rooms fell silent together while others are heard."""
        rooms, late = self._heard[node] + self._overdue[node], self._late[node]
        most = 2 * late > rooms if late >= DEAF_ROOMS else late == rooms == PAIR
        return bool(node) and most and self._heard.total() > self._heard[node]

    def _is_reason(self, node: str) -> bool:
        """Whether what is wrong with a node is no other thing than what is wrong with a workload.

        Rooms of several are on it, and none of them is heard.
        """
        return not self._heard[node] and len(self._overdue_of[node]) > 1

    def _unheard_of(self, cut_off: Set[str]) -> dict[WorkloadKey, str]:
        """Say of which workloads nobody is heard, while others are, and no node is the reason.

        A single room may hang alone; and it may be the only one that a network policy cuts off.
        """
        if not self._heard:
            return {}
        return {
            key: self._before.to.get(key)
            or f"no room of {key} {_UNHEARD[key in self._fell_silent_of]}, while rooms of others "
            "are: a network policy of its namespace, or a release of the game that hangs? They "
            "stay until one of them is heard, or one that is made beside them"
            for key, nodes in sorted(self._late_of.items())
            if key not in self._heard_of and nodes - cut_off
        }

    def _lost(self, node: str) -> str:
        return self._before.on.get(node) or (
            f"the kubelet of node {node} is not heard either: rather the node is cut off than that "
            "its rooms hang"
        )

    def _told(self, node: str) -> str:
        rooms = self._heard[node] + self._overdue[node]
        silent = _SILENT[self._fell_silent[node] == self._overdue[node]]
        return self._before.on.get(node) or (
            f"{self._late[node]} of {rooms} rooms on node {node} {silent}, while others are heard: "
            f"{_RATHER}"
        )
