"""Whether this process stood still: what waited in its sockets was sent before it is read.

A process that is starved of CPU, or was sent SIGSTOP, reads seconds later what a room said, and
would take it for a word of now: that the room is empty, say, from before its players came.
"""

from collections.abc import Callable

from reconciler.room_ports import Came

BEAT_SECONDS = 0.1
TURNS = 2
"""So many turns of the event loop after a moment all that had come by then was read."""
UNSEEN_SECONDS = 0.25
"""A pause that is no longer than this tells nothing: a word is as long on its way."""
CROWD_SECONDS = 1.0
"""After a pause connections wait to be let in, and what they hold is read so much later at most."""


class Pulse:
    """Says when what is read now was sent. `now` is a clock that never jumps (seconds)."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._beaten = self._since = now()
        self._woke = -CROWD_SECONDS

    def beat(self, at: float) -> None:
        """Note that all was read that had come until `at`."""
        self.came()
        self._beaten = at

    def came(self) -> Came:
        """Return when a request came whose first byte is read at this moment."""
        now = self._now()
        paused = now - self._beaten > UNSEEN_SECONDS
        if paused and self._since != self._beaten:
            self._since, self._woke = self._beaten, now
        begun = self._woke if paused else now
        return Came(begun, self._since if now < self._woke + CROWD_SECONDS else begun)
