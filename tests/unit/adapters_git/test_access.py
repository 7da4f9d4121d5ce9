"""Credentials: read anew, sent to one host only, never in an argv or a message."""

import asyncio
import contextlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.git.access import without_secrets
from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.adapters.git.urls import checked
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.hiding import hidden
from tests.contract.pushes import change
from tests.gitservers.http import Fault, HttpGitServer
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import bare


async def fetched(source: Source, cache: Path) -> str:
    made = Mirror(source, str(cache))
    try:
        return (await made.fetch()).commit
    finally:
        await made.close()


def started(folder: Path) -> tuple[BareRepository, str]:
    repository = bare(folder)
    return repository, repository.commit({"a.yaml": "kind: A\n"}, "Start")


async def test_a_rotated_token_is_used_at_the_next_fetch(tmp_path: Path) -> None:
    _, commit = started(tmp_path)
    token = tmp_path / "token with a space"
    token.write_text("old\nsecond line\n")
    with HttpGitServer(tmp_path / "srv", user="bot", password="new 'q\" $x", tls=False) as server:
        source = Source(server.url("fleet.git"), username="bot", token_file=str(token))
        made = Mirror(source, str(tmp_path / "cache"))
        try:
            with pytest.raises(Denied, match="token or key") as caught:
                await made.fetch()
            token.write_text("new 'q\" $x\n")
            assert (await made.fetch()).commit == commit
        finally:
            await made.close()
    assert "old" not in str(caught.value)


async def seen(url: str) -> None:
    """Wait until a Git is under way to a URL."""
    for _ in range(600):
        if url in command_lines():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"no process was started for {url}")


async def test_a_password_in_the_url_works_and_shows_nowhere(tmp_path: Path) -> None:
    _, commit = started(tmp_path)
    # Of this run alone: all processes of the machine are looked at.
    password = f"s3cret{os.getpid()}"
    with HttpGitServer(tmp_path / "srv", user="bot", password=password, tls=False) as server:
        url = server.url("fleet.git", with_credentials=True)
        assert password in url
        made = Mirror(Source(url), str(tmp_path / "cache"))
        try:
            assert (await made.fetch()).commit == commit
            server.break_with(Fault(stall_seconds=60))
            fetching = asyncio.create_task(made.fetch())
            await seen(server.url("fleet.git"))
            assert password not in command_lines()
        finally:
            await made.close()
            with contextlib.suppress(PortError):
                await fetching
            server.heal()
    assert password not in everything_written(tmp_path / "cache")


@pytest.mark.parametrize(
    ("login", "said", "shown"),
    [
        pytest.param("bot:hunter2", "no hunter2 at next", "no *** at next", id="a password"),
        pytest.param("bot:hunter2", "Basic Ym90Omh1bnRlcjI=", "Basic ***", id="as it is sent"),
        pytest.param("bot:x", "refs/heads/next", "refs/heads/next", id="one that means nothing"),
        pytest.param(
            "an0paqueT0kenOfAHost9:x", "is an0paqueT0kenOfAHost9 old?", "is *** old?",
            id="a token as the name",
        ),
    ],
)  # fmt: skip
def test_what_git_says_is_shown_without_what_it_authenticated_by(
    login: str, said: str, shown: str
) -> None:
    url = f"https://{login}@git.example.com/team/fleet.git"
    assert without_secrets(said, Source(url), checked(url)) == shown


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("no p%4055%2Fw'%20%3C here", id="percent-escaped"),
        pytest.param("no p%4055%2fw%27%20%3c here", id="with small letters"),
        pytest.param("no p%4055%2Fw%27+%3C here", id="as a form"),
        pytest.param("no p@55/w&#x27; &lt; here", id="for a page"),
        pytest.param("no p@55/w'\\'' < here", id="for a shell"),
        pytest.param("no p@55/w' < here", id="plain"),
        pytest.param("no p@55\\/w\\u0027 \\u003c here", id="for a script"),
        pytest.param("no cEA1NS93JyA8 here", id="base64"),
        pytest.param("no Ym90OnBANTUvdycgPA here", id="as it is sent, without its end"),
    ],
)
def test_a_password_is_hidden_however_it_is_written(said: str) -> None:
    url = "https://bot:p%4055%2Fw'%20%3C@git.example.com/team/fleet.git"
    told = without_secrets(said, Source(url), checked(url))
    assert told == "no *** here"


def test_of_a_secret_that_holds_a_shorter_one_nothing_is_left() -> None:
    url = "https://an0paqueT0kenOfAHost9:0paq@git.example.com/team/fleet.git"
    told = without_secrets("is an0paqueT0kenOfAHost9 old?", Source(url), checked(url))
    assert told == "is *** old?"


def test_what_two_secrets_cover_together_is_hidden_whole() -> None:
    assert hidden("an abcdefgh end", ["abcdef", "cdefgh", ""]) == "an *** end"
    assert hidden("an abcdefgh end", []) == "an abcdefgh end"


def test_a_secret_of_signs_costs_a_hosts_words_little() -> None:
    """Each letter of it may be one sign of the text or two: 2 ** 60 ways to read it."""
    signs = "\\" * 60
    assert hidden(f"{signs * 2}!", [f"{signs}?"]) == f"{signs * 2}!"
    assert hidden(f"an {signs} end", [signs]) == "an *** end"


def test_the_password_of_a_proxy_is_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pr0xy%40pass@proxy.test:3128")
    url = "https://git.example.com/team/fleet.git"
    said = "407 for bWU6cHIweHlAcGFzcw==, no pr0xy@pass"
    assert without_secrets(said, Source(url), checked(url)) == "407 for ***, no ***"


def test_a_proxy_that_is_of_no_use_says_nothing_where_none_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://")
    url = "ssh://git@git.example.com/team/fleet.git"
    assert without_secrets("no", Source(url), checked(url)) == "no"


async def test_a_password_that_is_a_word_of_hosts_hides_no_meaning(tmp_path: Path) -> None:
    repository, base = started(tmp_path)
    said = "Unable to create"
    with HttpGitServer(tmp_path / "srv", user="bot", password=said, tls=False) as server:
        url = server.url("fleet.git", with_credentials=True).replace(" ", "%20")
        made = Mirror(Source(url), str(tmp_path / "cache"))
        try:
            await made.fetch()
            written = await made.write(change(base))
            lock = Path(repository.path) / "refs/heads/main.lock"
            lock.touch()
            with pytest.raises(Unavailable, match="could not store") as caught:
                await made.push(change(base), written)
            lock.unlink()
        finally:
            await made.close()
    assert said not in str(caught.value)


async def test_a_password_that_is_a_word_of_gits_hides_no_missing_branch(tmp_path: Path) -> None:
    started(tmp_path)
    password = "find%20remote%20ref"
    with HttpGitServer(
        tmp_path / "srv", user="bot", password="find remote ref", tls=False
    ) as server:
        url = server.url("fleet.git", with_credentials=True).replace("find remote ref", password)
        with pytest.raises(Misconfigured, match="it has main") as caught:
            await fetched(Source(url, branch="absent"), tmp_path / "cache")
    assert "find remote ref" not in str(caught.value)


async def test_no_credentials_at_all_are_denied_without_asking_anybody(tmp_path: Path) -> None:
    started(tmp_path)
    with (
        HttpGitServer(tmp_path / "srv", user="bot", password="s3cret", tls=False) as server,
        pytest.raises(Denied),
    ):
        await fetched(Source(server.url("fleet.git")), tmp_path / "cache")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("", "is empty", id="nothing"),
        pytest.param("\ntoken\n", "is empty", id="an empty first line"),
        pytest.param(" token\n", "spaces or a byte order mark", id="a space"),
        pytest.param("\ufefftoken\n", "spaces or a byte order mark", id="a byte order mark"),
    ],
)
async def test_a_token_file_that_no_host_can_like_is_named(
    tmp_path: Path, content: str, words: str
) -> None:
    token = tmp_path / "token"
    token.write_text(content)
    source = Source("https://127.0.0.1:1/fleet.git", token_file=str(token))
    with pytest.raises(Denied, match=words) as caught:
        await fetched(source, tmp_path / "cache")
    assert str(token) in str(caught.value)


@pytest.mark.parametrize("setting", ["token_file", "certificate_authority_file"])
async def test_a_secret_that_cannot_be_read_is_denied_by_its_path(
    tmp_path: Path, setting: str
) -> None:
    fields: dict[str, Any] = {setting: str(tmp_path / "absent")}
    source = replace(Source("https://127.0.0.1:1/f"), **fields)
    with pytest.raises(Denied, match="absent"):
        await fetched(source, tmp_path / "cache")


@pytest.mark.parametrize("setting", ["ssh_key_file", "known_hosts_file"])
async def test_a_key_that_cannot_be_read_is_denied_by_its_path(
    tmp_path: Path, setting: str
) -> None:
    fields: dict[str, Any] = {setting: str(tmp_path / "absent")}
    source = replace(Source("ssh://git@127.0.0.1:1/f"), **fields)
    with pytest.raises(Denied, match="absent"):
        await fetched(source, tmp_path / "cache")


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, Denied),
        (403, Denied),
        (404, Misconfigured),
        (301, Misconfigured),
        (429, Unavailable),
        (500, Unavailable),
        (502, Unavailable),
        (503, Unavailable),
    ],
)
async def test_what_a_web_host_answers_is_told_apart(
    tmp_path: Path, status: int, kind: type[PortError]
) -> None:
    started(tmp_path)
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        server.break_with(Fault(status=status))
        with pytest.raises(kind):
            await fetched(Source(server.url("fleet.git")), tmp_path / "cache")


async def test_a_port_that_nobody_listens_on_is_unavailable(tmp_path: Path) -> None:
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        url = server.url("fleet.git")
    with pytest.raises(Unavailable):
        await fetched(Source(url), tmp_path / "cache")


async def test_an_answer_that_is_cut_off_is_unavailable_and_the_next_fetch_works(
    tmp_path: Path,
) -> None:
    _, commit = started(tmp_path)
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        made = Mirror(Source(server.url("fleet.git")), str(tmp_path / "cache"))
        try:
            for cut_after_bytes in (0, 20, 100):
                server.break_with(Fault(cut_after_bytes=cut_after_bytes))
                with pytest.raises(Unavailable):
                    await made.fetch()
            server.heal()
            assert (await made.fetch()).commit == commit
        finally:
            await made.close()


async def test_git_variables_and_configuration_of_our_process_do_not_reach_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, commit = started(tmp_path)
    marker = tmp_path / "ran"
    configuration = tmp_path / "gitconfig"
    configuration.write_text(
        f'[url "file:///nowhere/"]\n\tinsteadOf = file://\n[core]\n\tsshCommand = touch {marker}\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "url.file:///nowhere/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "file://")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    source = Source(f"file://{repository.path}")
    assert await fetched(source, tmp_path / "cache") == commit
    assert not is_there(marker)
    assert not is_there(tmp_path / "trace")


def command_lines() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return "\n".join(lines)


def everything_written(folder: Path) -> str:
    done = subprocess.run(["grep", "-r", "-a", "", str(folder)], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def is_there(path: Path) -> bool:
    return path.exists()


@pytest.mark.parametrize(
    ("made", "why"), [("nothing", "No such file or directory"), ("a folder", "Is a directory")]
)
async def test_a_file_that_cannot_be_read_is_told_with_the_systems_own_reason(
    tmp_path: Path, made: str, why: str
) -> None:
    key = tmp_path / "key"
    if made == "a folder":
        key.mkdir()
    source = Source("ssh://git@127.0.0.1:9/fleet.git", ssh_key_file=str(key))
    with pytest.raises(Denied) as refused:
        await fetched(source, tmp_path / "cache")
    assert f"the SSH key file {key} cannot be read ({why}): mount it" in str(refused.value)
