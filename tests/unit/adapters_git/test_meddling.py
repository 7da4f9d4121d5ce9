"""What a network does to answers of a real Git host: each fault has its outcome, and ends.

A fetch or push that is broken is told and changes nothing; what was fetched stays readable, and
the next look is good.
"""

import contextlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import Misconfigured, PortError, Unavailable
from tests.contract.pushes import START, change
from tests.gitservers.http import HttpGitServer
from tests.gitservers.meddler import Meddler, Meddling, meddler
from tests.gitservers.repositories import BareRepository

pytestmark = pytest.mark.long

USER, PASSWORD = "bot", "s3cret-of-the-host"
HASTE_SECONDS = 1.0
PAGE = b"<html><title>Log in to the airport</title></html>"
FETCH, PUSH = "/git-upload-pack", "/git-receive-pack"

BROKEN = {
    "stall before the first byte": Meddling(stall_at=0),
    "stall in the head": Meddling(stall_at=9),
    "stall in the body": Meddling(stall_at=-40),
    "cut before the first byte": Meddling(cut_at=0),
    "cut in the head": Meddling(cut_at=9),
    "cut in the body": Meddling(cut_at=-40),
    "drip": Meddling(drip_seconds=0.05),
    "too many requests": Meddling(status=429, retry_after="7"),
    "not now": Meddling(status=503, retry_after="Wed, 21 Oct 2065 07:28:00 GMT"),
    "page": Meddling(page=PAGE),
}
STALLS = {name for name in BROKEN if name.startswith(("stall", "drip"))}
UNASKED = {"too many requests", "not now", "page"}
"""What is answered before the host hears of the push. Any other is found on the branch."""
PACKS = {
    "truncated pack": Meddling(lost_end=2000),
    "pack without its end": Meddling(lost_end=30),
    "flipped bit": Meddling(flipped=20_000),
}


@asynccontextmanager
async def far(folder: Path) -> AsyncIterator[tuple[BareRepository, Meddler, Source]]:
    """A real host, the proxy before it, and how to get in."""
    repository = BareRepository.create(folder / "srv", "fleet.git")
    repository.git("config", "core.logAllRefUpdates", "true")
    with HttpGitServer(folder / "srv", user=USER, password=PASSWORD, tls=False) as server:
        async with meddler(server.url("fleet.git")) as proxy:
            token = folder / "token"
            token.write_text(f"{PASSWORD}\n")
            yield repository, proxy, Source(proxy.url, username=USER, token_file=str(token))


def litter(cache: Path) -> list[str]:
    """Return what a git that ended badly leaves behind."""
    return [
        path.name
        for path in cache.rglob("*")
        if path.name.startswith(("tmp_", ".tmp-", "incoming-"))
        or (path.name.endswith(".lock") and not path.name.endswith(".git.lock"))
    ]


def large(number: int) -> dict[str, str | None]:
    """Return files whose pack is some dozens of KiB, whatever it is compressed with."""
    chance = random.Random(number)
    lines = "".join(f"# {chance.randbytes(24).hex()}\n" for _ in range(1000))
    return {"rooms/arena.yaml": f"replicas: {number}\n{lines}"}


@pytest.mark.parametrize("name", [*BROKEN, *PACKS])
async def test_a_broken_fetch_is_told_and_the_next_look_is_good(tmp_path: Path, name: str) -> None:
    broken = {**BROKEN, **PACKS}[name]
    async with far(tmp_path) as (repository, proxy, source):
        first = repository.commit(large(1), "Start")
        hasty = replace(source, fetch_deadline_seconds=HASTE_SECONDS)
        made = Mirror(hasty if name in STALLS else source, str(tmp_path / "cache"))
        patient = Mirror(source, str(tmp_path / "cache"))
        try:
            # By the patient one, which a busy machine keeps waiting as long as it likes.
            assert (await patient.fetch()).commit == first
            await patient.close()
            second = repository.commit(large(2), "Second")
            for only in (FETCH,) if name in {*STALLS, *PACKS} else ("/info/refs", FETCH):
                proxy.met, proxy.meddling = 0, replace(broken, only=only)
                with pytest.raises(Unavailable if name != "page" else PortError) as caught:
                    await made.fetch()
                assert proxy.met, "the fault was met"
                told = str(caught.value)
                assert PASSWORD not in told
                assert "\n" not in told
                if name in STALLS:
                    assert f"within {HASTE_SECONDS:g} s" in told
                tree = await made.tree(first)
                assert tree.entries["rooms/arena.yaml"].text == _text(large(1))
            await made.close()
            proxy.meddling = None
            healed = Mirror(source, str(tmp_path / "cache"))
            try:
                assert (await healed.fetch()).commit == second
                tree = await healed.tree(second)
                assert tree.entries["rooms/arena.yaml"].text == _text(large(2))
            finally:
                await healed.close()
            assert litter(tmp_path / "cache") == []
            assert len(list((tmp_path / "cache").glob("*.git"))) == 1, "the same mirror is used"
        finally:
            await made.close()
            await patient.close()


@pytest.mark.parametrize("name", [*BROKEN, "asked twice"])
async def test_a_broken_push_is_told_or_found_and_lands_once(tmp_path: Path, name: str) -> None:
    broken = {**BROKEN, "asked twice": Meddling(twice=True)}[name]
    async with far(tmp_path) as (repository, proxy, source):
        base = repository.commit(dict(START), "Start")
        patient = Mirror(source, str(tmp_path / "cache"))
        try:
            assert (await patient.fetch()).commit == base
            written = await patient.write(change(base))
        finally:
            await patient.close()
        hasty = replace(source, fetch_deadline_seconds=HASTE_SECONDS)
        made = Mirror(hasty if name in STALLS else source, str(tmp_path / "cache"))
        try:
            proxy.meddling = replace(broken, only=PUSH)
            if name in UNASKED:
                with pytest.raises(Unavailable) as caught:
                    await made.push(change(base), written)
                assert PASSWORD not in str(caught.value)
            else:
                # Who is in haste may be too late to find it: that is seen by the next push.
                with contextlib.suppress(*[Unavailable] if name in STALLS else []):
                    assert (await made.push(change(base), written)).commit == written
            assert proxy.met, "the fault was met"
            assert repository.head() == (base if name in UNASKED else written)
        finally:
            await made.close()
        proxy.meddling = None
        healed = Mirror(source, str(tmp_path / "cache"))
        try:
            assert (await healed.push(change(base), written)).commit == written
            assert (await healed.fetch()).commit == written
        finally:
            await healed.close()
    assert repository.git("rev-list", "--count", "main") == "2"
    assert repository.forced_updates() == 0
    assert litter(tmp_path / "cache") == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("only", ["/info/refs", FETCH])
async def test_a_redirect_is_refused_and_nobody_else_hears_the_token(
    tmp_path: Path, status: int, only: str
) -> None:
    async with far(tmp_path) as (repository, proxy, source), meddler(proxy.url) as stranger:
        first = repository.commit(dict(START), "Start")
        made = Mirror(source, str(tmp_path / "cache"))
        try:
            assert (await made.fetch()).commit == first
            repository.commit(large(2), "Second")
            path = "/fleet.git/info/refs?service=git-upload-pack" if "info" in only else FETCH
            target = stranger.url.removesuffix("/fleet.git") + path
            proxy.meddling = Meddling(only=only, status=status, elsewhere=target)
            with pytest.raises(Misconfigured, match="redirects, which is not followed"):
                await made.fetch()
            assert proxy.met
            assert stranger.asked == []
            assert (await made.tree(first)).commit == first
            proxy.meddling = None
            assert (await made.fetch()).commit == repository.head()
        finally:
            await made.close()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("only", ["/info/refs", PUSH])
async def test_a_redirected_push_is_refused_and_nobody_else_hears_the_token_or_the_commit(
    tmp_path: Path, status: int, only: str
) -> None:
    async with far(tmp_path) as (repository, proxy, source), meddler(proxy.url) as stranger:
        base = repository.commit(dict(START), "Start")
        made = Mirror(source, str(tmp_path / "cache"))
        try:
            assert (await made.fetch()).commit == base
            written = await made.write(change(base))
            path = "/info/refs?service=git-receive-pack" if "info" in only else PUSH
            proxy.meddling = Meddling(only=only, status=status, elsewhere=stranger.url + path)
            with pytest.raises(Misconfigured, match="redirects, which is not followed"):
                await made.push(change(base), written)
            assert proxy.met
            assert stranger.asked == []
            assert repository.head() == base
            proxy.meddling = None
            assert (await made.push(change(base), written)).commit == written
        finally:
            await made.close()
        assert repository.head() == written


def _text(files: dict[str, str | None]) -> bytes:
    text = files["rooms/arena.yaml"]
    assert text is not None
    return text.encode()
