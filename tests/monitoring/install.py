"""Finds Prometheus, or brings it where that is possible: `python -m tests.monitoring.install`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.controlplane.build import only_builder
from tests.controlplane.programs import cache_folder
from tests.gitservers.certificates import ToolAbsent

PACKAGE = "prometheus"
PROGRAMS = ("prometheus", "promtool")


def find_programs() -> tuple[Path, Path]:
    """Return the paths of prometheus and promtool: installed ones, or those in the cache.

    Raises:
        ToolAbsent: they are in neither.
    """
    found = [shutil.which(name) or str(_kept(name)) for name in PROGRAMS]
    server, tool = (Path(path) for path in found)
    if not (server.is_file() and tool.is_file()):
        raise ToolAbsent(
            f"Prometheus is not here: install Debian package {PACKAGE}, or run"
            " `python -m tests.monitoring.install`, which only unpacks it into the cache"
        )
    return server, tool


def ensure_programs() -> tuple[Path, Path]:
    """Return their paths, unpacking the Debian package into the cache first where they are absent.

    Nothing is installed: no service starts and no user is made.

    Raises:
        ToolAbsent: they are absent and cannot be brought here.
    """
    with only_builder(PACKAGE):
        try:
            return find_programs()
        except ToolAbsent:
            if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
                raise
        with tempfile.TemporaryDirectory(prefix="gamekeeper-") as name:
            folder = Path(name)
            try:
                _run(folder, "apt-get", "download", PACKAGE)
            except ToolAbsent:
                _run(folder, "apt-get", "update", "-qq")
                _run(folder, "apt-get", "download", PACKAGE)
            (package,) = folder.glob("*.deb")
            _run(folder, "dpkg-deb", "-x", str(package), "unpacked")
            for program in PROGRAMS:
                kept = _kept(program)
                kept.parent.mkdir(parents=True, exist_ok=True)
                unfinished = kept.with_name(f"{program}.unfinished")
                shutil.copy(folder / "unpacked" / "usr" / "bin" / program, unfinished)
                unfinished.rename(kept)
        return find_programs()


def _kept(program: str) -> Path:
    return cache_folder() / "monitoring" / program


def _run(folder: Path, *words: str) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip()[-1000:]
        raise ToolAbsent(f"`{' '.join(words)}` failed, so Prometheus is absent:\n{said}")


if __name__ == "__main__":
    try:
        print(*ensure_programs(), sep="\n")
    except ToolAbsent as absent:
        sys.exit(f"error: {absent}")
