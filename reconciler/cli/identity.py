"""Whose commits a person makes, and what signs them: as git here knows them."""

import os
import re

from reconciler.cli.failures import Failure
from reconciler.model.pushes import Person, SigningKey

_PERSON = re.compile(r"([^<>\n]+?) <([^<>\s]+@[^<>\s]+)>")
_FIX = (
    "Say who you are: git config --global user.name and user.email, or --author "
    '"Ada <ada@example.com>"'
)


def identity_of(author: str) -> Person:
    """Return who `author` names, else whom git would write into a commit made here.

    Raises Failure.
    """
    text = author or _known_to_git()
    found = _PERSON.match(text)
    if found is None or (author and found.end() != len(author)):
        raise Failure(f'"{text}" is no name with an address', fix=_FIX)
    return Person(found[1].strip(), found[2])


def signing_of(author: Person) -> SigningKey | None:
    """Return what git here signs a commit of `author` with, None where it signs none.

    Nobody who told git to sign all they commit wants one without. Raises Failure where git is to
    sign with what cannot be used here.
    """
    if not is_to_sign():
        return None
    form = _setting("gpg.format") or "openpgp"
    if form == "openpgp":
        return SigningKey("gpg", _setting("user.signingKey") or author.email)
    key = _setting("user.signingKey", "path") if form == "ssh" else ""
    if not key or not os.path.isfile(key):
        named = f"user.signingKey is {key!r}" if key else f"gpg.format is {form}"
        raise Failure(
            f"git is to sign your commits (commit.gpgSign), and {named}: that signs nothing here",
            fix="Name the file of an SSH key: git config user.signingKey ~/.ssh/id_ed25519.pub, or "
            "a GPG key. Or revert by hand: gamekeeper undo --dry-run shows the change",
        )
    return SigningKey("ssh", os.path.abspath(key))


def is_to_sign() -> bool:
    """Whether git here signs the commits that are made. Raises Failure."""
    return _setting("commit.gpgSign", "bool") == "true"


def _setting(name: str, kind: str = "") -> str:
    form = [f"--type={kind}"] if kind else []
    status, said = _git("config", "--get", *form, name)
    if status > 1:
        raise Failure(f"git here cannot read {name}", fix=f"Look at: git config --get {name}")
    return said


def _known_to_git() -> str:
    # Git would make an address up from the names of user and machine.
    status, said = _git("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    if status:
        raise Failure("git does not know whose commit this would be", fix=_FIX)
    return said


def _git(*words: str) -> tuple[int, str]:
    from git.cmd import Git  # late: help does not need it
    from git.exc import GitCommandNotFound

    try:
        status, said, _ = Git(".").execute(
            ["git", *words], with_extended_output=True, with_exceptions=False
        )
    except GitCommandNotFound:
        raise Failure("git is not installed", fix="Install it") from None
    return status, str(said)
