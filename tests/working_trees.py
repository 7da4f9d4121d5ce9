"""Read a folder of the checkout as the tree that Git would give, for examples and cases."""

import hashlib
from pathlib import Path

from reconciler.model.trees import Entry, EntryKind, Tree, is_read


def tree_of(folder: Path) -> Tree:
    """Return the tree of a folder; its commit is empty, as that of a working tree is."""
    entries, directories = {}, set()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            entries[name] = Entry(EntryKind.SYMLINK, name, 0)
        elif path.is_dir():
            directories.add(name)
        elif is_read(name):
            entries[name] = entry_of(path.read_bytes())
    return Tree("", entries, frozenset(directories))


def entry_of(text: bytes) -> Entry:
    """Return the entry of a file with this content."""
    return Entry(EntryKind.FILE, hashlib.sha256(text).hexdigest(), len(text), text)
