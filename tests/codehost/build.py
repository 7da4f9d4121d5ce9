"""Builds a real code host, Gitea, from its Go module into the cache, once a version."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.controlplane.build import only_builder
from tests.controlplane.programs import cache_folder

MODULE = Path(__file__).parent / "modules" / "gitea"
BUILD_COMMAND = "python -m tests.codehost build"
_PACKAGE = "code.gitea.io/gitea"
_TAGS = "sqlite,sqlite_unlock_notify"
_COMPILE_FLAGS = "-gcflags=all=-dwarf=false -l"
"""No tables for a debugger, nothing inlined: a build takes less, and nobody measures Gitea."""
_C_FLAGS = "-O0"
"""SQLite alone is C: it takes a minute to optimise."""
_STATIC = ("templates", "options", "public")
"""What Gitea reads beside its program; the module brings it."""


class CodeHostAbsent(Exception):
    """The code host is not there; the text says how to get it."""


def home() -> Path:
    """Return the cache's folder of this version: the program and its static files."""
    digest = hashlib.sha256()
    for path in sorted(MODULE.glob("*.*")):
        digest.update(path.read_bytes())
    digest.update(f"{_COMPILE_FLAGS} {_C_FLAGS} {_TAGS} {platform.machine()}".encode())
    return cache_folder() / "codehost" / f"gitea-{digest.hexdigest()[:16]}"


def find() -> Path:
    """Return the path of the built program.

    Raises:
        CodeHostAbsent: it has not been built.
    """
    path = home() / "gitea"
    if not path.is_file():
        raise CodeHostAbsent(f"gitea is not built ({path}): run `{BUILD_COMMAND}` (needs Go, gcc)")
    return path


def build_missing(say: Callable[[str], None]) -> None:
    """Build what the cache lacks; on two cores about 4 minutes with an empty Go cache.

    Raises:
        CodeHostAbsent: Go or a C compiler is absent, or the build failed.
    """
    with only_builder("codehost"):
        if (home() / "gitea").is_file():
            say(f"code host: gitea is in {home()}")
            return
        for program in ("go", "gcc"):
            if shutil.which(program) is None:
                raise CodeHostAbsent(
                    f"cannot build gitea: `{program}` is not on PATH. Install Go 1.26.2 or newer "
                    "and a C compiler (Debian: packages golang-go, gcc, libc6-dev) and run it again"
                )
        say("code host: building gitea")
        started = time.monotonic()
        _build()
        say(f"code host: gitea built in {time.monotonic() - started:.0f} s")


def _build() -> None:
    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    _go("mod", "download", _PACKAGE)
    module = Path(_go("list", "-m", "-f", "{{.Dir}}", _PACKAGE).strip())
    for name in _STATIC:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(module / name, folder / name, copy_function=shutil.copyfile)
        # The module cache is read-only, its folders too: the next build could not remove them.
        for path in (folder / name, *(folder / name).rglob("*/")):
            path.chmod(0o755)
    unfinished = folder / "gitea.unfinished"
    argv = ["build", "-p", "2", "-trimpath", "-buildvcs=false", _COMPILE_FLAGS, "-tags", _TAGS]
    _go(*argv, "-ldflags", "-s -w", "-o", str(unfinished), _PACKAGE)
    # A half-written program must never be found by `find`.
    unfinished.replace(folder / "gitea")


def _go(*words: str) -> str:
    # A toolchain that Go would fetch by itself is no part of what this machine offers.
    settings = {"CGO_ENABLED": "1", "CGO_CFLAGS": _C_FLAGS}
    settings |= {"GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    nice = ["nice", "-n", "10"] if shutil.which("nice") else []
    argv = [*nice, "go", *words]
    environment = {**os.environ, **settings}
    done = subprocess.run(argv, cwd=MODULE, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip()[-2000:]
        raise CodeHostAbsent(f"`go {words[0]}` failed for gitea (Go 1.26.2 is needed):\n{said}")
    return done.stdout
