"""Whose word commits are: what an operator asks of their signatures, and what was found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SigningRules:
    """Who must have signed what is to act: every commit where it is `strict`, else the head.

    `signers_file` is an allowed_signers file of OpenSSH, `keys_file` holds OpenPGP keys; either
    may be "".
    """

    strict: bool
    signers_file: str = ""
    keys_file: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """What leads to `tip` and to none of the `known`; `ours` are the ids of our own commits.

    Where nothing is `known` the tip alone is looked at: it is the first that is ever accepted.
    """

    tip: str
    known: tuple[str, ...] = ()
    ours: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A commit that no allowed key signed. `problem` completes the sentence "the commit is".

    One that is `signed` carries a signature all the same.
    """

    commit: str
    problem: str
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """What the commits that lead to `tip` were found to be. `by` says whose word the tip is.

    `unsigned` are the newest commits that nobody vouches for. With `cut` there are more than are
    looked at.
    """

    tip: str
    by: str = ""
    unsigned: tuple[Unsigned, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Vouched:
    """Whose word a head is. While there is a `problem` nothing of it acts, or is even read.

    `by` completes "the head is", and is "" where nobody asks. `since` is the accepted commit that
    it was looked at from. `change_hash` is what to approve, `approvals` the names of those that
    let it through.
    """

    by: str = ""
    problem: str = ""
    change_hash: str = ""
    since: str = ""
    approvals: frozenset[str] = frozenset()


NOBODY_ASKS = Vouched()
