"""A branch that must be signed, over smart HTTP: what people see, and what lets a commit in."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import IDENTITY, Fleet, fleet, until
from tests.gitservers.http import HttpGitServer
from tests.gitservers.signing import Person, signers_file
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

FLAGS = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
PROGRAM = str(Path(sys.executable).with_name("gamekeeper"))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Fleet]:
    with fleet(tmp_path) as opened:
        yield opened


def push(made: Fleet, by: Person | None, *words: str) -> str:
    """Sign the newest commit as its maker would, and push it."""
    key = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={by.key_file}") if by else ()
    sign = ("-S",) if by else ("--no-gpg-sign",)
    amend = ("commit", "--quiet", "--amend", "--allow-empty", "--no-edit", *sign)
    for line in ((*IDENTITY, *key, *amend), ("push", "--quiet", "--force", "origin", "main")):
        subprocess.run(["git", *line], cwd=made.tree, check=True, capture_output=True)
    words = ("git", "rev-parse", "HEAD")
    done = subprocess.run(words, cwd=made.tree, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def gamekeeper(made: Fleet, *words: str) -> str:
    """What a command says."""
    argv = [PROGRAM, *words, "--instance", "main", "--kubeconfig", str(made.kubeconfig)]
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout


def test_what_nobody_signed_waits_and_is_shown_until_it_is_approved_or_signed(
    made: Fleet, tmp_path: Path
) -> None:
    anna = Person.create(tmp_path, "anna")
    made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 2))
    push(made, anna)
    asked = ("--verify-commits", "strict", "--commit-signers", signers_file(tmp_path, anna))
    with HttpGitServer(made.folder, tls=False) as server:
        made.start_loop("cache", "--repo", server.url("fleet.git"), *FLAGS, *asked)
        until("two rooms", lambda: len(made.pods("arena")) == 2, 60.0)
        until("who signed", lambda: "signed by anna@" in gamekeeper(made, "status"), 30.0)

        made.commit(schedulers__arena=spec("arena", 3))
        bad = push(made, None)
        said = f"commit {bad[:12]} of main is not signed"
        until("the hold", lambda: said in gamekeeper(made, "status"), 30.0)
        assert len(made.pods("arena")) == 2
        found = re.search("gamekeeper approve ([0-9a-f]{12})", gamekeeper(made, "status"))
        assert found
        assert "is approved by" in gamekeeper(made, "approve", found[1])
        until("three rooms", lambda: len(made.pods("arena")) == 3, 30.0)

        made.commit(schedulers__arena=spec("arena", 4))
        push(made, anna)
        until("four rooms", lambda: len(made.pods("arena")) == 4, 30.0)
        until("no hold", lambda: "(unsigned)" not in gamekeeper(made, "status"), 30.0)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(["--verify-commits", "head"], "has no keys", id="no keys"),
        pytest.param(["--commit-keys", "k"], "add --verify-commits", id="keys for nothing"),
    ],
)
def test_half_a_setting_is_told_at_the_start(made: Fleet, flags: list[str], said: str) -> None:
    made.commit(gamekeeper=CONFIG)
    loop = made.start_loop("cache", *FLAGS, *flags)
    assert loop.wait(60.0) == 1
    assert said in made.log()
