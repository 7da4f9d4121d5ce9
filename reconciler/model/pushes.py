"""What is committed and pushed, and what a log of commits says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

OWN_BRANCHES = "gamekeeper/"
"""How the names of branches begin that are ours to replace."""
MESSAGE_LIMIT_BYTES = 768 * 1024
"""No message of ours is longer: 2,000 steps with a sentence each. So much of one is read back."""


@dataclass(frozen=True, slots=True)
class Person:
    """A name and an address as a commit tells them: anybody can write any there."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What commits are signed with: the path of an SSH private key, or the id of a GPG key."""

    kind: Literal["ssh", "gpg"]
    key: str


@dataclass(frozen=True, slots=True)
class Change:
    """One commit on top of `base` (a commit id of the mirror), and the branch that it is for.

    `files` holds the whole new content of each path, None to remove it; a file keeps its mode.
    `author` is the committer too, both at `at` (Unix seconds, whole). `replaces` is the commit
    that a branch of ours (`gamekeeper/…`) stands at and that is given up for this one; "" demands
    that the branch stands at `base`, so that it only ever moves forward. With `creates` the
    branch must not be there yet.
    """

    base: str
    branch: str
    files: Mapping[str, bytes | None]
    message: str
    author: Person
    at: int
    signing: SigningKey | None = None
    replaces: str = ""
    creates: bool = False


@dataclass(frozen=True, slots=True)
class Pushed:
    """Our commit stands on the branch: `commit` is its id, `head` where the branch was seen.

    They differ where somebody had pushed on top of it before we looked.
    """

    commit: str
    head: str


@dataclass(frozen=True, slots=True)
class Logged:
    """One commit as a log shows it; `at` is when it was committed, Unix seconds.

    `paths` are those that differ from the first parent. Texts are the author's: printable, `body`
    with its line breaks. It is `cut` where a shallow clone ends with it: its parents are not there,
    and none are told.
    """

    commit: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    at: float
    subject: str
    body: str
    paths: tuple[str, ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Lineage:
    """The ids of the commits in base..head, newest first; not all of them where it is `cut`.

    `first_parents` are those that the branch itself went through: what a merge brought is in
    `commits` alone.
    """

    commits: tuple[str, ...]
    first_parents: tuple[str, ...]
    cut: bool = False
