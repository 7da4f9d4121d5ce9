"""When the bytes of one connection came: a request is dated by its first.

The parser tells what a request says, and not where it begins: bytes behind one that is being
answered may be half of the next. So each is taken to end no later than it can have: at the first
blank line behind its beginning, and as many bytes behind that as its body has. Where that is too
early (a body sent in chunks that has a blank line itself) what follows is dated by bytes that
came before its own, and never by later ones: begun too early, the next one ends too early, too.
"""

import re

from reconciler.room_ports import AT_ONCE, Came

_BLANK_LINE = re.compile(rb"\n\r?\n")
_REACH = 2
"""So many bytes of a blank line may have come before its last."""
MOST = 64
"""So many moments, and blank lines, are told apart: who sends more ahead is dated more roughly."""


class Arrivals:
    """Knows which bytes may begin a request that was not read whole yet, and when these came."""

    def __init__(self) -> None:
        self._begins = self._came = 0
        """So many bytes came before the request in hand, at most as many as did; and in all."""
        self._last = b""
        self._moments: list[tuple[int, Came]] = []
        """Until which byte all came at that moment, or later."""
        self._blanks: list[tuple[int, int]] = []
        """Between which two bytes blank lines end, the first and the last of them."""

    def read(self, data: bytes, came: Came) -> None:
        """Note that some more bytes came."""
        text = self._last + data
        before = self._came - len(self._last)
        for found in _BLANK_LINE.finditer(text):
            at = before + found.end()
            if at > self._came:
                first = at if len(self._blanks) < MOST else self._blanks.pop()[0]
                self._blanks.append((first, at))
        self._came += len(data)
        self._last = text[-_REACH:]
        if len(self._moments) == MOST:
            came = self._moments.pop()[1]
        self._moments.append((self._came, came))

    @property
    def came(self) -> Came:
        """When the first byte of the request in hand came, or one before it."""
        return self._moments[0][1] if self._moments else AT_ONCE

    def end(self, body_bytes: int, in_chunks: bool) -> None:
        """Note that the request in hand was read whole, with a body of so many bytes."""
        end = self._blank_behind(self._begins) + body_bytes
        if in_chunks:  # it ends with a blank line, and what frames the chunks is no body
            end = self._blank_behind(end)
        self._begins = end
        self._moments = [each for each in self._moments if each[0] > end]
        self._blanks = [each for each in self._blanks if each[1] > end]

    def _blank_behind(self, at: int) -> int:
        """Return where the first blank line behind a byte ends, or before that, never behind."""
        for first, last in self._blanks:
            if last > at:
                return max(first, at)
        return at
