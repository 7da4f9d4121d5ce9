"""The zygote with real workers: what they inherit, how they end, what outlives what."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.adapters.compiler import workers
from reconciler.adapters.compiler.limits import Limits
from reconciler.adapters.compiler.workers import WorkerLost, hired
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Unavailable

AMPLE = Limits(30.0, 10)


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


def workers_of(zygote: Zygote) -> list[str]:
    return Path(f"/proc/{zygote.pid}/task/{zygote.pid}/children").read_text().split()


def status_of(status: socket.socket) -> dict[str, object]:
    status.settimeout(60)
    told: dict[str, object] = json.loads(status.recv(4096))
    return told


async def until_it_has(zygote: Zygote, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(workers_of(zygote)) != count:
        assert time.monotonic() < deadline, f"{workers_of(zygote)} are its workers"
        await asyncio.sleep(0.01)


def test_a_worker_that_outstays_its_deadline_is_killed_and_named_late(zygote: Zygote) -> None:
    data, status = zygote.hire(Limits(0.2, 5))
    with data, status:
        assert status_of(status) == {"late": True, "signal": 9, "code": 0}


def test_a_worker_that_hears_no_frame_ends_by_itself(zygote: Zygote) -> None:
    data, status = zygote.hire(AMPLE)
    with status:
        data.close()
        assert status_of(status) == {"late": False, "signal": 0, "code": 0}


def test_a_worker_that_hears_nonsense_ends(zygote: Zygote) -> None:
    data, status = zygote.hire(AMPLE)
    with data, status:
        data.sendall(b"\xff" * 64)
        assert status_of(status)["code"] == 4


async def test_a_worker_whose_caller_goes_away_is_killed(zygote: Zygote) -> None:
    data, status = zygote.hire(AMPLE)
    with data:
        await until_it_has(zygote, 1)
        status.close()
        await until_it_has(zygote, 0)


async def test_a_cancelled_caller_leaves_no_worker_behind(zygote: Zygote) -> None:
    async def ask() -> None:
        async with hired(zygote, AMPLE, _silence()) as worker:
            await worker.answer()

    zygote.start()
    asking = asyncio.ensure_future(ask())
    await until_it_has(zygote, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await until_it_has(zygote, 0)


def _silence() -> Iterator[object]:
    yield {"task": "render", "templates": [], "cpu_seconds": 2, "output_bytes": 1}
    while True:
        yield {}


async def test_an_unknown_task_is_our_mistake_and_says_where(zygote: Zygote) -> None:
    async with hired(zygote, AMPLE, [{"task": "dance"}]) as worker:
        with pytest.raises(WorkerLost) as raised:
            await worker.answer()
    assert "KeyError in jobs.py" in str(raised.value.ending)


def test_the_zygote_has_none_of_our_secrets(
    zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAMEKEEPER_TOKEN", "hunter2")
    data, status = zygote.hire(AMPLE)
    data.close()
    status.close()
    assert b"hunter2" not in Path(f"/proc/{zygote.pid}/environ").read_bytes()


def test_a_module_in_the_directory_we_stand_in_is_not_imported(
    zygote: Zygote, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("yaml", "jinja2", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    data, status = zygote.hire(AMPLE)
    with status:
        data.close()
        assert status_of(status)["code"] == 0
    assert not (tmp_path / "ran").exists()


def test_a_closed_zygote_is_gone_with_its_workers(zygote: Zygote) -> None:
    data, status = zygote.hire(AMPLE)
    with data, status:
        pid = zygote.pid
        assert pid is not None
        zygote.close()
        assert zygote.pid is None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        status.settimeout(60)
        assert status.recv(1) == b""


def test_a_second_start_changes_nothing(zygote: Zygote) -> None:
    zygote.start()
    first = zygote.pid
    zygote.start()
    assert zygote.pid == first


def test_a_zygote_whose_parent_was_killed_ends_by_itself() -> None:
    program = (
        "import time\n"
        "from reconciler.adapters.compiler.zygote import Zygote\n"
        "zygote = Zygote()\n"
        "zygote.start()\n"
        "print(zygote.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 60
    while _runs(pid):
        assert time.monotonic() < deadline, "the zygote is still there"
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # an orphan may stay a zombie where nobody reaps


async def test_a_zygote_that_is_stuck_is_replaced(
    zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_GRACE_SECONDS", 0.2)
    zygote.start()
    stuck = zygote.pid
    assert stuck is not None
    os.kill(stuck, signal.SIGSTOP)
    with pytest.raises(Unavailable, match="does not answer"):
        async with hired(zygote, Limits(0.1, 1), [{"task": "render"}]) as worker:
            await worker.answer()
    data, status = zygote.hire(AMPLE)
    data.close()
    with status:
        assert status_of(status)["code"] == 0
    assert zygote.pid != stuck
