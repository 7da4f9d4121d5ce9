"""Builds the programs of the control plane from Go modules into the cache, once a version."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.controlplane.programs import (
    COMPILE_FLAGS,
    MODULES,
    PROGRAMS,
    ControlPlaneAbsent,
    Program,
    cache_folder,
    link_flags,
    program_path,
)

GO_WANTED = "Go 1.26 or newer"


def missing_programs() -> tuple[Program, ...]:
    """Return the programs that the cache lacks."""
    return tuple(program for program in PROGRAMS if not program_path(program).is_file())


def build_missing(say: Callable[[str], None]) -> None:
    """Build what the cache lacks, in about ten minutes on two cores for everything.

    Raises:
        ControlPlaneAbsent: Go is absent, or a build failed.
    """
    with only_builder("controlplane"):
        missing = missing_programs()
        if not missing:
            say(f"control plane: all {len(PROGRAMS)} programs are in {cache_folder()}")
            return
        go = shutil.which("go")
        if go is None:
            names = ", ".join(program.name for program in missing)
            raise ControlPlaneAbsent(
                f"cannot build {names}: the `go` command is not on PATH. Install {GO_WANTED}"
                " (Debian: package golang-go, when new enough) and run this again"
            )
        for number, program in enumerate(missing, start=1):
            say(f"control plane: building {program.name} ({number} of {len(missing)})")
            started = time.monotonic()
            _build(go, program)
            say(f"control plane: {program.name} built in {time.monotonic() - started:.0f} s")


@contextmanager
def only_builder(what: str) -> Iterator[None]:
    """Wait until nobody else on this machine builds `what` into the cache, and keep them out."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(go: str, program: Program) -> None:
    path = program_path(program)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    argv = [go, "build", "-p", "2", "-trimpath", "-buildvcs=false", COMPILE_FLAGS]
    argv += ["-ldflags", link_flags(program.module), "-o", str(unfinished), program.package]
    nice = shutil.which("nice")
    if nice is not None:
        argv = [nice, "-n", "10", *argv]
    _run(argv, MODULES / program.module, program.name)
    # A half-written program must never be found by `find`.
    unfinished.replace(path)


def _run(argv: list[str], folder: Path, name: str) -> None:
    # A toolchain that Go would fetch by itself is no part of what this machine offers.
    settings = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    done = subprocess.run(
        argv, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise ControlPlaneAbsent(
            f"building {name} failed ({GO_WANTED} is needed):\n{done.stderr.strip()[-2000:]}"
        )
