"""What `git ls-tree -r -z -t --long` says, and the limits on what is read."""

from dataclasses import dataclass, field

from reconciler.adapters.git.failures import Damaged
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import EntryKind, Folder, is_read

ENTRIES_LIMIT = 100_000
SIZE_LIMIT_BYTES = 1024 * 1024
LISTING_LIMIT_BYTES = 24 * 1024 * 1024
TOTAL_LIMIT_BYTES = 64 * 1024 * 1024
_KINDS = {"120000": EntryKind.SYMLINK, "160000": EntryKind.SUBMODULE}


_NEVER_A_NAME = (b"", b".", b"..")

Listed = tuple[str, str, str, int, bool]
"""Path, kind, blob, size, readable."""


@dataclass(slots=True)
class Listing:
    """Paths of a tree: (path, kind, blob, size, readable) of specs and links, all directories.

    A name that is no UTF-8 is kept with replacement characters and is not readable; whoever reads
    specs says so of it. Where `folder` says that there is none, all else is empty.
    """

    entries: list[Listed] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    total_bytes: int = 0
    folder: Folder = Folder.THERE

    def add(self, name: bytes, kind: EntryKind, blob: str, size: int) -> None:
        """Take a path in when it is a spec or a link. Raises Misconfigured past the limits."""
        path = name.decode("utf-8", "replace")
        if kind is EntryKind.FILE and not is_read(path):
            return
        readable = kind is EntryKind.FILE and size <= SIZE_LIMIT_BYTES and "\ufffd" not in path
        if readable:
            self.total_bytes += size
        if self.total_bytes > TOTAL_LIMIT_BYTES:
            raise Misconfigured(
                f"the YAML files are more than {TOTAL_LIMIT_BYTES // 1024 // 1024} MiB together: "
                "keep specs in a repository of their own"
            )
        self.entries.append((path, kind.value, blob, size, readable))


def line_of(entry: Listed) -> str:
    """Return an entry as one text: of 100,000, JSON parses texts in 8 ms and lists in 45."""
    path, kind, blob, size, readable = entry
    return f"{kind} {blob} {size} {int(readable)} {path}"


def entry_of(line: str) -> Listed:
    """Return the entry of a line."""
    kind, blob, size, readable, path = line.split(" ", 4)
    return path, kind, blob, int(size), readable == "1"


def check_count(count: int) -> None:
    """Raise Misconfigured when a tree has more paths than we read."""
    if count > ENTRIES_LIMIT:
        raise Misconfigured(
            f"the tree has {count} paths, more than {ENTRIES_LIMIT}: "
            "keep specs in a repository of their own"
        )


def parsed_listing(output: bytes) -> Listing:
    """Parse the output of ls-tree. Raises Misconfigured past the limits, Damaged if broken."""
    listing, seen = Listing(), {b""}
    lines = output.split(b"\0")[:-1]
    check_count(len(lines))
    for line in lines:
        attributes, _, name = line.partition(b"\t")
        words = attributes.decode("ascii", "replace").split()
        if len(words) != 4:
            raise Damaged("a tree cannot be read")
        _refuse_malformed(name, seen)
        seen.add(name)
        mode, what, identity, size = words
        if what == "tree":
            listing.directories.append(name.decode("utf-8", "replace"))
        elif not _is_size(size) and (what == "blob" or size != "-"):
            raise Damaged(f"{what} {identity} is missing")
        else:
            kind = _KINDS.get(mode, EntryKind.FILE)
            listing.add(name, kind, identity, 0 if size == "-" else int(size))
    return listing


def _is_size(text: str) -> bool:
    return text.isdigit() and len(text) <= 20


def _refuse_malformed(name: bytes, seen: set[bytes]) -> None:
    """Raise Misconfigured for an entry that no git makes, and that each reader takes otherwise.

    `seen` holds all paths before it, directories among them, which ls-tree tells before what is
    in them.
    """
    folder, _, last = name.rpartition(b"/")
    twice, inside = name in seen, folder in seen
    if twice or not inside or last in _NEVER_A_NAME or last.lower() == b".git":
        why = "stands there twice" if twice else "is no name that git takes"
        shown = ascii(name.decode("utf-8", "replace"))
        raise Misconfigured(
            f"a tree of this commit was not made by git: {shown} {why}. "
            "Commit again what should be there, with git; `git fsck` names such trees"
        )
