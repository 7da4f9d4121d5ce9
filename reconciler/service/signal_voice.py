"""What is said of signals: once that one is lost, and once that it is there again."""

import logging

from reconciler.core.policies.policy import Ask
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Signal

_MOST_KEPT = 10_000

log = logging.getLogger("gamekeeper")


class SignalVoice:
    """Tells the log; a trouble that lasts is told once."""

    def __init__(self) -> None:
        self._troubles: dict[tuple[WorkloadKey, str], str] = {}

    def told(self, key: WorkloadKey, ask: Ask, signal: Signal) -> None:
        """An answer came, or in its `trouble` why none did."""
        place = key, ask.name
        fields = {"fields": {"workload": str(key)}}
        if not signal.trouble:
            if self._troubles.pop(place, ""):
                log.info("the %s answers again", ask.kind, extra=fields)
            return
        if self._troubles.get(place) != signal.trouble:
            if len(self._troubles) >= _MOST_KEPT:
                self._troubles.clear()
            self._troubles[place] = signal.trouble
            log.warning(
                "the %s told nothing to count by: %s", ask.kind, signal.trouble, extra=fields
            )
