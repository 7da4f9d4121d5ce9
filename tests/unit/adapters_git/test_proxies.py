"""Git through the proxy of the environment: asked or passed by, and told without its password."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.adapters.git.source import Source
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from tests.gitservers.http import HttpGitServer
from tests.unit.adapters_git.test_access import fetched, started
from tests.unit.adapters_kubernetes.connect_proxy import ConnectProxy, connect_proxy

TOKEN = "t0ken-of-the-host"
PASSWORD = "p@ss:w/rd"
ESCAPED = "p%40ss%3Aw%2Frd"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HttpGitServer]:
    with HttpGitServer(tmp_path / "srv", user="bot", password=TOKEN) as server:
        yield server


def source_of(host: HttpGitServer, folder: Path) -> Source:
    token = folder / "token"
    token.write_text(f"{TOKEN}\n")
    return Source(
        host.url("fleet.git"),
        username="bot",
        token_file=str(token),
        certificate_authority_file=str(host.authority_file),
    )


def with_login(proxy: ConnectProxy, login: str) -> str:
    return proxy.url.replace("http://", f"http://{login}@")


async def test_the_proxy_is_really_asked_and_no_proxy_really_passes_it_by(
    tmp_path: Path, host: HttpGitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, commit = started(tmp_path)
    source = source_of(host, tmp_path)
    where = host.url("fleet.git").removeprefix("https://").partition("/")[0]
    async with connect_proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert await fetched(source, tmp_path / "cache") == commit
        assert set(proxy.asked) == {f"CONNECT {where}"}
        proxy.asked.clear()
        monkeypatch.setenv("NO_PROXY", "other.test,127.0.0.1")
        assert await fetched(source, tmp_path / "cache") == commit
        assert proxy.asked == []


@pytest.mark.long
async def test_a_proxy_that_wants_a_login_gets_its_own_and_never_the_token(
    tmp_path: Path, host: HttpGitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, commit = started(tmp_path)
    source = source_of(host, tmp_path)
    async with connect_proxy(login=f"ops:{PASSWORD}") as proxy:
        monkeypatch.setenv("HTTPS_PROXY", with_login(proxy, f"ops:{ESCAPED}"))
        assert await fetched(source, tmp_path / "cache") == commit
        assert set(proxy.logins) == {f"ops:{PASSWORD}"}
        proxy.logins.clear()
        # Git asks our helper for what the proxy's address leaves out.
        for login in ("ops", "bot"):
            monkeypatch.setenv("HTTPS_PROXY", with_login(proxy, login))
            with pytest.raises(PortError):
                await fetched(source, tmp_path / "cache")
        assert not [each for each in proxy.logins if TOKEN in each]


@pytest.mark.parametrize("status", [407, 403])
async def test_a_proxy_that_lets_nobody_through_is_denied_and_named(
    tmp_path: Path, host: HttpGitServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    started(tmp_path)
    source = source_of(host, tmp_path)
    login = "ops:right" if status == 407 else ""
    async with connect_proxy(login=login, status=status) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", with_login(proxy, f"ops:{ESCAPED}"))
        with pytest.raises(Denied, match="the proxy does not let us through") as caught:
            await fetched(source, tmp_path / "cache")
    assert "HTTPS_PROXY" in str(caught.value)
    assert not [each for each in (PASSWORD, ESCAPED, TOKEN) if each in str(caught.value)]


async def test_a_proxy_that_is_away_is_unavailable_and_named(
    tmp_path: Path, host: HttpGitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, commit = started(tmp_path)
    source = source_of(host, tmp_path)
    async with connect_proxy() as proxy:
        gone = with_login(proxy, f"ops:{ESCAPED}")
    for address in (gone, f"http://ops:{ESCAPED}@proxy.invalid:3128"):
        monkeypatch.setenv("HTTPS_PROXY", address)
        with pytest.raises(Unavailable) as caught:
            await fetched(source, tmp_path / "cache")
        assert not [each for each in (PASSWORD, ESCAPED) if each in str(caught.value)]
    assert "HTTPS_PROXY" in str(caught.value)
    monkeypatch.delenv("HTTPS_PROXY")
    assert await fetched(source, tmp_path / "cache") == commit


@pytest.mark.long
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
@pytest.mark.parametrize(
    "address",
    [
        pytest.param(f"ftp://ops:{ESCAPED}@proxy.test:3128", id="another scheme"),
        pytest.param(f"ops:{ESCAPED}@proxy.test:port", id="a port that is none"),
        pytest.param(f"http://ops:{ESCAPED}@", id="no host"),
        pytest.param(f"http://ops:{PASSWORD}@proxy.test:3128", id="a slash that is not escaped"),
    ],
)
async def test_what_is_no_proxy_is_named_by_its_variable_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(name, address)
    with pytest.raises(Misconfigured, match=f"{name} is no proxy that can be used") as caught:
        await fetched(Source("https://127.0.0.1:1/fleet.git"), tmp_path / "cache")
    assert not [each for each in (PASSWORD, ESCAPED, "ops") if each in str(caught.value)]


async def test_a_proxy_without_its_scheme_is_one_of_http(
    tmp_path: Path, host: HttpGitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, commit = started(tmp_path)
    async with connect_proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.removeprefix("http://"))
        assert await fetched(source_of(host, tmp_path), tmp_path / "cache") == commit
        assert proxy.asked


async def test_a_proxy_is_nothing_to_who_reads_a_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, commit = started(tmp_path)
    monkeypatch.setenv("HTTPS_PROXY", "no proxy: at all")
    source = Source(f"file://{repository.path}")
    assert await fetched(source, tmp_path / "cache") == commit
