"""A mirror on a disk that becomes full: the program of `test_full_disk`, in its own namespace.

Its disks are in memory (tmpfs), each a little larger than the last, in KiB or in files. On each of
them somebody fetches, commits and pushes; then the disk is made large, and the same mirror does
what it could not.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import PortError
from tests.contract.pushes import change
from tests.gitservers.repositories import git_environment

LARGE = {"size": "64m", "nr_inodes": "100k"}
MOST_TRIES = 3
ENOUGH = 3
"""On so many disks, each larger than the last, nothing is in the way: larger ones are not tried."""


async def main() -> None:
    """Read what is asked from the input, and print how each disk went."""
    asked = json.load(sys.stdin)
    disk = Disk(Path(asked["disk"]), Path(asked["kept"]) if asked["kept"] else None, asked["unit"])
    host, found = Path(asked["host"]), list[dict[str, Any]]()
    left = 0
    while len(found) < ENOUGH or any(each["said"] for each in found[-ENOUGH:]):
        left += asked["step"]
        _git(host, "update-ref", "refs/heads/main", asked["head"])
        disk.begin(left)
        mirror = Mirror(Source(f"file://{host}"), str(disk.folder))
        try:
            said = await _landed(mirror, asked["file"], asked["text"])
            stood = _git(host, "rev-list", "--count", f"{asked['head']}..main")
            disk.grow()
            later, tries = said, 0
            while later and tries < MOST_TRIES:
                tries += 1
                later = await _landed(mirror, asked["file"], asked["text"])
        finally:
            await mirror.close()
        found.append({"left": left, "said": said, "stood": stood, "later": later, "tries": tries})
        found[-1]["authors"] = _git(host, "log", "--format=%an", f"{asked['head']}..main")
        found[-1]["text"] = _git(host, "show", f"main:{asked['file']}")
        found[-1]["sound"] = [_is_sound(each) for each in sorted(disk.folder.glob("*.git"))]
        disk.end()
    print(json.dumps(found))


async def _landed(mirror: Mirror, file: str, text: str) -> str:
    """Put a text into a file on the host, unless it stands there; return what was in the way."""
    try:
        head = (await mirror.fetch()).commit
        there = await mirror.blob(head, file)
        if there != text.encode():
            edit = change(head, {file: text.encode()})
            await mirror.push(edit, await mirror.write(edit))
    except PortError as error:
        return f"{type(error).__name__}: {error}"
    return ""


class Disk:
    """A disk in memory, with room for `left` of a unit (`size` in KiB, or `nr_inodes`)."""

    def __init__(self, folder: Path, kept: Path | None, unit: str) -> None:
        self.folder = folder
        self._kept = kept
        self._unit = unit

    def begin(self, left: int) -> None:
        """Mount it, with what was kept on it."""
        self._mount(LARGE)
        if self._kept is not None:
            shutil.copytree(self._kept, self.folder, dirs_exist_ok=True)
        now = os.statvfs(self.folder)
        used = {
            "size": (now.f_blocks - now.f_bfree) * now.f_frsize // 1024,
            "nr_inodes": now.f_files - now.f_ffree,
        }[self._unit]
        full = str(used + left) + ("k" if self._unit == "size" else "")
        self._mount({**LARGE, self._unit: full}, "remount")

    def grow(self) -> None:
        """Make it large."""
        self._mount(LARGE, "remount")

    def end(self) -> None:
        """Take it away."""
        subprocess.run(["umount", "--lazy", self.folder], check=True)

    def _mount(self, options: dict[str, str], *more: str) -> None:
        text = ",".join([*more, *(f"{name}={value}" for name, value in options.items())])
        argv: list[Any] = ["mount", "-t", "tmpfs", "-o", text, "tmpfs", self.folder]
        subprocess.run(argv, check=True, capture_output=True)


def _git(repository: Path, *words: str) -> str:
    argv = ["git", f"--git-dir={repository}", *words]
    done = subprocess.run(argv, check=True, env=git_environment(), capture_output=True, text=True)
    return done.stdout.strip()


def _is_sound(mirror: Path) -> bool:
    argv = ["git", f"--git-dir={mirror}", "fsck", "--strict"]
    return not subprocess.run(argv, env=git_environment(), capture_output=True).returncode


if __name__ == "__main__":
    asyncio.run(main())
