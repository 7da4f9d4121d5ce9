"""What watches the workers sees what they open: else nothing opened would tell nothing."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from tests.corpora import used, watched_nursery


def test_a_file_that_a_worker_opens_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told.jsonl"
    monkeypatch.setattr(used, "told_in", lambda pid: told)
    monkeypatch.setattr(watched_nursery, "told_in", lambda pid: told)
    monkeypatch.setattr(used, "score", lambda row, **figures: None)  # no case of the corpus
    monkeypatch.setattr(used, "MOST_KIB", sys.maxsize)  # a fork of a test run is as large as that
    secret = tmp_path / "secret"
    secret.write_text("hunter2", encoding="utf-8")
    workers = used.Workers()

    _worker(None)
    workers.judge(18)
    _worker(secret)
    with pytest.raises(AssertionError, match=r"opened what is not its: .*secret"):
        workers.judge(18)


def test_a_worker_that_uses_too_much_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told.jsonl"
    monkeypatch.setattr(used, "told_in", lambda pid: told)
    monkeypatch.setattr(used, "score", lambda row, **figures: None)  # no case of the corpus
    workers = used.Workers()

    told.write_text('{"ms": 2500, "kib": 524288, "opened": ""}\n', encoding="utf-8")
    workers.judge(18)
    told.write_text(told.read_text(encoding="utf-8").replace("2500", "2501") * 2, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"too much CPU: .*2501"):
        workers.judge(18)
    with told.open("a", encoding="utf-8") as file:
        file.write('{"ms": 1, "kib": 524289, "opened": ""}\n')
    with pytest.raises(AssertionError, match=r"too much memory: .*524289"):
        workers.judge(18)


def test_of_a_bomb_less_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "told.jsonl"
    monkeypatch.setattr(used, "told_in", lambda pid: told)
    monkeypatch.setattr(used, "score", lambda row, **figures: None)  # no case of the corpus
    workers = used.Workers()

    told.write_text('{"ms": 250, "kib": 1, "opened": ""}\n', encoding="utf-8")
    workers.judge(17, used.MOST_MS_OF_A_BOMB)
    told.write_text('{"ms": 251, "kib": 1, "opened": ""}\n' * 2, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"too much CPU: .*251"):
        workers.judge(17, used.MOST_MS_OF_A_BOMB)


async def test_a_git_that_uses_too_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used, "score", lambda row, **figures: None)  # no case of the corpus
    monkeypatch.setattr(used, "MOST_MS_OF_A_LOOK", 100)
    monkeypatch.setattr(used, "MOST_KIB", 1_000)
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    with used.Gits(16) as gits:
        with gits.look():
            pass
        with pytest.raises(AssertionError, match=r"git used .* ms of CPU in a look"), gits.look():
            await _ran(sys.executable, "-c", burn)
    with pytest.raises(AssertionError, match=r"a git held \d{4,} KiB"):
        gits.judge()


async def test_a_loop_that_others_wait_for_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used, "score", lambda row, **figures: None)  # no case of the corpus
    monkeypatch.setattr(used, "MOST_MS_OF_THE_LOOP", 20)
    with pytest.raises(AssertionError, match="all others waited"), used.Gits(16).look():
        _burn(0.05)


async def _ran(*argv: str) -> None:
    assert await (await asyncio.create_subprocess_exec(*argv)).wait() == 0


def _burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def _worker(opens: Path | None) -> None:
    """Fork a worker under the hook, which opens a file, and await its end as the zygote does."""
    pid = os.fork()
    if pid == 0:
        sys.addaudithook(watched_nursery.hear)
        if opens is not None:
            opens.open(encoding="utf-8").close()
        os._exit(0)
    assert watched_nursery.reaped(pid, 0) == (pid, 0)
