"""Real git clones, fetches and pushes over the test hosts, and sees their faults."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.gitservers.certificates import ToolAbsent
from tests.gitservers.http import Fault, HttpGitServer
from tests.gitservers.install import find_sshd
from tests.gitservers.repositories import BareRepository, git_environment
from tests.gitservers.ssh import ssh_server


@dataclass(frozen=True, slots=True)
class Host:
    """A repository, its address, and what git needs to reach it."""

    repository: BareRepository
    url: str
    environment: dict[str, str]

    def git(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words],
            cwd=folder,
            env=git_environment(**self.environment),
            capture_output=True,
            text=True,
            timeout=120,
        )


def repository(tmp_path: Path) -> BareRepository:
    made = BareRepository.create(tmp_path / "srv", "team/fleet.git")
    made.commit({"gamekeeper.yaml": "kind: Config\n", "rooms/a.yaml": "kind: A\n"}, "Start")
    return made


@pytest.fixture(
    params=[
        "http",
        "http with a password",
        pytest.param("https", marks=pytest.mark.real),
        pytest.param("ssh", marks=pytest.mark.real),
    ]
)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    made = repository(tmp_path)
    if request.param == "ssh":
        with ssh_server() as ssh:
            yield Host(made, ssh.url(made.path), ssh.environment())
        return
    login = {"user": "bot", "password": "s3cret"} if "password" in request.param else {}
    tls = request.param == "https"
    with HttpGitServer(tmp_path / "srv", tls=tls, **login) as server:
        url = server.url("team/fleet.git", with_credentials=True)
        yield Host(made, url, server.environment())
        assert server.problems == []


def served(tmp_path: Path, *, tls: bool) -> Iterator[tuple[HttpGitServer, Host]]:
    made = repository(tmp_path)
    with HttpGitServer(tmp_path / "srv", tls=tls) as server:
        yield server, Host(made, server.url("team/fleet.git"), server.environment())
        assert server.problems == []


@pytest.fixture
def http(tmp_path: Path) -> Iterator[tuple[HttpGitServer, Host]]:
    yield from served(tmp_path, tls=False)


@pytest.fixture
def https(tmp_path: Path) -> Iterator[tuple[HttpGitServer, Host]]:
    yield from served(tmp_path, tls=True)


@pytest.mark.long
def test_a_clone_a_fetch_and_a_push_carry_commits(host: Host, tmp_path: Path) -> None:
    work = tmp_path / "work"
    cloned = host.git("clone", "--quiet", host.url, str(work))
    assert cloned.returncode == 0, cloned.stderr
    assert (work / "rooms/a.yaml").read_text() == "kind: A\n"
    theirs = host.repository.commit({"rooms/a.yaml": None, "rooms/b.yaml": "kind: B\n"}, "Move")
    assert host.git("pull", "--quiet", "--ff-only", folder=work).returncode == 0
    assert host.git("rev-parse", "HEAD", folder=work).stdout.strip() == theirs
    assert not (work / "rooms/a.yaml").exists()
    # More than http.postBuffer, so that git sends the pack in chunks.
    (work / "large").write_bytes(bytes(i * 7919 % 251 for i in range(3_000_000)))
    host.git("config", "core.compression", "0", folder=work)
    host.git("add", "large", folder=work)
    host.git("commit", "--quiet", "-m", "Ours", folder=work)
    pushed = host.git("push", "--quiet", folder=work)
    assert pushed.returncode == 0, pushed.stderr
    ours = host.git("rev-parse", "HEAD", folder=work).stdout.strip()
    assert host.repository.head() == ours != theirs


def test_a_wrong_password_is_refused(tmp_path: Path) -> None:
    made = repository(tmp_path)
    with HttpGitServer(tmp_path / "srv", user="bot", password="s3cret", tls=False) as server:
        host = Host(made, server.url("team/fleet.git"), server.environment())
        wrong = host.url.replace("://", "://bot:guess@")
        for url in (host.url, wrong):
            assert host.git("ls-remote", url).returncode != 0
        assert {seen.status for seen in server.seen} == {401}


@pytest.mark.real
def test_an_untrusted_certificate_is_refused(https: tuple[HttpGitServer, Host]) -> None:
    server, host = https
    refused = Host(host.repository, host.url, {}).git("ls-remote", host.url)
    assert refused.returncode != 0
    assert "certificate" in refused.stderr
    assert server.seen == []


@pytest.mark.parametrize("status", [429, 500, 503, 404])
def test_a_status_to_order_fails_the_asked_number_of_times(
    http: tuple[HttpGitServer, Host], status: int
) -> None:
    server, host = http
    server.break_with(Fault(status=status, retry_after_seconds=7, times=2))
    codes = [host.git("ls-remote", host.url).returncode for _ in range(3)]
    assert codes == [128, 128, 0]
    assert [seen.status for seen in server.seen][:2] == [status, status]


def test_a_stall_lasts_until_healed(http: tuple[HttpGitServer, Host]) -> None:
    server, host = http
    server.break_with(Fault(stall_seconds=120))
    healer = threading.Timer(0.6, server.heal)
    started = time.monotonic()
    healer.start()
    assert host.git("ls-remote", host.url).returncode == 0
    assert 0.5 < time.monotonic() - started < 90
    healer.join()


def test_a_cut_answer_is_an_error_and_no_empty_repository(
    http: tuple[HttpGitServer, Host], tmp_path: Path
) -> None:
    server, host = http
    server.break_with(Fault(cut_after_bytes=40))
    assert host.git("clone", host.url, str(tmp_path / "work")).returncode == 128
    server.heal()
    assert host.git("clone", host.url, str(tmp_path / "work")).returncode == 0


def test_a_host_goes_away_and_comes_back_at_the_same_address(
    http: tuple[HttpGitServer, Host],
) -> None:
    server, host = http
    server.go_away()
    gone = host.git("ls-remote", host.url)
    assert gone.returncode == 128
    assert "connect" in gone.stderr.lower()
    server.come_back()
    assert host.git("ls-remote", host.url).returncode == 0


def test_going_away_cuts_what_is_under_way(http: tuple[HttpGitServer, Host]) -> None:
    server, host = http
    server.break_with(Fault(stall_seconds=120))
    leaver = threading.Timer(0.6, server.go_away)
    leaver.start()
    started = time.monotonic()
    assert host.git("ls-remote", host.url).returncode == 128
    assert time.monotonic() - started < 90
    leaver.join()


@pytest.mark.real
def test_ssh_goes_away_freezes_and_comes_back(tmp_path: Path) -> None:
    made = repository(tmp_path)
    with ssh_server() as server:
        host = Host(made, server.url(made.path), server.environment())
        server.go_away()
        assert "refused" in host.git("ls-remote", host.url).stderr
        server.come_back()
        assert host.git("ls-remote", host.url).returncode == 0
        server.pause()
        thaw = threading.Timer(0.6, server.resume)
        started = time.monotonic()
        thaw.start()
        assert host.git("ls-remote", host.url).returncode == 0
        assert time.monotonic() - started > 0.5
        thaw.join()


@pytest.mark.real
def test_an_unknown_ssh_host_is_refused(tmp_path: Path) -> None:
    made = repository(tmp_path)
    nobody = tmp_path / "known_hosts"
    nobody.touch()
    with ssh_server() as server:
        host = Host(made, server.url(made.path), server.environment(known_hosts=nobody))
        assert "Host key verification failed" in host.git("ls-remote", host.url).stderr


def test_an_absent_sshd_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tests.gitservers.install.FOLDERS", ())
    with pytest.raises(ToolAbsent, match="install Debian package openssh-server"):
        find_sshd()


def test_a_forced_push_moves_the_branch_back(tmp_path: Path) -> None:
    made = repository(tmp_path)
    first = made.head()
    assert first is not None
    second = made.commit({"rooms/c.yaml": "kind: C\n"}, "More")
    assert made.git("rev-parse", "main^") == first != second
    made.reset(first)
    assert made.head() == first
