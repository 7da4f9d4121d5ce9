"""A protected branch, a branch of counts beside it, signed commits; and a push that stalls."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import Fleet, fleet, until
from tests.gitservers.http import Fault, HttpGitServer
from tests.gitservers.openpgp import keyring
from tests.gitservers.signing import Person
from tests.loop.scaling.house import scaled

pytestmark = pytest.mark.long

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {quietSeconds: 1}}\n"
APART = CONFIG.replace("quietSeconds: 1", "quietSeconds: 1, branch: counts")
SPEC = scaled(2, [{"replicas": 5}])
"""Five rooms at every time of day; two stand in Git."""
FLAGS = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
PUSHES = "service=git-receive-pack"
ONLY_PEOPLE = """\
#!/bin/sh
while read -r old new ref; do
  if [ "$ref" = refs/heads/main ] && [ -z "$STUDIO_PERSON" ]; then
    echo "main takes merge requests only" >&2
    exit 1
  fi
done
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Fleet]:
    with fleet(tmp_path) as opened:
        yield opened


def git(made: Fleet, *words: str) -> str:
    """What git says of the repository on the host; nothing where it refuses."""
    words = ("git", "-C", str(made.bare), *words)
    return subprocess.run(words, check=False, capture_output=True, text=True).stdout


def listed(made: Fleet) -> str:
    """The line of the arena on the branch of counts."""
    lines = git(made, "show", "counts:replicas.yaml").splitlines()
    return next((line.strip() for line in lines if "arena:" in line), "")


def test_signed_commits_go_beside_a_protected_branch_and_people_are_heard_on_both(
    made: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUDIO_PERSON", "yes")  # our git gets no such variable
    made.commit(gamekeeper=APART, schedulers__arena=SPEC)
    hook = made.bare / "hooks" / "pre-receive"
    hook.write_text(ONLY_PEOPLE, encoding="utf-8")
    hook.chmod(0o755)
    person = Person.create(tmp_path, "gamekeeper")
    signing = ("--commit-signing", "ssh", "--commit-signing-key", str(person.key_file))
    made.start_loop("cache", *FLAGS, *signing)

    until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
    until("five beside", lambda: listed(made) == "Scheduler/arena: 5", 60.0)
    assert git(made, "log", "--format=%s", "main").split() == ["change"]
    assert git(made, "rev-parse", "counts~1") == git(made, "rev-parse", "main")
    signers = tmp_path / "signers"
    signers.write_text(person.line, encoding="utf-8")
    trusted = ("-c", f"gpg.ssh.allowedSignersFile={signers}")
    assert git(made, *trusted, "log", "-1", "--format=%G?", "counts").strip() == "G"

    made.commit(schedulers__arena=SPEC.replace("replicas: 2", "replicas: 3", 1))
    until("three rooms", lambda: len(made.pods("arena")) == 3, 60.0)
    until("three beside", lambda: listed(made) == "Scheduler/arena: 3", 60.0)


@pytest.mark.real
def test_a_gpg_key_signs_what_is_written_back(made: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    with keyring() as people:
        people.create("gamekeeper")
        key = people.fingerprint("gamekeeper")
        monkeypatch.setenv("GNUPGHOME", str(people.home))
        made.commit(gamekeeper=CONFIG, schedulers__arena=SPEC)
        person = git(made, "rev-parse", "main").strip()
        made.start_loop("cache", *FLAGS, "--commit-signing", "gpg", "--commit-signing-key", key)
        until("a commit", lambda: git(made, "rev-parse", "main~1").strip() == person, 60.0)

        argv = ("git", "-C", str(made.bare), "verify-commit", "--raw", "main")
        said = subprocess.run(argv, check=True, capture_output=True, text=True).stderr
        assert f"VALIDSIG {key}" in said
        assert "replicas: 5" in git(made, "show", "main:schedulers/arena.yaml")


def test_a_push_that_stalls_keeps_no_commit_of_a_person_waiting(made: Fleet) -> None:
    made.commit(gamekeeper=CONFIG, schedulers__arena=SPEC)
    git(made, "config", "http.receivepack", "true")
    with HttpGitServer(made.folder, tls=False) as server:
        stall = Fault(stall_seconds=600.0, only="/git-receive-pack")
        server.break_with(stall)
        made.start_loop("cache", "--repo", server.url("fleet.git"), *FLAGS)
        until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
        until("a push", lambda: any(PUSHES in one.path for one in server.seen), 60.0)
        made.commit(schedulers__arena=SPEC.replace("replicas: 2", "replicas: 3", 1))
        until("three rooms", lambda: len(made.pods("arena")) == 3, 30.0)
        server.heal()
        assert "replicas: 3" in git(made, "show", "main:schedulers/arena.yaml")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(["--commit-signing", "ssh"], "add --commit-signing-key", id="no key"),
        pytest.param(
            ["--commit-signing-key", "k"], "add --commit-signing ssh", id="no way to sign"
        ),
        pytest.param(
            ["--commit-signing", "ssh", "--commit-signing-key", "/none"], "/none", id="no such file"
        ),
        pytest.param(
            ["--commit-signing", "gpg", "--commit-signing-key", "0xZZ"], "fingerprint", id="no id"
        ),
    ],
)
def test_a_key_that_does_not_sign_is_told_at_the_start(
    made: Fleet, flags: list[str], said: str
) -> None:
    made.commit(gamekeeper=CONFIG, schedulers__arena=SPEC)
    loop = made.start_loop("cache", *FLAGS, *flags)
    assert loop.wait(60.0) == 1
    assert said in made.log()
