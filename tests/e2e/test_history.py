"""history, undo and explain of a count, with processes and real git, as people meet them."""

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.commands import gamekeeper, git
from tests.e2e.processes import Fleet, fleet, until
from tests.loop.scaling.house import scaled

pytestmark = pytest.mark.long

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {quietSeconds: 1}}\n"
SPEC = scaled(2, [{"replicas": 5}])
"""Five rooms at every time of day; two stand in Git."""
FLAGS = ("--poll-seconds", "1", "--listen", "127.0.0.1:0")


class Stage:
    """A fleet whose loop runs and has committed a count, and a person at a keyboard."""

    def __init__(self, made: Fleet) -> None:
        self.made = made
        self.connection = ("--instance", "main", "--kubeconfig", str(made.kubeconfig))

    def run(self, *words: str, connected: bool = True) -> "subprocess.CompletedProcess[str]":
        given = (*words, *self.connection) if connected else words
        cache = str(self.made.folder / "mine")
        return gamekeeper(*given, cwd=self.made.tree, more={"XDG_CACHE_HOME": cache})

    def json(self, *words: str) -> Any:
        done = self.run(*words, "--output", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def head(self, form: str) -> str:
        return git(self.made.bare, "log", "-1", f"--format={form}", "main")

    def number(self) -> str:
        text = git(self.made.bare, "show", "main:schedulers/arena.yaml")
        return str(re.findall(r"replicas: (\d+)", text)[0])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with fleet(tmp_path_factory.mktemp("history")) as made:
        made.commit(gamekeeper=CONFIG, schedulers__arena=SPEC)
        made.start_loop("cache", *FLAGS, "--commit-author", "Ada <ada@studio.example>")
        here = Stage(made)
        until("five rooms", lambda: len(made.pods("arena")) == 5, 60.0)
        until("a commit", lambda: here.head("%s") == "Scale arena to 5", 60.0)
        # It is in hand until the loop has looked at its own commit.
        words = ("history", "arena", "--repo", str(made.bare))
        until("nothing is in hand", lambda: not here.json(*words)["pending"], 60.0)
        yield here


# One after the other: what is undone in one is undone for the next.


def test_the_past_of_a_number_is_told_by_ids_and_not_by_names(stage: Stage) -> None:
    found = stage.json("history", "arena", "--repo", str(stage.made.bare))
    assert (found["count"], found["acts"], found["pending"]) == (5, 5, [])
    newest, oldest = found["changes"]
    assert (newest["ours"], newest["from"], newest["to"]) == (True, 2, 5)
    assert newest["commit"] == stage.head("%H")
    assert newest["author"]["name"] == "Ada", "the name that it was given, and it proves nothing"
    (step,) = newest["steps"]
    assert (step["from"], step["to"], step["policy"]) == (2, 5, "schedule")
    assert (oldest["ours"], oldest["from"], oldest["to"]) == (False, None, 2)
    text = stage.run("history", "arena", "--repo", str(stage.made.bare)).stdout
    assert re.search(r"2 +5 +Gamekeeper +[0-9a-f]{12} +schedule: ", text)
    assert re.search(r"- +2 +Ada <ada@studio.example> +[0-9a-f]{12} +change", text)


def test_a_checkout_tells_it_without_a_cluster_and_says_what_it_does_not_know(
    stage: Stage,
) -> None:
    stage.made.pull()
    done = stage.run("history", "arena", "--limit", "1", connected=False)
    assert done.returncode == 0, done.stderr
    assert "schedulers/arena.yaml" in done.stdout
    assert re.search(r"2 +5 +Ada <ada@studio.example> ", done.stdout)
    assert "Older changes are not shown" in done.stderr
    assert "is not known: no instance is named" in done.stderr


def test_of_an_instance_that_is_not_there_it_says_that_nothing_is_known(stage: Stage) -> None:
    words = ("history", "arena", "--repo", str(stage.made.bare), "--instance", "other")
    done = stage.run(*words, "--kubeconfig", str(stage.made.kubeconfig), connected=False)
    assert done.returncode == 0, done.stderr
    assert 'is not known: instance "other" has taken nothing in' in done.stderr


def test_a_count_is_explained_by_what_shaped_it(stage: Stage) -> None:
    stage.made.pull()

    def is_ready() -> bool:
        return bool(stage.json("explain", "arena")["count"]["load"]["ready"] == 5)

    until("five are ready", is_ready, 60.0)
    done = stage.run("explain", "arena")
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert re.search(r"in Git +5 by schedulers/arena.yaml:\d+", said)
    assert re.search(r"its load +5 wanted: 5 ready", said)
    assert re.search(r"comes to +5 rooms, not knowing ", said)
    count = stage.json("explain", "arena")["count"]
    assert (count["inGit"], count["intent"], count["decision"]["replicas"]) == (5, None, 5)
    assert count["load"]["ready"] == 5


def test_undo_shows_asks_and_writes_nothing_until_it_is_told_to(stage: Stage) -> None:
    before = stage.head("%H")
    done = stage.run("undo", "arena", "--dry-run")
    assert done.returncode == 2, done.stderr
    assert re.search(r"^- +replicas: 5$", done.stdout, re.MULTILINE)
    assert re.search(r"^\+ +replicas: 2$", done.stdout, re.MULTILINE)
    asked = stage.run("undo", "arena")
    assert asked.returncode == 1
    assert "Pass --yes" in asked.stderr
    assert stage.head("%H") == before


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_a_branch_that_is_named_goes_before_the_one_on_record(stage: Stage, how: str) -> None:
    git(stage.made.bare, "branch", "--force", "before", "main~1")
    words = ("undo", "arena", "--dry-run", *stage.connection)
    flag, more = (
        (("--branch", "before"), {}) if how == "flag" else ((), {"GAMEKEEPER_BRANCH": "before"})
    )
    cache = {"XDG_CACHE_HOME": str(stage.made.folder / "mine")}
    done = gamekeeper(*words, *flag, cwd=stage.made.tree, more={**cache, **more})
    assert done.returncode == 1
    assert "there is nothing to undo: Gamekeeper has not changed Scheduler/arena" in done.stderr


def test_an_undo_is_a_persons_commit_and_holds_the_policy(stage: Stage) -> None:
    ours = stage.head("%H")
    done = stage.run("undo", "arena", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Once the loop has seen it (gamekeeper reconcile), policies wait 15 min" in done.stdout
    assert "signed" not in done.stdout, "nor is what it stands on"
    assert stage.head("%an <%ae>") == "Robin <robin@studio.example>"
    assert stage.head("%s") == f"Undo {ours[:12]}: arena back to 2"
    undone = stage.head("%H")
    until("two rooms", lambda: len(stage.made.pods("arena")) == 2, 60.0)
    assert (stage.number(), stage.head("%H")) == ("2", undone)
    said = stage.run("explain", "arena").stdout
    assert re.search(rf"held +the number was set by hand in {undone[:12]}: no policy until ", said)
    count = stage.json("explain", "arena")["count"]
    assert count["heldBy"] == undone
    assert stage.made.log().count("was decided") == 0, "nothing waited, so nothing was dropped"


def test_what_was_undone_is_not_undone_again_and_its_commit_can_be(stage: Stage) -> None:
    again = stage.run("undo", "arena", "--yes")
    assert again.returncode == 1
    assert "was changed since Gamekeeper did: to 2, by Robin" in again.stderr
    undone = stage.head("%H")
    words = ("undo", undone[:12], "--author", "Kim <kim@studio.example>", "--yes")
    for setting in (("commit.gpgSign", "true"), ("gpg.format", "ssh")):
        git(stage.made.tree, "config", *setting)
    try:
        unsigned = stage.run(*words)
        assert "that signs nothing here" in unsigned.stderr
        assert stage.head("%H") == undone
        key = stage.made.folder / "signing"
        ssh_keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
        subprocess.run(ssh_keygen, check=True)
        git(stage.made.tree, "config", "user.signingKey", str(key))
        back = stage.run(*words)
    finally:
        git(stage.made.tree, "config", "commit.gpgSign", "false")
    assert back.returncode == 0, back.stderr
    assert (stage.number(), stage.head("%an")) == ("5", "Kim")
    allowed = stage.made.folder / "allowed"
    allowed.write_text(f"kim {key.with_suffix('.pub').read_text()}")
    verify = ("-c", f"gpg.ssh.allowedSignersFile={allowed}", "verify-commit", "main")
    git(stage.made.bare, *verify)
    before = stage.head("%H")
    for how, signs in (["--dry-run"], False), ([], False), (["--dry-run"], True):
        git(stage.made.tree, "config", "commit.gpgSign", str(signs).lower())
        shown = stage.run("undo", before[:12], *how)
        warned = f"main stands at {before[:12]}, which is signed, and this commit will not be"
        assert (warned in shown.stdout) is not signs, shown.stderr
        assert ("git config commit.gpgsign true" in shown.stdout) is not signs
    git(stage.made.tree, "config", "commit.gpgSign", "false")
    assert stage.head("%H") == before
    until("five rooms", lambda: len(stage.made.pods("arena")) == 5, 60.0)
    pushed = stage.run("undo", before[:12], "--yes")
    assert "Once the loop has taken it in, unsigned as it is" in pushed.stdout
    assert stage.number() == "2"


def test_what_cannot_be_committed_is_pending_and_says_why(stage: Stage) -> None:
    shared = SPEC.replace("arena", "duel").replace("replicas: 2", "replicas: &n 2")
    stage.made.pull()
    stage.made.commit(schedulers__duel=shared.replace("min: 2", "min: *n"))
    until("five rooms", lambda: len(stage.made.pods("duel")) == 5, 60.0)
    found = stage.json("history", "duel")
    assert (found["count"], found["acts"]) == (2, 5)
    assert [(step["from"], step["to"]) for step in found["pending"]] == [(2, 5)]
    assert "5 acts: not in Git yet, since " in stage.run("history", "duel").stdout
    why = "it cannot be written: line "  # who leads tells it on the Lease
    until("the reason", lambda: why in stage.run("explain", "duel").stdout, 60.0)
    assert "there is nothing to undo" in stage.run("undo", "duel", "--yes").stderr


def test_rooms_that_a_policy_asked_for_say_so(stage: Stage) -> None:
    assert re.search(
        r"5 wanted by schedule \(.*\), where schedulers/arena.yaml:\d+ says 2", log_of(stage)
    )


def log_of(stage: Stage) -> str:
    return (stage.made.folder / "cache.log").read_text(encoding="utf-8")
