"""Output that is closed, full or read by somebody who leaves; signals; whatever the locale."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import GAMEKEEPER, beside_progress, commit, environment, fleet

SPEC = "schedulers/arena.yaml"


@pytest.mark.long
def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    commit(folder, SPEC, "replicas: 2", "replicas: 500")
    rendering = subprocess.Popen(
        [GAMEKEEPER, "render"], cwd=folder, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert rendering.stdout is not None
    assert rendering.stderr is not None
    assert rendering.stdout.readline() == b"---\n"
    rendering.stdout.close()
    assert beside_progress(rendering.stderr.read().decode()) == ""
    rendering.stderr.close()
    assert rendering.wait(30) == 141


@pytest.mark.long
@pytest.mark.parametrize("words", [["validate"], ["--help"]], ids=["a command", "the entrance"])
def test_a_closed_or_full_output_is_told_without_a_traceback(
    tmp_path: Path, words: list[str]
) -> None:
    folder = fleet(tmp_path / "fleet")
    line = shlex.join([GAMEKEEPER, *words])
    for redirection, code, said in ((">&-", 0, ""), (">/dev/full", 1, "No space left on device")):
        done = subprocess.run(
            ["bash", "-c", f"{line} {redirection}"], cwd=folder, env=environment(),
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.long
def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    spec = folder / SPEC
    spec.write_text(spec.read_text().replace("game: arena", "game: \u00e4rena"))
    done = subprocess.run(
        [GAMEKEEPER, "validate", "-o", "json"], cwd=folder,
        env=environment(PYTHONIOENCODING="ascii"), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "\u00e4rena" in json.loads(done.stdout.decode())["findings"][0]["message"]


def test_ctrl_c_leaves_silently_with_130(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from reconciler.cli import main, init; "
        # A shell that runs us in its background has told us to ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "init.run = lambda *_: os.kill(os.getpid(), signal.SIGINT); "
        "sys.exit(main.main(['init', 'x']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
