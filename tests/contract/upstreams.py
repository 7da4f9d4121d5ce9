"""Git hosts for the contract of `Repository`: one in memory, and real ones over every transport."""

import contextlib
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.ports import WritableRepository
from tests.canaries.places import canary
from tests.gitservers.http import Fault, HttpGitServer
from tests.gitservers.repositories import BareRepository
from tests.gitservers.ssh import SshGitServer, ssh_server

Files = Mapping[str, str | None]
PASSWORD = canary("git password")
FETCH_DEADLINE_SECONDS = 15.0


class Upstream(Protocol):
    """The far side as a test moves it."""

    def commit(self, files: Files, message: str = "change", *, branch: str = "main") -> str: ...

    def force(self, commit: str) -> None: ...

    def rewrite(self, files: Files) -> str: ...

    def delete_branch(self, branch: str = "main") -> None: ...

    def vanish(self) -> None: ...

    def down(self) -> None: ...

    def heal(self) -> None: ...

    def protect(self, sentence: str, branch: str = "main") -> None: ...

    def lose_answer(self) -> None: ...

    def head(self, branch: str = "main") -> str | None: ...

    def forced(self, branch: str = "main") -> int: ...

    def repository(self, branch: str = "main") -> WritableRepository: ...


class InMemory:
    """The memory host."""

    def __init__(self) -> None:
        self.host = MemoryHost()

    def commit(self, files: Files, message: str = "change", *, branch: str = "main") -> str:
        if branch not in self.host.branches and "main" in self.host.branches:
            self.host.branch(branch, self.host.branches["main"])
        return self.host.commit(files, message, branch=branch)

    def force(self, commit: str) -> None:
        self.host.branch("main", commit)

    def rewrite(self, files: Files) -> str:
        return self.host.rewrite(files)

    def delete_branch(self, branch: str = "main") -> None:
        del self.host.branches[branch]

    def vanish(self) -> None:
        self.host.vanish()

    def down(self) -> None:
        self.host.down()

    def heal(self) -> None:
        self.host.heal()

    def protect(self, sentence: str, branch: str = "main") -> None:
        self.host.protected[branch] = sentence

    def lose_answer(self) -> None:
        self.host.lost_answers = 1

    def head(self, branch: str = "main") -> str | None:
        return self.host.branches.get(branch)

    def forced(self, branch: str = "main") -> int:
        return sum(move.forced for move in self.host.moves if move.branch == branch)

    def repository(self, branch: str = "main") -> MemoryRepository:
        return MemoryRepository(self.host, branch)


@dataclass(slots=True)
class OnDisk:
    """A real bare repository, reached by `source`; subclasses say how its host goes down."""

    bare: BareRepository
    source: Source
    cache: Path

    def commit(self, files: Files, message: str = "change", *, branch: str = "main") -> str:
        main = self.bare.head()
        if self.bare.head(branch) is None and main is not None:
            self.bare.reset(main, branch=branch)
        return self.bare.commit(files, message, branch=branch)

    def force(self, commit: str) -> None:
        self.bare.reset(commit)

    def rewrite(self, files: Files) -> str:
        self.bare.git("update-ref", "-d", "refs/heads/main")
        return self.bare.commit(files, "rewrite")

    def delete_branch(self, branch: str = "main") -> None:
        self.bare.git("update-ref", "-d", f"refs/heads/{branch}")

    def vanish(self) -> None:
        shutil.move(self.bare.path, self.bare.path.with_suffix(".gone"))

    def down(self) -> None:
        raise AssertionError("a disk does not go down")

    def heal(self) -> None:
        gone = self.bare.path.with_suffix(".gone")
        if gone.exists():
            shutil.move(gone, self.bare.path)

    def protect(self, sentence: str, branch: str = "main") -> None:
        hooks = self.bare.path / "hooks"
        hooks.mkdir(exist_ok=True)
        (hooks / "sentence").write_text(sentence)
        script = hooks / "pre-receive"
        script.write_text(
            "#!/bin/sh\nwhile read -r old new ref; do\n"
            f'if [ "$ref" = "refs/heads/{branch}" ]; then cat "{hooks}/sentence" >&2; exit 1; fi\n'
            "done\n"
        )
        script.chmod(0o755)

    def lose_answer(self) -> None:
        raise AssertionError("a disk answers")

    def head(self, branch: str = "main") -> str | None:
        return self.bare.head(branch)

    def forced(self, branch: str = "main") -> int:
        return self.bare.forced_updates(branch)

    def repository(self, branch: str = "main") -> Mirror:
        return Mirror(replace(self.source, branch=branch), str(self.cache))


@dataclass(slots=True)
class OverHttp(OnDisk):
    """Served by git http-backend."""

    server: HttpGitServer

    def down(self) -> None:
        self.server.break_with(Fault(status=503))

    def lose_answer(self) -> None:
        self.server.break_with(Fault(cut_after_bytes=0, times=1, only="/git-receive-pack"))

    def heal(self) -> None:
        OnDisk.heal(self)
        self.server.heal()


@dataclass(slots=True)
class OverSsh(OnDisk):
    """Served by sshd."""

    server: SshGitServer
    away: bool = False

    def down(self) -> None:
        self.server.go_away()
        self.away = True

    def heal(self) -> None:
        OnDisk.heal(self)
        if self.away:
            self.server.come_back()
            self.away = False


@contextlib.contextmanager
def upstream(kind: str, folder: Path) -> Iterator[Upstream]:
    """Start a host of a kind: memory, file, http, https or ssh."""
    if kind == "memory":
        yield InMemory()
        return
    root, cache = folder / "srv", folder / "cache"
    bare = BareRepository.create(root, "team/fleet.git")
    bare.git("config", "core.logAllRefUpdates", "always")
    if kind == "file":
        yield OnDisk(bare, _source(f"file://{bare.path}"), cache)
    elif kind == "ssh":
        with ssh_server() as ssh:
            source = _source(
                ssh.url(bare.path),
                ssh_key_file=str(ssh.key_file),
                known_hosts_file=str(ssh.known_hosts_file),
            )
            yield OverSsh(bare, source, cache, ssh)
    else:
        token = folder / "token"
        token.write_text(f"{PASSWORD}\n")
        with HttpGitServer(root, user="bot", password=PASSWORD, tls=kind == "https") as server:
            source = _source(
                server.url("team/fleet.git"),
                username="bot",
                token_file=str(token),
                certificate_authority_file=str(server.authority_file or ""),
            )
            yield OverHttp(bare, source, cache, server)


@contextlib.asynccontextmanager
async def opened(far: Upstream, branch: str = "main") -> AsyncIterator[WritableRepository]:
    """Open a repository for the length of a block."""
    repository = far.repository(branch)
    try:
        yield repository
    finally:
        await repository.close()


def _source(url: str, **settings: Any) -> Source:
    return replace(Source(url, fetch_deadline_seconds=FETCH_DEADLINE_SECONDS), **settings)
