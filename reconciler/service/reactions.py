"""How soon a count follows what woke its workload: decided, on record, first request about a room.

Times are seconds of the event loop's clock, which never jumps.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

from reconciler.model.refs import WorkloadKey

Stage = Literal["decided", "recorded", "requested"]


class Reactions:
    """Measures each decision that moves a count, from the wake that it came of."""

    def __init__(self, observe: Callable[[Stage, float], None]) -> None:
        self._observe = observe
        self._decided: dict[WorkloadKey, float] = {}
        self._recorded: dict[WorkloadKey, float] = {}

    def decided(self, key: WorkloadKey, woken_at: float) -> None:
        """A policy moves a count."""
        self._decided[key] = woken_at
        self._observe("decided", _now() - woken_at)

    def recorded(self, key: WorkloadKey) -> None:
        """The count is on record, and acts."""
        if key in self._decided:
            self._recorded[key] = since = self._decided.pop(key)
            self._observe("recorded", _now() - since)

    def planned(self, key: WorkloadKey) -> float | None:
        """Return what a count came of whose first plan this is, None where it is none's.

        Where that plan sends nothing, since all that are too many are occupied, nothing counts.
        """
        return self._recorded.pop(key, None)

    def requested(self, since: float | None, at: float | None) -> None:
        """The first request of a plan about a room was sent; None where none was."""
        if since is not None and at is not None:
            self._observe("requested", at - since)

    def forget(self, key: WorkloadKey | None = None) -> None:
        """Forget one workload, or all of them: another process led meanwhile."""
        for known in (self._decided, self._recorded):
            if key is None:
                known.clear()
            else:
                known.pop(key, None)


def _now() -> float:
    return asyncio.get_running_loop().time()
