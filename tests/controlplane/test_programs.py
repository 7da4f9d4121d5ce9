"""What the harness says when there is nothing to run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane
from tests.controlplane.programs import PROGRAMS, ControlPlaneAbsent, kubectl, program_path


def test_absent_programs_fail_and_say_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GAMEKEEPER_CACHE", str(tmp_path))
    with pytest.raises(ControlPlaneAbsent, match=r"python -m tests\.controlplane build"):
        ControlPlane().start()


def test_building_without_go_names_it(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "tests.controlplane", "build"]
    settings = {"PATH": str(tmp_path), "GAMEKEEPER_CACHE": str(tmp_path)}
    done = subprocess.run(argv, env=settings, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the `go` command is not on PATH. Install Go 1.26" in done.stderr


def test_an_unknown_kubectl_is_an_error_that_says_what_to_install() -> None:
    with pytest.raises(ControlPlaneAbsent, match=r"kubectl 1\.12 is not here: install"):
        kubectl("1.12")


def test_a_newer_module_is_not_found_in_an_older_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.controlplane.programs.MODULES", tmp_path)
    seen = set()
    for version in ("v1.36.3", "v1.36.4"):
        for program in PROGRAMS:
            folder = tmp_path / program.module
            folder.mkdir(exist_ok=True)
            (folder / "go.mod").write_text(f"require k8s.io/kubernetes {version}\n")
            (folder / "go.sum").write_text("")
        seen |= {program_path(program) for program in PROGRAMS}
    assert len(seen) == 2 * len(PROGRAMS)
