"""The first spec that a user gets: git itself merges our number and people's edits around it."""

from pathlib import Path

from reconciler.cli import starter
from reconciler.core.count_edits import with_counts
from reconciler.model.refs import WorkloadKey
from tests.gitservers.repositories import BareRepository

ARENA = WorkloadKey("Scheduler", "arena", "arena")
FILE = "schedulers/arena.yaml"
OF_THE_NUMBER = ("  replicas:", "  # How many rooms there shall be.")
"""The number, and the comment that is about it."""


def by_a_person(text: str) -> str:
    """Return a spec with an edit on every line that says something, but those of the number."""
    return "\n".join(
        f"{line} # edited" if line and not line.startswith(OF_THE_NUMBER) else line
        for line in text.split("\n")
    )


def test_our_number_and_a_persons_edits_of_all_that_stands_around_it_merge(tmp_path: Path) -> None:
    repository, file = BareRepository(tmp_path), tmp_path / FILE
    first = starter.files("arena")[FILE]

    def commit(text: str) -> None:
        file.write_text(text)
        repository.git("add", FILE)
        repository.git("commit", "--quiet", "--message", "change")

    repository.git("init", "--quiet", "--initial-branch=main")
    file.parent.mkdir()
    commit(first)
    repository.git("checkout", "--quiet", "-b", "person")
    theirs = by_a_person(first)
    commit(theirs)
    repository.git("checkout", "--quiet", "main")
    ours, refused = with_counts(FILE, first.encode(), {ARENA: 7})
    commit(ours.decode())

    repository.git("merge", "--quiet", "--no-edit", "person")

    assert refused == ()
    assert theirs.count(" # edited") > 20
    assert file.read_text() == theirs.replace("\n  replicas: 2\n", "\n  replicas: 7\n")
