"""The installed command, and repositories to use it on."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

GAMEKEEPER = str(Path(sys.executable).parent / "gamekeeper")


def environment(**more: str) -> dict[str, str]:
    """Return ours, with our own commands first in PATH and no settings of whoever runs the test."""
    mine = {name: text for name, text in os.environ.items() if not name.startswith("GAMEKEEPER_")}
    mine["PATH"] = f"{Path(GAMEKEEPER).parent}{os.pathsep}{mine['PATH']}"
    identity = {
        f"GIT_{role}_{part}": text
        for role in ("AUTHOR", "COMMITTER")
        for part, text in (("NAME", "Robin"), ("EMAIL", "robin@studio.example"))
    }
    return {**mine, **identity, "GIT_CONFIG_GLOBAL": os.devnull, **more}


def gamekeeper(
    *words: str, cwd: Path, more: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    return subprocess.run(
        [GAMEKEEPER, *words],
        cwd=cwd,
        env=environment(**(more or {})),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def beside_progress(said: str) -> str:
    """Leave out what a command tells of how far it is: on a slow machine, after a second."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("reading "))


def git(folder: Path, *words: str) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@cache
def _first_fleet() -> Path:
    """Make a repository with `gamekeeper init`, once in a run: what others are copies of."""
    above = Path(tempfile.mkdtemp(prefix="gamekeeper-fleet-"))
    atexit.register(shutil.rmtree, above)
    done = gamekeeper("init", str(above / "fleet"), cwd=above)
    assert done.returncode == 0, done.stderr
    return above / "fleet"


def fleet(folder: Path) -> Path:
    """Make a repository as `gamekeeper init` does."""
    shutil.copytree(_first_fleet(), folder, symlinks=True)
    git(folder, "update-index", "-q", "--refresh")  # it knows its files by their inodes
    return folder


def commit(folder: Path, path: str, before: str, after: str) -> None:
    """Change a text of a file, and commit it."""
    file = folder / path
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    git(folder, "commit", "-qam", f"{before} becomes {after}")
