"""Reports of rooms in a process that listens nowhere for them: there will be none."""

import logging
from collections.abc import Callable

from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import NO_EARS, Ears
from reconciler.model.specs import Workload

log = logging.getLogger("gamekeeper")

UNLISTENED = Ears(
    deaf="`reports: required`, and the process that leads runs without --rooms-listen, so it hears "
    "no room: rooms that are ready are taken for full and stay until it is started with "
    "--rooms-listen HOST:PORT"
)


class Unlistened:
    """`ports.Reports` that is deaf to whoever should report, so that it is held with the reason.

    Without it such a workload would wait for ever, and nobody would be told for what. The log tells
    it once a workload. `workload` is what is wanted of one, or was.
    """

    def __init__(self, workload: Callable[[WorkloadKey], Workload]) -> None:
        self._workload = workload
        self._told: set[WorkloadKey] = set()

    def of(self, key: WorkloadKey) -> Ears:
        """Return that we are deaf; where rooms report nothing, that nothing is heard."""
        workload = self._workload(key)
        if not workload.hears:
            self._told.discard(key)
            return NO_EARS
        if key not in self._told:
            self._told.add(key)
            log.warning("held: %s", UNLISTENED.deaf, extra={"fields": {"workload": str(key)}})
        return UNLISTENED

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """Return the same."""
        return self.of(key)
