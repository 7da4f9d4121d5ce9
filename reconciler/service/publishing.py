"""Whom a publish concerns: of a thousand workloads a commit changes one, and wakes that one.

It is a shortcut, no memory to rely on: the full pass of every `resyncSeconds` asks nobody what
changed, and makes good whatever cannot be seen from here.
"""

from collections.abc import Iterator

from reconciler.core.namesakes import other_kinds
from reconciler.model.refs import WorkloadKey
from reconciler.model.wanted import Wanted
from reconciler.service.cluster_lane import ClusterLane

_Word = tuple[object, ...]


class Publishing:
    """Remembers what each workload of a lane was published as."""

    def __init__(self, served: ClusterLane) -> None:
        self._served = served
        self._lane = served.lane
        self._words: dict[WorkloadKey, _Word] = {}
        self._wanted: Wanted | None = None

    def forget(self) -> None:
        """Take the next publish for the first: who led meanwhile may have written anything."""
        self._wanted = None

    def wake(self) -> None:
        """Have planned whom what is wanted now concerns, of all since the last time."""
        before, self._wanted = self._wanted, self._lane.wanted
        known, self._words = self._words, {key: self._word(key) for key in self._lane.wanted.keys}
        if before is None:
            self._served.wake_all()
            return
        changed = {key for key, word in self._words.items() if known.get(key) != word}
        changed |= known.keys() - self._words.keys()
        beside = {other for key in changed for other in self._beside(before, key)}
        self._served.wakes.mark(changed | (beside & self._words.keys()))
        self._served.wakes.nudge()  # that is how a lane shows that it lives

    def _word(self, key: WorkloadKey) -> _Word:
        """Return what of a publish the plan of one workload depends on.

        Equal references are equal without a look into them, so this is cheap. Who is newborn is
        left out: that ends by itself, once a first name is given.
        """
        wanted, record = self._lane.wanted, self._lane.store.state(key)
        return (
            wanted.effective.get(key),
            key in wanted.deleting,
            wanted.holds_of(key),
            record.accepted,
            record.deleting,
            record.held,
            record.scaling,
        )

    def _beside(self, before: Wanted, key: WorkloadKey) -> Iterator[WorkloadKey]:
        """Yield who shares a namespace with one, or has its name: they wait for each other."""
        yield from before.neighbours(key)
        yield from self._lane.wanted.neighbours(key)
        yield from other_kinds(key)
