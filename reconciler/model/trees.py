"""What a repository holds at one commit, as blobs; nothing is ever checked out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

CONFIG_FILE = "gamekeeper.yaml"
"""The file at the root that says what the repository is."""
_YAML_ENDINGS = (".yaml", ".yml")
_TEMPLATE_ENDINGS = (".yaml.j2", ".yml.j2")
PATH_LIMIT_CHARACTERS = 4096
_NO_PATH = re.compile(
    r"(?:^|/)(?:\.{1,2}|\.git)?(?:/|$)|[\x00-\x1f\x7f\\\ud800-\udfff]", re.IGNORECASE
)
"""An empty part, `.`, `..`, `.git`, a backslash, a control character or half a character."""


def is_plain(path: str) -> bool:
    """Tell whether a path names something inside a repository, and is written as Git writes it."""
    return len(path) <= PATH_LIMIT_CHARACTERS and not _NO_PATH.search(path)


def is_yaml(path: str) -> bool:
    """Tell whether a path is one of a YAML file, in whatever letters: only those hold specs."""
    return path.lower().endswith(_YAML_ENDINGS)


def is_template(path: str) -> bool:
    """Tell whether a path is one of a template of an additional object, in whatever letters."""
    return path.lower().endswith(_TEMPLATE_ENDINGS)


def is_read(path: str) -> bool:
    """Tell whether what stands at a path is read at all."""
    return path.lower().endswith((*_YAML_ENDINGS, *_TEMPLATE_ENDINGS))


class EntryKind(StrEnum):
    """What Git says a path is. Only files are read; the others are Findings where specs stand."""

    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


class Folder(StrEnum):
    """What stands where the folder is looked for that is to be read; the top is always there."""

    THERE = "there"
    ABSENT = "absent"
    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree. `blob` is the object id, equal for equal content.

    `text` holds the bytes of spec files; it is None where the file was not asked for or is
    larger than `size_limit_bytes` of the reader (`size` then says how large).
    """

    kind: EntryKind
    blob: str
    size: int
    text: bytes | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """A complete read of one commit (or of a working tree: then `commit` is empty).

    `entries` has every path that `is_read`, by its path from the root, with `/`. `directories` are
    all directories, so that a vanished one can be told from an emptied one. `truncated` is never
    true: a reader that cannot read everything raises. `counts_file` is the path in `entries` of
    the file of another branch whose counts lie over this one's; it begins with a slash, as no
    path of Git does.

    The root is `path`, the folder of the repository that is read, "" for its top. Where `folder`
    says that there is none, nothing was read, and that is not the same as an empty one.
    """

    commit: str
    entries: Mapping[str, Entry]
    directories: frozenset[str] = frozenset()
    parents: tuple[str, ...] = field(default=())
    counts_file: str = ""
    path: str = ""
    folder: Folder = Folder.THERE


class Relation(StrEnum):
    """How a new head stands to an older commit."""

    SAME = "same"
    FORWARD = "forward"
    DIVERGED = "diverged"
    UNKNOWN = "unknown"
    """The older commit is not in the repository any more."""


NOT_FORWARD = (Relation.DIVERGED, Relation.UNKNOWN)
"""The branch lacks the older commit: it was force-pushed, or it is shown by a host that lags."""


@dataclass(frozen=True, slots=True)
class Head:
    """The tracked branch's newest commit. `committed_at` is Unix seconds, `subject` one line."""

    commit: str
    branch: str
    author: str
    subject: str
    committed_at: float


@dataclass(frozen=True, slots=True)
class Merged:
    """The tree that merging HEAD into BASE makes, or the paths that conflict."""

    tree: Tree | None
    conflicts: tuple[str, ...] = ()
