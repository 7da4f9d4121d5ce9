"""The terminal: what goes to standard output, what to standard error, and in which colour."""

import io
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO

from reconciler.model.printable import harmless

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_COLOUR = re.compile(r"(\x1b\[[0-9;]{1,8}m)")


@dataclass(frozen=True, slots=True)
class Console:
    """Results go to `out`, everything said beside them to `err`."""

    out: TextIO
    err: TextIO
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_process(cls) -> "Console":
        """Return the console of this process."""
        return cls(_opened(sys.stdout), _opened(sys.stderr), dict(os.environ))

    def print(self, text: str = "") -> None:
        """Write one line of the result."""
        self.out.write(f"{self._harmless(text, self.out)}\n")

    def note(self, text: str) -> None:
        """Say something beside the result, at once."""
        self.out.flush()
        self.err.write(f"{self._harmless(text, self.err)}\n")
        self.err.flush()

    def paint(self, text: str, *styles: str, on: TextIO | None = None) -> str:
        """Return the text coloured, where the stream is a terminal and NO_COLOR is not set."""
        stream = on or self.out
        if not styles or not self.is_coloured(stream):
            return text
        return f"\x1b[{';'.join(CODES[style] for style in styles)}m{text}\x1b[0m"

    def _harmless(self, text: str, stream: TextIO) -> str:
        """Return text without orders to a terminal but the colours that `paint` gives."""
        if text.isprintable() or not self.is_coloured(stream):
            return harmless(text)
        parts = _COLOUR.split(text)
        return "".join(part if at % 2 else harmless(part) for at, part in enumerate(parts))

    def is_coloured(self, stream: TextIO) -> bool:
        """Whether this stream may carry colour."""
        if self.environment.get("NO_COLOR") or self.environment.get("TERM") == "dumb":
            return False
        return stream.isatty()


def _opened(stream: TextIO | None) -> TextIO:
    """Return a stream that takes any text: UTF-8 whatever the locale, a void where it is closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return stream
