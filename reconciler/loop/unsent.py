"""The names of rooms that went on record and were never sent to the API server."""

from collections.abc import Set

from reconciler.model.refs import WorkloadKey


class Unsent:
    """Whose names they are, by workload; a new process knows of none."""

    def __init__(self) -> None:
        self._names: dict[WorkloadKey, set[int]] = {}

    def raised(self, key: WorkloadKey, known: Set[int], outstanding: Set[int]) -> None:
        """Note that the record says `outstanding` now; those that it said before are `known`."""
        unsent = self._names.setdefault(key, set())
        unsent &= outstanding
        unsent |= outstanding - known

    def take(self, key: WorkloadKey, ordinal: int) -> bool:
        """Take an outstanding name that was never sent to the API server; whether it is one.

        Another was sent before, by us or by a process before us. A room may have had it and have
        ended since, so it is never sent again.
        """
        unsent = self._names.get(key, set())
        if ordinal not in unsent:
            return False
        unsent.remove(ordinal)
        return True

    def give_back(self, key: WorkloadKey, ordinal: int) -> None:
        """Note that a name which was taken was not used: the server said so, or heard nothing."""
        self._names.setdefault(key, set()).add(ordinal)

    def forget(self, key: WorkloadKey) -> None:
        """Take every name of a workload for sent, as by another process."""
        self._names.pop(key, None)

    def clear(self) -> None:
        """Do so for all."""
        self._names.clear()
