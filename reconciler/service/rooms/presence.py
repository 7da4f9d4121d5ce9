"""Since when this process listens to whom, by a clock that never jumps."""

import logging
from collections.abc import Callable, Iterable, Mapping

from reconciler.model.rooms import Ears

FORGOTTEN_SECONDS = 86_400.0
"""As long as the longest `pingSeconds`: so long a room is left alone where we hear again."""
PAUSE_SECONDS = 3.0
"""A process that was not there for longer than that, though it is to be each second, stood still:
what rooms said meanwhile waits to be read, or was given up by who sent it."""
READ_SECONDS = 1.0
"""After so long all that waits is read."""

log = logging.getLogger("gamekeeper")


class Presence:
    """Knows since when rooms are listened to with good ears, everywhere and on single nodes."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self.since: float | None = None
        """When this term began, None while there is none."""
        self.again_on: Mapping[str, float] = {}
        """Since when those on a node are heard anew; under "" those of all."""
        self.heard_anybody = False
        """Whether any room has spoken in this term."""
        self.waits_for_a_word = False
        """Whether it was told in this term that nobody is heard."""
        self._there_at, self._back_at = 0.0, -READ_SECONDS

    def begin(self) -> None:
        """Listen from now on."""
        self.since = self._there_at = self._elapsed()

    def end(self) -> None:
        """The term is over."""
        self.since, self.again_on = None, {}
        self.heard_anybody = self.waits_for_a_word = False

    @property
    def has_read(self) -> bool:
        """Whether what waited through a pause was read by now."""
        return self._elapsed() - self._back_at >= READ_SECONDS

    def beat(self) -> bool:
        """Note that this process is there; whether it stood still, and so listens anew."""
        now = self._elapsed()
        paused_seconds = now - self._there_at if self.since is not None else 0.0
        self._there_at = now
        if paused_seconds <= PAUSE_SECONDS:
            return False
        log.warning("this process stood still for %.0f s: it listens anew", paused_seconds)
        self._back_at = now
        self.hear_again(("",))
        return True

    def since_on(self, node: str) -> float:
        """Return since when the rooms on a node are listened to, with good ears."""
        return Ears(since=self.since or 0.0, again_on=self.again_on).since_on(node)

    def hear_again(self, nodes: Iterable[str]) -> None:
        """Note where we hear again; a node that came and went long ago is forgotten."""
        now = self._elapsed()
        known = {node: at for node, at in self.again_on.items() if now - at < FORGOTTEN_SECONDS}
        self.again_on = known | dict.fromkeys(nodes, now)
