"""A tree that was read, and what it said: what the next one is compared with.

Apart from `rereading`, since each process that reads a tree keeps one, and few read a second.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.model.readings import Reading
from reconciler.model.specs import Permissions
from reconciler.model.trees import Entry, EntryKind, Tree

_Print = tuple[EntryKind, str]


@dataclass(frozen=True, slots=True)
class Known:
    """A tree that was read, without its texts, and what it said under these permissions."""

    prints: Mapping[str, _Print]
    directories: frozenset[str]
    counts_file: str
    permissions: Permissions
    reading: Reading

    def touched(self, tree: Tree) -> frozenset[str]:
        """Return the paths that are new in a tree, gone from it, or of another content."""
        prints = _prints(tree.entries)
        return frozenset(path for path, _ in self.prints.items() ^ prints.items())


def known_of(tree: Tree, permissions: Permissions, reading: Reading) -> Known:
    """Return what the next tree is compared with."""
    prints = _prints(tree.entries)
    return Known(prints, tree.directories, tree.counts_file, permissions, reading)


def _prints(entries: Mapping[str, Entry]) -> dict[str, _Print]:
    return {path: (entry.kind, entry.blob) for path, entry in entries.items()}
