"""Repositories for the tests of the mirror, honest and hostile."""

from pathlib import Path

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from tests.gitservers.repositories import BareRepository


def bare(folder: Path) -> BareRepository:
    """Make an empty bare repository."""
    return BareRepository.create(folder / "srv", "fleet.git")


def mirror(
    repository: BareRepository,
    cache: Path,
    deadline_seconds: float = 15.0,
    operations_limit: int = 500,
    beside: Mirror | None = None,
) -> Mirror:
    """Return a mirror of it over file://."""
    source = Source(f"file://{repository.path}", fetch_deadline_seconds=deadline_seconds)
    return Mirror(source, str(cache), operations_limit, beside)


def made_tree(repository: BareRepository, listing: bytes) -> str:
    """Make a tree of the input of `git mktree -z`, whatever is in it."""
    return repository.git("mktree", "-z", "--missing", stdin=listing)


def literal_tree(repository: BareRepository, *entries: tuple[str, bytes, str]) -> str:
    """Make a tree of modes, names and objects byte for byte, though git would make none such."""
    raw = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(known) for mode, name, known in entries
    )
    words = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    return repository.git(*words, stdin=raw)


def literal_commit(repository: BareRepository, raw: bytes) -> str:
    """Make a commit of these bytes, though git would make none such."""
    words = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
    return repository.git(*words, stdin=raw)


def commit_tree(repository: BareRepository, listing: bytes) -> str:
    """Commit a tree given as input of `git mktree -z`, whatever is in it."""
    return commit_of(repository, made_tree(repository, listing))


def commit_of(repository: BareRepository, tree: str) -> str:
    """Commit a tree, whatever is in it."""
    commit = repository.git("commit-tree", tree, "-m", "hostile")
    repository.git("update-ref", "refs/heads/main", commit)
    return commit


def blob(repository: BareRepository, content: bytes) -> str:
    """Store a blob."""
    return repository.git("hash-object", "-w", "--stdin", stdin=content)
