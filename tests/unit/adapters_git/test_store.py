"""The mirror's disk: packed when there is much, old heads kept, other URLs apart."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from reconciler.adapters.git import store
from reconciler.adapters.git.source import Source
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import Relation
from tests.canaries.places import canary
from tests.unit.adapters_git.repositories import bare


def loose(cache: Path) -> int:
    return len(list(cache.glob("*-0.git/objects/??/*")))


def test_many_small_fetches_are_packed_and_rewritten_heads_survive_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = bare(tmp_path)
    first = repository.commit({"a.yaml": "a"}, "Start")
    old = repository.commit({"a.yaml": "old"}, "Old")
    cache = tmp_path / "cache"
    made = store.Store(Source(f"file://{repository.path}"), str(cache))
    made.fetch()
    repository.reset(first)
    new = repository.commit({"a.yaml": "new"}, "New")
    assert made.fetch()["commit"] == new
    before = loose(cache)
    made.tidy()
    assert loose(cache) == before > 0
    monkeypatch.setattr(store, "_LOOSE_LIMIT", 0)
    made.tidy()
    assert loose(cache) == 0
    assert made.objects().relation(old, new) is Relation.DIVERGED
    assert made.fetch()["commit"] == new


def test_only_so_many_rewritten_heads_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = bare(tmp_path)
    first = repository.commit({"a.yaml": "a"}, "Start", when_seconds=1_700_000_000)
    made = store.Store(Source(f"file://{repository.path}"), str(tmp_path / "cache"))
    heads = []
    for number in range(5):
        repository.reset(first)
        heads.append(
            repository.commit({"a.yaml": f"{number}"}, "x", when_seconds=1_700_000_001 + number)
        )
        made.fetch()
    monkeypatch.setattr(store, "_SEEN_LIMIT", 2)
    made.tidy()
    (directory,) = (tmp_path / "cache").glob("*-0.git")
    kept = sorted(path.name for path in (directory / "refs/gamekeeper/seen").iterdir())
    assert kept == sorted(heads[2:4])


def test_another_url_has_another_mirror(tmp_path: Path) -> None:
    one, other = bare(tmp_path / "one"), bare(tmp_path / "other")
    for repository in (one, other):
        repository.commit({"a.yaml": str(repository.path)}, "Start")
        made = store.Store(Source(f"file://{repository.path}"), str(tmp_path / "cache"))
        listing = made.objects().listing(made.fetch()["commit"])
        assert [entry[0] for entry in listing.entries] == ["a.yaml"]
    assert len(list((tmp_path / "cache").glob("fleet-*-0.git"))) == 2


@pytest.mark.parametrize(
    ("branches", "said"),
    [
        pytest.param(["live", "a"], r"'nope' .*; it has a, live, main\. To do: ", id="some"),
        pytest.param([f"b{n}" for n in range(9)], "it has b0, .*, b7 and 2 more", id="many"),
    ],
)
def test_a_branch_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, branches: list[str], said: str
) -> None:
    repository = bare(tmp_path)
    head = repository.commit({"a.yaml": "a"}, "Start")
    for name in branches:
        (repository.path / "refs/heads" / name).write_text(f"{head}\n")
    source = Source(f"file://{repository.path}", branch="nope")
    with pytest.raises(Misconfigured, match=said):
        store.Store(source, str(tmp_path / "cache")).fetch()


def test_a_token_that_a_host_lists_as_a_branch_is_not_shown(tmp_path: Path) -> None:
    token, repository = canary("git password", "as a branch"), bare(tmp_path)
    head = repository.commit({"a.yaml": "a"}, "Start")
    (repository.path / "refs/heads" / f"x-{token}").write_text(f"{head}\n")
    (tmp_path / "token").write_text(token)
    url, token_file = f"file://{repository.path}", str(tmp_path / "token")
    source = Source(url, branch="nope", token_file=token_file)
    with pytest.raises(Misconfigured, match=r"it has main, x-\*\*\*"):
        store.Store(source, str(tmp_path / "cache")).fetch()


def test_a_repository_without_a_branch_says_so(tmp_path: Path) -> None:
    source = Source(f"file://{bare(tmp_path).path}")
    with pytest.raises(Misconfigured, match="it has no branch yet"):
        store.Store(source, str(tmp_path / "cache")).fetch()


class _Page(BaseHTTPRequestHandler):
    """A web server that shows the same page whatever is asked, as a login does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>log in</html>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_web_page_in_place_of_a_git_host_is_named(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/fleet"
        made = store.Store(Source(url), str(tmp_path / "cache"))
        with pytest.raises(Misconfigured, match="a web page answers there and no Git host") as told:
            made.fetch()
        server.shutdown()
        thread.join()
    assert str(told.value).endswith(
        "To do: check the address, and where it is right push the branch"
    )


def test_a_repository_whose_history_was_cut_off_is_told_and_not_taken_for_one_that_stands_still(
    tmp_path: Path,
) -> None:
    """Git leaves such a branch out of the fetch, and says that all went well."""
    origin = bare(tmp_path)
    origin.commit({"a.yaml": "a"}, "Start")
    host = tmp_path / "host.git"
    origin.git("clone", "--quiet", "--bare", f"file://{origin.path}", str(host))
    made = store.Store(Source(f"file://{host}"), str(tmp_path / "cache"))
    made.fetch()
    for text in ("b", "c"):
        origin.commit({"a.yaml": text}, "More")
    origin.git(f"--git-dir={host}", "fetch", "--quiet", "--depth=1", "origin", "+main:main")
    for fetch in (made.fetch, lambda: made.fetch_into("main", "refs/gamekeeper/tips/0")):
        with pytest.raises(Misconfigured, match=r"shallow clone.*git fetch --unshallow"):
            fetch()
