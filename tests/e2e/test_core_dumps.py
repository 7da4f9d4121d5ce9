"""The memory of `run` holds tokens: no crash of it writes them to a disk."""

import re
import signal
from pathlib import Path

import pytest

from tests.e2e.processes import fleet, until

pytestmark = pytest.mark.long


def test_a_crash_of_the_loop_leaves_no_core_dump(tmp_path: Path) -> None:
    with fleet(tmp_path) as there:
        loop = there.start_loop()
        until("it has begun", lambda: there.log(), 30.0)
        limits = Path(f"/proc/{loop.pid}/limits").read_text()
        loop.send_signal(signal.SIGABRT)
        loop.wait(120.0)

    assert re.search(r"^Max core file size +0 +0 +bytes", limits, re.MULTILINE), limits
    assert [path for path in tmp_path.rglob("core*") if path.is_file()] == []
