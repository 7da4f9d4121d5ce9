"""Pushing to real hosts that refuse, stall, cut and lie; what they log is looked at."""

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.model.errors import Conflict, Denied, Misconfigured, PortError, Unavailable
from tests.canaries.keys import write_key
from tests.canaries.places import canary
from tests.contract.pushes import START, change
from tests.contract.upstreams import PASSWORD, OnDisk, OverHttp, OverSsh, opened, upstream
from tests.gitservers.http import Fault

pytestmark = pytest.mark.long

ONLY = "/git-receive-pack"
DEADLINE_SECONDS = 1.5


@pytest.fixture(params=["http", pytest.param("https", marks=pytest.mark.real)])
def http(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OverHttp]:
    with upstream(request.param, tmp_path) as host:
        assert isinstance(host, OverHttp)
        yield host


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[OverSsh]:
    with upstream("ssh", tmp_path) as host:
        assert isinstance(host, OverSsh)
        yield host


async def written_by(host: OnDisk, base: str) -> str:
    """Fetch and write a change, and leave the mirror for who comes next."""
    async with opened(host) as repository:
        assert (await repository.fetch()).commit == base
        return await repository.write(change(base))


async def pushed_in_haste(host: OnDisk, base: str, written: str) -> None:
    """Push from the mirror that is there, and wait for the host but a moment."""
    source = replace(host.source, fetch_deadline_seconds=DEADLINE_SECONDS)
    repository = Mirror(source, str(host.cache))
    try:
        await repository.push(change(base), written)
    finally:
        await repository.close()


def set_token(host: OnDisk, token: str | None) -> None:
    path = Path(host.source.token_file)
    path.unlink()
    if token is not None:
        path.write_text(f"{token}\n")


async def test_a_wrong_password_is_denied_and_a_right_one_heals_it(http: OverHttp) -> None:
    base = http.commit(START)
    async with opened(http) as repository:
        await repository.fetch()
        set_token(http, "expired")
        with pytest.raises(Denied, match="has expired") as raised:
            await repository.push(change(base))
        assert "'expired'" not in str(raised.value)
        set_token(http, PASSWORD)
        pushed = await repository.push(change(base))
    assert http.head() == pushed.commit


async def test_an_unreadable_token_is_denied(http: OverHttp) -> None:
    base = http.commit(START)
    async with opened(http) as repository:
        await repository.fetch()
        set_token(http, None)
        with pytest.raises(Denied, match="token file"):
            await repository.push(change(base))
    assert http.head() == base


async def test_a_read_only_mirror_is_denied(http: OverHttp) -> None:
    base = http.commit(START)
    http.bare.git("config", "http.receivepack", "false")
    async with opened(http) as repository:
        await repository.fetch()
        with pytest.raises(Denied, match="403"):
            await repository.push(change(base))
    assert http.head() == base


async def test_a_secret_that_the_host_says_back_to_a_fetch_is_not_shown(http: OverHttp) -> None:
    http.commit(START)
    encoded = base64.b64encode(f"bot:{PASSWORD}".encode()).decode()
    words = f"Your token {PASSWORD} ({encoded}) is bad\n"
    async with opened(http) as repository:
        http.server.break_with(Fault(status=403, page=words.encode()))
        with pytest.raises(Denied) as raised:
            await repository.fetch()
    assert "Your token *** (***) is bad" in str(raised.value)


async def test_a_secret_that_the_host_says_back_is_not_shown(http: OverHttp) -> None:
    base = http.commit(START)
    encoded = base64.b64encode(f"bot:{PASSWORD}".encode()).decode()
    http.protect(f"Your token {PASSWORD} ({encoded}) at https://bot:{PASSWORD}@git.test is bad\n")
    async with opened(http) as repository:
        await repository.fetch()
        with pytest.raises(Denied) as raised:
            await repository.push(change(base))
    assert PASSWORD not in str(raised.value)
    assert encoded not in str(raised.value)
    assert "Your token *** (***) at" in str(raised.value)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(Fault(status=502), Unavailable, id="an error of a proxy"),
        pytest.param(Fault(status=503, only=ONLY), Unavailable, id="an error in mid-push"),
        pytest.param(
            Fault(page=b"<html>Log in</html>"), Misconfigured, id="a web page for every answer"
        ),
        pytest.param(
            Fault(page=b"<html>Wait</html>", only=ONLY), Unavailable, id="a web page for the push"
        ),
        pytest.param(Fault(cut_after_bytes=30), Unavailable, id="answers that are cut"),
        pytest.param(
            Fault(hang_up=True, only=ONLY), Unavailable, id="a connection that ends in mid-push"
        ),
    ],
)
async def test_a_proxy_in_trouble_lands_nothing_and_the_next_push_does(
    http: OverHttp, fault: Fault, kind: type[PortError]
) -> None:
    base = http.commit(START)
    async with opened(http) as repository:
        await repository.fetch()
        written = await repository.write(change(base))
        http.server.break_with(fault)
        with pytest.raises(kind):
            await repository.push(change(base), written)
        http.server.heal()
        assert http.head() in (base, written)
        assert (await repository.push(change(base), written)).commit == written
    assert (http.head(), http.forced()) == (written, 0)


async def test_a_push_that_landed_though_the_host_then_went_away_is_found_later(
    http: OverHttp,
) -> None:
    base = http.commit(START)
    async with opened(http) as repository:
        await repository.fetch()
        written = await repository.write(change(base))
        http.server.break_with(Fault(cut_after_bytes=0, only=ONLY, then_down=True))
        with pytest.raises(Unavailable):
            await repository.push(change(base), written)
        assert http.head() == written
        http.server.heal()
        head = (await repository.fetch()).commit
        assert (await repository.lineage(base, head)).commits == (written,)


@pytest.mark.parametrize("status", [302, 401, 403, 404, 410, 500])
async def test_a_push_that_landed_and_was_answered_with_a_refusal_is_found(
    http: OverHttp, status: int
) -> None:
    base = http.commit(START)
    async with opened(http) as repository:
        await repository.fetch()
        http.server.break_with(Fault(status=status, only=ONLY, done=True))
        pushed = await repository.push(change(base))
    assert http.head() == pushed.commit == pushed.head


@pytest.mark.parametrize("only", ["", ONLY], ids=["every answer", "the push alone"])
async def test_a_proxy_that_stalls_is_left_at_the_deadline(http: OverHttp, only: str) -> None:
    base = http.commit(START)
    written = await written_by(http, base)
    http.server.break_with(Fault(stall_seconds=60, only=only))
    with pytest.raises(Unavailable, match=r"within 1\.5 s"):
        await pushed_in_haste(http, base, written)
    http.server.heal()
    async with opened(http) as repository:
        assert (await repository.push(change(base), written)).commit == written
    assert (http.head(), http.forced()) == (written, 0)


async def test_racing_committers_lose_nothing_and_force_nothing(http: OverHttp) -> None:
    http.commit(START)
    http.bare.git("config", "receive.denyNonFastForwards", "true")
    rounds, writers = 4, 3
    mine: list[str] = []
    lost = 0

    async def work(writer: int) -> None:
        nonlocal lost
        async with opened(http) as repository:
            for number in range(rounds):
                files = {f"rooms/{writer}.yaml": b"replicas: %d\n" % number}
                while True:
                    head = (await repository.fetch()).commit
                    try:
                        pushed = await repository.push(change(head, files))
                    except Conflict:
                        lost += 1
                        continue
                    mine.append(pushed.commit)
                    break

    await asyncio.gather(*(work(writer) for writer in range(writers)))
    on_main = http.bare.git("rev-list", "main").split()
    assert len(set(mine)) == rounds * writers
    assert set(mine) <= set(on_main)
    assert len(on_main) == rounds * writers + 1
    assert http.forced() == 0
    for writer in range(writers):
        assert http.bare.git("show", f"main:rooms/{writer}.yaml") == f"replicas: {rounds - 1}"


async def test_a_disk_of_the_host_that_is_full_is_unavailable(tmp_path: Path) -> None:
    with upstream("file", tmp_path) as host:
        assert isinstance(host, OnDisk)
        base = host.commit(START)
        async with opened(host) as repository:
            await repository.fetch()
            # Nothing larger than a byte can be unpacked there.
            host.bare.git("config", "receive.maxInputSize", "1")
            with pytest.raises(Unavailable):
                await repository.push(change(base))
            host.bare.git("config", "--unset", "receive.maxInputSize")
            assert host.head() == base
            await repository.push(change(base))


@pytest.mark.real
async def test_an_ssh_host_that_freezes_or_goes_away_is_unavailable(ssh: OverSsh) -> None:
    base = ssh.commit(START)
    written = await written_by(ssh, base)
    ssh.server.pause()
    with pytest.raises(Unavailable):
        await pushed_in_haste(ssh, base, written)
    ssh.server.resume()
    ssh.down()
    async with opened(ssh) as repository:
        with pytest.raises(Unavailable):
            await repository.push(change(base), written)
        ssh.heal()
        assert (await repository.push(change(base), written)).commit == written
    assert (ssh.head(), ssh.forced()) == (written, 0)


@pytest.mark.real
async def test_a_key_that_ssh_does_not_take_is_denied(ssh: OverSsh) -> None:
    base = ssh.commit(START)
    async with opened(ssh) as repository:
        await repository.fetch()
        (ssh.server.folder / "client.pub").write_text("")
        with pytest.raises(Denied):
            await repository.push(change(base))
    assert ssh.head() == base


@pytest.mark.real
async def test_a_host_whose_key_is_another_is_not_asked_until_somebody_trusts_it(
    ssh: OverSsh,
) -> None:
    base = ssh.commit(START)
    known = ssh.server.known_hosts_file
    async with opened(ssh) as repository:
        await repository.fetch()
        ssh.server.go_away()
        for part in ("host", "host.pub"):
            (ssh.server.folder / part).unlink()
        write_key(ssh.server.folder / "host", canary("ssh key", "another host"))
        ssh.server.come_back()
        second = ssh.commit({"rooms/new.yaml": "replicas: 1\n"})
        with pytest.raises(
            Misconfigured, match="the host shows another key than the known-hosts file has"
        ):
            await repository.fetch()
        with pytest.raises(
            Misconfigured, match="the host shows another key than the known-hosts file has"
        ):
            await repository.push(change(base))
        assert ssh.head() == second
        assert (await repository.tree(base)).commit == base
        where = known.read_text(encoding="utf-8").partition(" ")[0]
        trusted = (ssh.server.folder / "host.pub").read_text(encoding="utf-8")
        known.write_text(f"{where} {trusted}", encoding="utf-8")
        assert (await repository.fetch()).commit == second


@pytest.mark.real
async def test_a_host_that_nobody_knows_is_not_asked_and_not_taken_for_known(ssh: OverSsh) -> None:
    base = ssh.commit(START)
    known = ssh.server.known_hosts_file
    trusted = known.read_text(encoding="utf-8")
    known.write_text("", encoding="utf-8")
    async with opened(ssh) as repository:
        for _ in range(2):
            with pytest.raises(Misconfigured, match="add the host's key to the known-hosts file"):
                await repository.fetch()
            assert known.read_text(encoding="utf-8") == ""
        known.write_text(trusted, encoding="utf-8")
        assert (await repository.fetch()).commit == base
