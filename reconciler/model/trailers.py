"""Commits as far as approving is concerned: what they change, what they approve, who signed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed: the principals of their line in the operator's file, and the key's fingerprint.

    Nothing here is the author that a commit names: anybody can write any name there.
    """

    principals: tuple[str, ...]
    key: str

    @property
    def name(self) -> str:
        """The first principal, as it is shown to people."""
        return self.principals[0]

    def is_same_person(self, other: "Signer") -> bool:
        """Whether two signatures may be of one person: a principal or the key is shared."""
        return self.key == other.key or bool({*self.principals} & {*other.principals})


@dataclass(frozen=True, slots=True)
class SignedCommit:
    """One commit. `approves` holds the change hashes of its trailers.

    `parent` is its only parent, "" of a merge or a root. `changes` is false only where the tree
    is that of the only parent. Without a `signer`, `problem` says why ("not signed").
    """

    commit: str
    parent: str
    changes: bool
    approves: tuple[str, ...] = ()
    signer: Signer | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """The commits between two, newest first; none where `problem` says why that cannot be told."""

    commits: tuple[SignedCommit, ...] = ()
    problem: str = ""
