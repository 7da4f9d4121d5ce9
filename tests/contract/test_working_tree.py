"""A push into the checkout of a person, as `run --repo .` makes it: refused, with a way out."""

import subprocess
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import Denied
from tests.contract.pushes import START, change

SETTING = "git config receive.denyCurrentBranch updateInstead"


def _git(folder: Path, *words: str) -> str:
    told = ("-c", "user.name=Ada", "-c", "user.email=ada@studio.example", "-C", str(folder))
    done = subprocess.run(["git", *told, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _checkout(folder: Path) -> str:
    """Make a repository with its files, main checked out; return its commit."""
    for name, text in START.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    _git(folder, "init", "--quiet", "-b", "main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", "Start")
    return _git(folder, "rev-parse", "HEAD")


async def test_a_branch_that_is_checked_out_takes_commits_once_its_owner_lets_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "my-fleet"
    base = _checkout(folder)
    repository = Mirror(Source(f"file://{folder}", "main"), str(tmp_path / "cache"))
    try:
        await repository.fetch()
        with pytest.raises(Denied) as refused:
            await repository.push(change(base))
        assert "checked out" in str(refused.value)
        assert SETTING in str(refused.value)
        assert "writeBack: {branch: counts}" in str(refused.value)

        _git(folder, *SETTING.split()[1:])
        pushed = await repository.push(change(base))
        assert _git(folder, "rev-parse", "HEAD") == pushed.commit
        assert (folder / "rooms" / "arena.yaml").read_text() == "replicas: 5\n"

        (folder / "rooms" / "arena.yaml").write_text("replicas: 7\n")
        with pytest.raises(Denied, match="commit or stash"):
            await repository.push(change(pushed.commit, {"rooms/arena.yaml": b"replicas: 6\n"}))
        assert (folder / "rooms" / "arena.yaml").read_text() == "replicas: 7\n"
    finally:
        await repository.close()
