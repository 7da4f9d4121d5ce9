"""Whether we see all that whoever led before us has written: asked once a term."""

import asyncio
import math
from collections.abc import Callable

from reconciler.model.errors import PortError
from reconciler.ports import Cluster, LiveView
from reconciler.service.retries import Retries

NEWEST = "/api/v1/pods?limit=1"
"""A read without a resourceVersion is of now: its version is newer than all that was written."""
LONGEST_WAIT_SECONDS = 30.0
PATIENCE_SECONDS = 3.0
"""Silence is taken note of after the answer: a server that hangs must not hold that up."""


class Hindsight:
    """Compares what the view has seen with what there was when our term had begun.

    Until it has caught up, a pod that stands as busy may have been marked idle by the one that
    led before: of ten thousand rooms each would have to be read anew. `elapsed` never jumps
    (seconds).
    """

    def __init__(self, cluster: Cluster, view: LiveView, elapsed: Callable[[], float]) -> None:
        self._cluster = cluster
        self._view = view
        self._elapsed = elapsed
        self._retries = Retries(longest_seconds=LONGEST_WAIT_SECONDS)
        self._ask_at = 0.0
        self._term = 0
        self._newest: float | None = None

    @property
    def complete(self) -> bool:
        """Whether the view shows everything that was written before this term."""
        return self._newest is not None and self._view.version >= self._newest

    def forget(self) -> None:
        """Who leads has changed."""
        self._term += 1
        self._newest = None

    async def look(self) -> None:
        """Ask for the newest version, once a term; to be called while this process leads.

        What fails is asked again at a later call, in its own time.
        """
        if self._newest is not None or self._elapsed() < self._ask_at:
            return
        term = self._term
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                page = await self._cluster.raw_get(NEWEST)
        except (PortError, TimeoutError):
            self._ask_at = self._elapsed() + self._retries.failed()
            return
        self._retries.succeeded()
        if page is not None and term == self._term:
            version = page["metadata"]["resourceVersion"]
            # Of versions that are no numbers none is known to be seen: each room is read anew.
            self._newest = int(version) if version.isdecimal() else math.inf
