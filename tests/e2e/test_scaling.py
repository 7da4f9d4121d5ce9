"""Scaling that lives in Git, with processes and real git: a decision, its commit, and a revert."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.hosted import Busybody, Person, commits_of
from tests.e2e.processes import Fleet, fleet, until
from tests.gitservers.repositories import BareRepository
from tests.gitservers.ssh import ssh_server
from tests.loop.scaling.commits import foreign_bytes
from tests.loop.scaling.counts import count_of
from tests.loop.scaling.house import FILE, scaled

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {quietSeconds: 1}}\n"
SPEC = scaled(2, [{"replicas": 5}])
"""Five rooms at every time of day; two stand in Git."""
PERSON_SECONDS = 1.0
"""What a person who pushes all the time rests between two pushes, on the average."""
FLAGS = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Fleet]:
    with fleet(tmp_path) as opened:
        opened.commit(gamekeeper=CONFIG, schedulers__arena=SPEC)
        yield opened


def log(made: Fleet, form: str) -> list[str]:
    """The commits of the branch, the newest first."""
    words = ["git", "-C", str(made.bare), "log", f"--format={form}", "main"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def text(made: Fleet) -> str:
    """The spec as it stands on the branch."""
    words = ["git", "-C", str(made.bare), "show", "main:schedulers/arena.yaml"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_a_decision_acts_stands_in_git_and_is_undone_by_a_revert(made: Fleet) -> None:
    made.start_loop("cache", *FLAGS, "--commit-author", "Fleet Bot <bot@example.com>")
    until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
    until("a commit", lambda: log(made, "%s")[0] == "Scale arena to 5", 30.0)
    assert log(made, "%an <%ae>")[0] == "Fleet Bot <bot@example.com>"
    assert text(made) == SPEC.replace("replicas: 2", "replicas: 5", 1)
    commits = len(log(made, "%H"))
    made.pull()
    made.commit(schedulers__arena=SPEC)
    until("two rooms", lambda: len(made.pods("arena")) == 2, 60.0)
    until("nothing in hand", lambda: len(log(made, "%H")) == commits + 1, 10.0)
    assert text(made) == SPEC


@pytest.mark.long
def test_a_count_goes_over_ssh_with_the_words_that_the_repository_asks_for(made: Fleet) -> None:
    asked = "writeBack: {quietSeconds: 1, message: 'chore(scale): $summary, $count by $instance'}"
    made.commit(gamekeeper=CONFIG.replace("writeBack: {quietSeconds: 1}", asked))
    with ssh_server() as host:
        keys = ("--git-ssh-key-file", str(host.key_file))
        known = ("--git-known-hosts-file", str(host.known_hosts_file))
        person = Person(made.folder / "person", str(made.bare), {})
        with Busybody(person, [FILE], PERSON_SECONDS) as busybody:
            until("a person's line", lambda: bool(busybody.lines), 60.0)
            made.start_loop("cache", "--repo", host.url(made.bare), *keys, *known, *FLAGS)
            until("a commit", lambda: count_of(text(made)) == 5, 60.0)
            until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
            put_back(Person(made.folder / "other", str(made.bare), {}))
            until("two rooms, as a person says", lambda: len(made.pods("arena")) == 2, 60.0)
        commits = commits_of(BareRepository(made.bare), "Gamekeeper")
        ours = [commit.message.partition("\n")[0] for commit in commits if commit.ours]
        assert ours == ["chore(scale): Scale arena to 5, 1 by main"]
        assert foreign_bytes(commits) == []
        lines = text(made)
        assert [line for line in busybody.lines if f"{line}\n" not in lines] == []


def put_back(person: Person) -> None:
    """Write the number of before, as a person does."""
    while True:
        before = person.text(FILE).replace("replicas: 5", "replicas: 2", 1)
        if person.push({FILE: before}, "two are enough"):
            return


@pytest.mark.long
def test_without_autoscaling_every_count_is_as_git_says(made: Fleet) -> None:
    made.start_loop("cache", *FLAGS, "--no-autoscaling")
    until("two rooms", lambda: len(made.pods("arena")) == 2, 60.0)
    time.sleep(3.0)  # several looks
    assert len(made.pods("arena")) == 2
    assert log(made, "%s") == ["change"]
