"""docs/approvals.md does what it says: its lines are taken from the page and typed in order."""

import subprocess
from pathlib import Path

from tests.e2e.commands import environment
from tests.e2e.test_commands_page import lines_of, script_of

PAGE = Path(__file__).parents[2] / "docs" / "approvals.md"


def test_the_page_comes_true(tmp_path: Path) -> None:
    with subprocess.Popen(
        ["bash", "-u", "-c", script_of(lines_of(PAGE))],
        cwd=tmp_path,
        env=environment(XDG_CACHE_HOME=str(tmp_path / "cache")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as shell:
        said, _ = shell.communicate(timeout=120)
    assert shell.returncode == 0, said
    refused, _, after = said.rpartition("\ncommit ")
    assert "commit with the line Gamekeeper-Approve: bd7085a350de (trailer)" in refused
    assert "gamekeeper approve bd7085a350de" in refused
    assert "bd7085a350de is approved by bea@studio.example in commit" in after
    assert "held:" not in after
