"""The collections' paths /create and /delete, with processes and real git: commits, for who may."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from reconciler.model import labels
from tests.canaries.places import canary
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import spec

pytestmark = pytest.mark.long

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {}\n"
TOKEN = canary("admin token", "director")
ADMINS = f"""\
- name: match-director
  sha256: {hashlib.sha256(TOKEN.encode()).hexdigest()}
  schedulers: [openarena]
  verbs: [commit]
"""
POD = {"containers": [{"name": "game", "image": "registry.example/openarena:1"}]}
COLLECTION = {"metadata": {"name": "openarena"}, "spec": {"replicas": 2, "template": POD}}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Fleet]:
    with fleet(tmp_path) as opened:
        opened.commit(gamekeeper=CONFIG, schedulers__duel=spec("duel", 1))
        yield opened


def ask(method: str, url: str, body: object = None) -> tuple[int, str]:
    """Ask as the original's clients do; an answer that says no is one, too."""
    sent = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, sent, method=method), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as no:
        return no.code, no.read().decode()
    except OSError as error:
        return 0, str(error)


def newest(made: Fleet) -> str:
    """The message of the newest commit."""
    words = ["git", "-C", str(made.bare), "log", "-1", "--format=%B", "main"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_a_fleet_is_made_and_removed_by_commits_that_name_who_asked(
    made: Fleet, tmp_path: Path
) -> None:
    (admins := tmp_path / "admins.yaml").write_text(ADMINS)
    address = free_address()
    flags = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
    made.start_loop(
        "cache", *flags, "--rooms-listen", address, "--rooms-admin-tokens-file", str(admins)
    )
    until("one room", lambda: len(made.pods("duel")) == 1, 60.0)
    url = f"http://{address}"
    assert ask("POST", f"{url}/create?code=wrong", COLLECTION)[0] == 403
    other = {**COLLECTION, "metadata": {"name": "another"}}
    assert ask("POST", f"{url}/create?code={TOKEN}", other)[0] == 403, "out of the token's scope"
    status, said = ask("POST", f"{url}/create?code={TOKEN}", COLLECTION)
    assert (status, said.splitlines()[0]) == (
        200,
        "DedicatedGameServerCollection openarena was created",
    )
    assert newest(made).startswith("Make Fleet openarena\n\nRequested-by: match-director\n")
    assert TOKEN not in newest(made)
    until("two servers", lambda: len(made.pods("openarena")) == 2, 60.0)
    status, said = ask("GET", f"{url}/delete?name=openarena&code={TOKEN}")
    assert (status, said.splitlines()[0]) == (200, "openarena was deleted")
    assert newest(made).startswith("Remove Fleet openarena\n")

    def leave() -> bool:
        # One that was ready and never spoke may have players: it stays to its end.
        told = [pod["metadata"]["annotations"] for pod in made.pods("openarena")]
        return all(each.get(labels.LEAVING) == "left-git" for each in told)

    until("its servers leave", leave, 60.0)
    assert len(made.pods("duel")) == 1
