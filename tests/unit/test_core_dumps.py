"""A kernel that pipes core dumps to a program asks a process for a mark, and no limit."""

import subprocess
import sys

import pytest

ASKED = """
import ctypes
from reconciler.adapters.core_dumps import refuse_core_dumps
ask = ctypes.CDLL(None).prctl
before = ask(3, 0, 0, 0, 0)  # PR_GET_DUMPABLE
refuse_core_dumps()
print(before, ask(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another kernel knows no such mark")
def test_a_process_that_refuses_core_dumps_cannot_be_dumped() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["1", "0"]
