"""A tree that was read, and what it said: what the next one is compared with.

Apart from `rereading`, since each process that reads a tree keeps one, and few read a second.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.model.readings import Reading
from reconciler.model.specs import Permissions
from reconciler.model.trees import Entry, EntryKind, Tree

Print = tuple[EntryKind, str]
"""What tells one content of a path from another."""


@dataclass(frozen=True, slots=True)
class Known:
    """A tree that was read, without its texts, and what it said under these permissions."""

    prints: Mapping[str, Print]
    directories: frozenset[str]
    counts_file: str
    permissions: Permissions
    reading: Reading


def known_of(tree: Tree, permissions: Permissions, reading: Reading) -> Known:
    """Return what the next tree is compared with."""
    prints = prints_of(tree.entries)
    return Known(prints, tree.directories, tree.counts_file, permissions, reading)


def prints_of(entries: Mapping[str, Entry]) -> dict[str, Print]:
    """Return the print of each entry, by its path."""
    return {path: (entry.kind, entry.blob) for path, entry in entries.items()}
