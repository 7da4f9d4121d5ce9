"""What lies between processes and a Git host, and what goes wrong on the way."""

import asyncio
from dataclasses import dataclass, replace

from reconciler.adapters.git.memory import MemoryHost
from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.model.pushes import Change, Pushed
from reconciler.model.trees import Head, Tree
from tests.loop.rooms.frost import FrozenRepository

DEADLINE_SECONDS = 60.0
"""After so long a fetch that hangs is ended."""


@dataclass
class Line:
    """What lies between every process and the Git host."""

    stalls: bool = False
    flaps: bool = False
    unreadable: bool = False
    gone: bool = False
    """The host has no such branch, for us; who commits meanwhile is seen when it is back."""
    old: str = ""
    """The host answers with this commit, whatever was pushed since."""
    looks: int = 0
    met: int = 0

    def calm(self) -> None:
        """Be well again."""
        self.stalls = self.flaps = self.unreadable = self.gone = False
        self.old = ""


class FarRepository(FrozenRepository):
    """A repository at the other end of a line."""

    def __init__(self, host: MemoryHost, line: Line) -> None:
        super().__init__(host)
        self._far = host
        self._line = line

    async def fetch(self) -> Head:
        """Fetch over the line."""
        line = self._line
        line.looks += 1
        if line.stalls:
            line.met += 1
            await asyncio.sleep(DEADLINE_SECONDS)
            raise Unavailable("Git did not finish 'fetch' within 60 s and was ended")
        if line.flaps and line.looks % 3:
            line.met += 1
            raise Unavailable("the connection was cut")
        if line.gone:
            line.met += 1
            raise Misconfigured(f"there is no branch {self._branch!r}: name one that is")
        try:
            head = await super().fetch()
        except Exception:
            line.met += 1
            raise
        if line.old and head.commit != line.old:
            line.met += 1
            self._tip = line.old
            return replace(head, commit=line.old)
        return head

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push over the line."""
        if self._line.gone:
            self._line.met += 1
            raise Misconfigured(f"there is no branch {change.branch!r}: name one that is")
        return await super().push(change, commit)

    async def tree(self, revision: str) -> Tree:
        """Read over the line."""
        if self._line.unreadable:
            self._line.met += 1
            raise Unavailable("the pack is cut off; it is fetched again")
        return await super().tree(revision)
