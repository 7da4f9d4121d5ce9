"""A host in memory or on disk, and people whose commits it takes."""

from dataclasses import dataclass
from pathlib import Path

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.ports import Repository
from tests.gitservers import signing
from tests.gitservers.repositories import BareRepository
from tests.gitservers.signing import Person, signers_file

NOW = 1_800_000_000.0


@dataclass(slots=True)
class Far:
    """A host of either kind, and three people of whom two are allowed."""

    folder: Path
    host: MemoryHost | None
    bare: BareRepository | None
    anna: Person
    bea: Person
    carl: Person

    @property
    def signers(self) -> str:
        return signers_file(self.folder, self.anna, self.bea)

    def commit(self, files: dict[str, str], message: str, signer: Person | None = None) -> str:
        if self.host:
            return self.host.commit(files, message, signed_by=signer.public_key if signer else "")
        assert self.bare
        return signing.commit(self.bare, files, message, signer)

    def force(self, commit: str) -> None:
        if self.host:
            self.host.branch("main", commit)
        elif self.bare:
            self.bare.reset(commit)

    def repository(self) -> Repository:
        if self.host:
            return MemoryRepository(self.host)
        assert self.bare
        return Mirror(Source(f"file://{self.bare.path}"), str(self.folder / "cache"))
