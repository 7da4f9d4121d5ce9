"""What `demand import` says of files that it cannot use, before it asks any cluster."""

import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reconciler.cli import demand, main

HERE = ("--instance", "main", "--kubeconfig", "nowhere")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("when,how many\n", ":1: the first line must be time,starts", id="no head"),
        pytest.param("time,starts\n1,2\nsoon,3\n", ':3: "soon" is no time', id="a line is wrong"),
        pytest.param("time,starts\n86400,3\n", " says nothing of the last 28 days", id="long ago"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_with_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    file = tmp_path / "starts.csv"
    file.write_text(text)

    assert main.main(["demand", "import", "arena", "--csv", str(file), *HERE]) == 1
    told = capsys.readouterr()
    assert f"{file}{words}" in told.out + told.err


def test_every_mistake_of_a_table_is_told_on_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "starts.csv"
    file.write_text("time,starts\n" + "soon,3\n" * 9)

    assert main.main(["demand", "import", "arena", "--csv", str(file), *HERE]) == 1
    told = capsys.readouterr()
    assert [line.split(": ")[0] for line in told.out.splitlines()] == [
        f"{file}:{line}" for line in range(2, 11)
    ]
    assert f"{file} has 9 mistakes: nothing was imported" in told.err


def test_a_file_that_is_no_text_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "starts.csv"
    file.write_bytes(b"time,starts\n\xff\xfe")

    assert main.main(["demand", "import", "arena", "--csv", str(file), *HERE]) == 1
    assert f"{file}:2 is no UTF-8 text" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "words"),
    [
        pytest.param("--csv", "/dev/zero:1: the line is longer than 1000 bytes", id="a table"),
        pytest.param("--prometheus-json", "larger than 4 MiB", id="an answer"),
    ],
)
def test_what_never_ends_is_refused_in_little_memory(way: str, words: str) -> None:
    typed = ["-m", "reconciler.cli.main", "demand", "import", "arena", way, "/dev/zero", *HERE]
    line = f"ulimit -v 1000000; exec {shlex.join([sys.executable, *typed])}"
    ended = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=False, timeout=300
    )

    assert (ended.returncode, words in ended.stderr) == (1, True), ended.stderr[-500:]


def test_a_table_that_is_too_long_is_told_with_the_line_from_which_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demand, "MOST_TABLE_BYTES", 2**20)
    file = tmp_path / "starts.csv"
    file.write_text("time,starts\n" + "1795329900,1\n" * 90_000)

    assert main.main(["demand", "import", "arena", "--csv", str(file), *HERE]) == 1
    told = capsys.readouterr().err
    assert f"{file}:80660: the file is larger than 1 MiB. Only the last 28 days are kept" in told


def test_a_table_may_come_through_a_pipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "starts"
    os.mkfifo(file)
    writer = threading.Thread(target=file.write_text, args=("time,starts\nsoon,1\n",))
    writer.start()

    assert main.main(["demand", "import", "arena", "--csv", str(file), *HERE]) == 1
    writer.join()
    assert f'{file}:2: "soon" is no time' in capsys.readouterr().out


def test_an_import_says_what_to_import(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["demand", "import", "arena", *HERE]) == 1
    assert "--csv FILE or --prometheus-json FILE" in capsys.readouterr().err
