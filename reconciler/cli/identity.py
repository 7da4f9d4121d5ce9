"""Whose commits a person makes: as git here knows them."""

import re

from reconciler.cli.failures import Failure
from reconciler.model.pushes import Person

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


def _known_to_git() -> str:
    from git.cmd import Git  # late: help does not need it
    from git.exc import GitCommandNotFound

    # Git would make an address up from the names of user and machine.
    words = ["git", "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]
    try:
        status, said, _ = Git(".").execute(words, with_extended_output=True, with_exceptions=False)
    except GitCommandNotFound:
        raise Failure(
            "git is not installed", fix="Install it, or name yourself: --author"
        ) from None
    if status:
        raise Failure("git does not know whose commit this would be", fix=_FIX)
    return str(said)
