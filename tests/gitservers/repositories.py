"""Bare repositories as a Git host keeps them, and commits made in them as if pushed by others."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

AUTHOR = "A Player <player@example.test>"


def git_environment(**extra: str) -> dict[str, str]:
    """Return an environment for git that no configuration of this machine reaches."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    fixed = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "A Player",
        "GIT_AUTHOR_EMAIL": "player@example.test",
        "GIT_COMMITTER_NAME": "A Player",
        "GIT_COMMITTER_EMAIL": "player@example.test",
    }
    return {**kept, **fixed, **extra}


@cache
def _empty(branch: str) -> Path:
    """Make an empty repository, once in a run: what others are copies of."""
    folder = Path(tempfile.mkdtemp(prefix="gamekeeper-empty-"))
    atexit.register(shutil.rmtree, folder)
    made = BareRepository(folder)
    made.git("init", "--quiet", "--bare", f"--initial-branch={branch}")
    made.git("config", "http.receivepack", "true")
    for sample in (folder / "hooks").iterdir():
        sample.unlink()
    return folder


@dataclass(frozen=True, slots=True)
class BareRepository:
    """One bare repository on the server's disk."""

    path: Path

    @classmethod
    def create(cls, root: Path, name: str, *, branch: str = "main") -> Self:
        """Make an empty repository `root/name` whose HEAD is `branch` and that takes pushes."""
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(_empty(branch), path)
        return cls(path)

    def git(self, *words: str, stdin: bytes | None = None) -> str:
        """Run git in the repository and return what it printed, stripped.

        Raises:
            CalledProcessError: git failed.
        """
        argv = ["git", "-C", str(self.path), *words]
        done = subprocess.run(
            argv, input=stdin, capture_output=True, check=True, env=git_environment()
        )
        return done.stdout.decode().strip()

    def commit(
        self,
        files: Mapping[str, str | None],
        message: str,
        *,
        branch: str = "main",
        when_seconds: int = 1_700_000_000,
    ) -> str:
        """Commit on top of `branch` and return the new id; None removes a file or a folder."""
        author = f"{AUTHOR} {when_seconds} +0000"
        ref = f"refs/heads/{branch}"
        text = message.encode()
        lines = [f"commit {ref}\n", f"author {author}\n", f"committer {author}\n"]
        stream = "".join(lines).encode() + b"data %d\n%s\n" % (len(text), text)
        if self.head(branch) is not None:
            stream += f"from {ref}^0\n".encode()
        for path, content in files.items():
            if content is None:
                stream += f"D {path}\n".encode()
            else:
                blob = content.encode()
                stream += f"M 100644 inline {path}\n".encode()
                stream += b"data %d\n%s\n" % (len(blob), blob)
        self.git("fast-import", "--quiet", stdin=stream)
        made = self.head(branch)
        if made is None:
            raise RuntimeError(f"fast-import made no {ref}")
        return made

    def head(self, branch: str = "main") -> str | None:
        """Return the commit of a branch, None while there is no such branch."""
        loose = self.path / "refs" / "heads" / branch
        if loose.is_file():
            return loose.read_text().strip()
        found = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found or None

    def reset(self, revision: str, *, branch: str = "main") -> None:
        """Move a branch, as a forced push does."""
        self.git("update-ref", f"refs/heads/{branch}", revision)

    def forced_updates(self, branch: str = "main") -> int:
        """Count the moves of a branch, by its reflog, that were no fast-forward."""
        log = self.path / "logs" / "refs" / "heads" / branch
        moves = [line.split()[:2] for line in log.read_text().splitlines()]
        return sum(not self._leads_to(old, new) for old, new in moves if set(old) != {"0"})

    def _leads_to(self, old: str, new: str) -> bool:
        argv = ["git", "-C", str(self.path), "merge-base", "--is-ancestor", old, new]
        return subprocess.run(argv, env=git_environment()).returncode == 0
