"""Changes on their way to the child, and entries of logs on their way back."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from reconciler.adapters.git.urls import check_branch
from reconciler.model.errors import Misconfigured
from reconciler.model.pushes import OWN_BRANCHES, Change, Logged, Person
from reconciler.model.trees import PATH_LIMIT_CHARACTERS, is_plain

_CONTENT_LIMIT_BYTES = 32 * 1024 * 1024
_NO_NAME = re.compile(r"[\x00-\x1f\x7f<>\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def check_change(change: Change, tracked: str) -> Change:
    """Return a change that may be made at all. Raises Misconfigured.

    Only a branch of ours can be replaced, and never the `tracked` one.
    """
    check_branch(change.branch)
    check_commit(change.base)
    own = change.branch.startswith(OWN_BRANCHES) and change.branch != tracked
    if change.replaces:
        check_commit(change.replaces)
        if not own or change.creates:
            raise Misconfigured(
                f"branch {change.branch!r} is not replaced: only branches {OWN_BRANCHES}… that "
                "are there, and are not the tracked one, may be"
            )
    if change.creates and change.branch == tracked:
        raise Misconfigured(f"the tracked branch {tracked!r} is not made anew by a push")
    _check_words(change)
    for path in change.files:
        if not is_plain(check_path(path)):
            raise Misconfigured(f"{path[:100]!r} is no plain path inside the repository")
    if sum(len(content or b"") for content in change.files.values()) > _CONTENT_LIMIT_BYTES:
        raise Misconfigured("one commit takes 32 MiB at most: split the change")
    return change


def _check_words(change: Change) -> None:
    name, email = change.author.name, change.author.email
    if not name.strip() or not email.strip() or _NO_NAME.search(f"{name}{email}"):
        raise Misconfigured(f"{name!r} <{email}> is no author: give a name and an address")
    if "\0" in change.message or not change.message.strip():
        raise Misconfigured("the commit message is empty or holds a NUL character")
    if change.at < 0:
        raise Misconfigured("a commit cannot be older than 1970")


def check_commit(commit: str) -> str:
    """Return `commit` when it is a whole commit id. Raises Misconfigured."""
    if not _COMMIT.fullmatch(commit):
        raise Misconfigured(f"{commit!r} is no commit id")
    return commit


def check_path(path: str) -> str:
    """Return `path` when it may be asked for. Raises Misconfigured."""
    if not path or len(path) > PATH_LIMIT_CHARACTERS or "\0" in path:
        raise Misconfigured(f"{path[:100]!r} is no path of a repository")
    return path


def told(change: Change) -> tuple[Mapping[str, Any], bytes]:
    """Return a change as JSON, and the contents of its files one after the other."""
    files = [(path, None if text is None else len(text)) for path, text in change.files.items()]
    rest = {
        name: getattr(change, name)
        for name in ("base", "branch", "message", "at", "replaces", "creates")
    }
    signing = change.signing and asdict(change.signing)
    told = {**rest, "files": files, "author": asdict(change.author), "signing": signing}
    return told, b"".join(text for text in change.files.values() if text is not None)


def expected(change: Mapping[str, Any]) -> str:
    """Return the commit that the branch must stand at; "" where it must not be there."""
    if change["creates"]:
        return ""
    return str(change["replaces"] or change["base"])


def logged_of(told: Mapping[str, Any]) -> Logged:
    """Return an entry of a log as it came from the child."""
    people = {name: Person(**told[name]) for name in ("author", "committer")}
    return Logged(
        **{**told, **people, "parents": tuple(told["parents"]), "paths": tuple(told["paths"])}
    )
