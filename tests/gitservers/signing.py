"""People with real SSH keys, and commits that they sign as `git commit -S` does."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.canaries.keys import write_key
from tests.canaries.places import canary
from tests.gitservers.repositories import BareRepository, git_environment


@dataclass(frozen=True, slots=True)
class Person:
    """A principal with a key."""

    name: str
    key_file: Path

    @classmethod
    def create(cls, folder: Path, name: str) -> Self:
        """Make a person with a fresh key."""
        key_file = folder / f"key-{name}"
        write_key(key_file, canary("signing key", str(key_file)))
        return cls(name, key_file)

    @property
    def public_key(self) -> str:
        """Type and key, as they stand in an allowed_signers file."""
        return self.key_file.with_suffix(".pub").read_text().strip()

    @property
    def line(self) -> str:
        """The person's line of an allowed_signers file."""
        return f"{self.name}@example.test {self.public_key}\n"


def signers_file(folder: Path, *people: Person) -> str:
    """Write an allowed_signers file that allows these people."""
    path = folder / "allowed_signers"
    path.write_text("".join(person.line for person in people))
    return str(path)


def commit(
    bare: BareRepository,
    files: Mapping[str, str | None],
    message: str,
    signer: Person | None = None,
    *,
    when_seconds: int = 1_700_000_000,
    author: str = "A Player",
) -> str:
    """Commit on top of main, signed where a `signer` is given; no files: an empty commit."""
    before = bare.head()
    plain = bare.commit(files, message, when_seconds=when_seconds)
    sign = [] if signer is None else ["-S"]
    parents = [] if before is None else ["-p", before]
    key = "" if signer is None else str(signer.key_file)
    argv = ["git", "-C", str(bare.path), "-c", "gpg.format=ssh", "-c", f"user.signingkey={key}"]
    tree = bare.git("rev-parse", f"{plain}^{{tree}}")
    dates = f"{when_seconds} +0000"
    done = subprocess.run(
        [*argv, "commit-tree", *sign, *parents, tree],
        input=message.encode(),
        capture_output=True,
        check=True,
        env=git_environment(
            GIT_AUTHOR_DATE=dates, GIT_COMMITTER_DATE=dates, GIT_AUTHOR_NAME=author
        ),
    )
    made = done.stdout.decode().strip()
    bare.reset(made)
    return made
