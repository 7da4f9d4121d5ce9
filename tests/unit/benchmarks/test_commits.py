"""Who doubts a figure fetches the program that it is of: each named commit is in the history."""

import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from benchmarks.results import PAGE

ROOT = PAGE.parents[1]
CAMPAIGN = PAGE.with_name("campaign.jsonl")
SQUASHED = frozenset({"24e5d9c", "644630c", "9a3f2da", "b47668a", "bf03f77", "f9818f5"})
"""They were squashed before they came here, and their sections say into which; none is added.

Each is struck off when its section is measured again.
"""
NAMED = re.compile(r"\bcommit ([0-9a-f]{7,40})\b(?:, squashed into ([0-9a-f]{7,40})\b)?")


def _named() -> Iterator[str]:
    """Every commit that a page names, and that of each piece of the campaign."""
    for page in sorted(PAGE.parent.glob("*.md")):
        for commit, into in NAMED.findall(page.read_text(encoding="utf-8")):
            yield into if commit in SQUASHED and into else commit
    if CAMPAIGN.exists():
        for line in CAMPAIGN.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["commit"]


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    argv = ["git", "-C", str(ROOT), *words]
    return subprocess.run(argv, capture_output=True, check=False, text=True)


def test_each_figure_is_of_a_commit_of_this_history() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("there is no history beside this program")
    shallow = _git("rev-parse", "--is-shallow-repository")
    assert shallow.returncode == 0, shallow.stderr
    if shallow.stdout.strip() == "true":
        pytest.skip("this clone is shallow: older commits are not known here")

    named = set(_named())
    assert named, "no page of benchmarks names its commit any more"
    unknown = [
        each for each in named if _git("merge-base", "--is-ancestor", each, "HEAD").returncode
    ]
    assert not unknown, f"measured at {sorted(unknown)}, not in this history: push, then measure"
