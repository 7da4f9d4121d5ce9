"""Commits made in the mirror: contents, messages, signatures; kills and full disks."""

import asyncio
import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.core.commit_steps import told_of
from reconciler.loop.commit_text import message_of
from reconciler.model.errors import Conflict, Misconfigured, Unavailable
from reconciler.model.intents import Intent, Step
from reconciler.model.pushes import MESSAGE_LIMIT_BYTES, Change, SigningKey
from reconciler.model.refs import WorkloadKey
from tests.contract.pushes import AUTHOR, change
from tests.gitservers.repositories import BareRepository
from tests.gitservers.signing import Person
from tests.unit.adapters_git.repositories import (
    bare,
    mirror,
)

FILES: dict[str, str | None] = {f"rooms/{n}.yaml": f"replicas: {n}\n" for n in range(20)}


def run(*argv: str) -> str:
    """Run a program that succeeds, and return what it said on stderr."""
    return subprocess.run(argv, check=True, capture_output=True, text=True).stderr


def one(base: str, number: int) -> Change:
    return change(base, {"rooms/1.yaml": b"replicas: %d\n" % number}, at=1_750_000_000 + number)


async def test_contents_are_stored_byte_for_byte(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit({".gitattributes": "* text=auto eol=lf ident\n"}, "Start")
    text = b"\xef\xbb\xbf$Id$ a: 1\r\n\0\xff no end"
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        pushed = await made.push(change(base, {"a.yaml": text, "empty.yaml": b""}))
        assert await made.blob(pushed.commit, "a.yaml") == text
        assert await made.blob(pushed.commit, "empty.yaml") == b""
    finally:
        await made.close()


async def test_the_longest_message_of_ours_is_read_back_with_all_its_steps(
    tmp_path: Path,
) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    steps = tuple(Step(1e9 + n, n, n + 1, "adaptive", "12.3 部屋 " * 33) for n in range(40))
    keys = [WorkloadKey("Scheduler", f"arena-{n:02}", f"arena-{n:02}") for n in range(90)]
    message = message_of({key: Intent(0, 40, steps) for key in keys}, "main")
    # Of each workload a line is set apart that counts what is not listed.
    assert MESSAGE_LIMIT_BYTES - 32 * 1024 < len(message.encode()) <= MESSAGE_LIMIT_BYTES
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        pushed = await made.push(change(base, {"rooms/1.yaml": b"replicas: 9\n"}, message=message))
        (logged,) = await made.log(pushed.commit, limit=1)
    finally:
        await made.close()
    told = [told_of(logged.body, key) for key in keys]
    assert sum(len(each.steps) for each in told if each) > 1500
    assert logged.body == message.partition("\n")[2].strip("\n")


async def test_a_message_is_kept_word_for_word(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    message = "Scale: läuft \u2728\n\n# no comment line\n\n  indented\n\nTrailer: x\n"
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        pushed = await made.push(change(base, message=message))
        (logged,) = await made.log(pushed.commit, limit=1)
    finally:
        await made.close()
    raw = repository.git("cat-file", "commit", pushed.commit)
    assert raw.partition("\n\n")[2] == message.strip()
    assert f"author {AUTHOR.name} <{AUTHOR.email}> 1750000000 +0000" in raw
    assert logged.body == "# no comment line\n\n  indented\n\nTrailer: x"


async def test_a_log_shows_what_a_merge_brought_and_hides_tricks(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    repository.git("update-ref", "refs/heads/side", base)
    side = repository.commit({"rooms/2.yaml": "replicas: 9\n"}, "Side", branch="side")
    main = repository.commit({"rooms/1.yaml": "replicas: 8\n"}, "red \x1b[31m\u202e and\n\nb\x07\n")
    tree = repository.git("merge-tree", "--write-tree", "main", "side")
    merge = repository.git("commit-tree", tree, "-p", main, "-p", side, "-m", "Merge")
    repository.git("update-ref", "refs/heads/main", merge)
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        every = await made.log(merge)
        paged = [*await made.log(merge, limit=2)]
        paged += await made.log(merge, limit=9, before=paged[-1].commit)
        found = await made.lineage(base, merge)
    finally:
        await made.close()
    assert [entry.commit for entry in paged] == [entry.commit for entry in every]
    assert {entry.commit for entry in every} == {merge, main, side, base}
    assert (every[0].parents, every[0].paths) == ((main, side), ("rooms/2.yaml",))
    (told,) = [entry for entry in every if entry.commit == main]
    assert (told.subject.isprintable(), told.body) == (True, "b ")
    assert set(found.commits) == {merge, main, side}
    assert found.first_parents == (merge, main)


async def test_a_commit_is_signed_with_an_ssh_key(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    person = Person.create(tmp_path, "gamekeeper")
    signers = tmp_path / "signers"
    signers.write_text(person.line)
    key = SigningKey("ssh", str(person.key_file))
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        pushed = await made.push(change(base, signing=key))
        assert await made.write(change(base, signing=key)) == pushed.commit
        message = "Approve\n\nGamekeeper-Approve: 0123456789ab\n"
        signed = change(pushed.commit, {"b.yaml": b"b"}, signing=key, message=message)
        second = await made.push(signed)
        history = await made.history(base, second.commit, str(signers), 1_750_000_100.0)
    finally:
        await made.close()
    assert [item.signer and item.signer.name for item in history.commits] == [
        "gamekeeper@example.test",
        "gamekeeper@example.test",
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("absent", id="a key that is not there"),
        pytest.param("relative", id="a key by a relative path"),
        pytest.param("no key", id="a file that is no key"),
        pytest.param("locked", id="a key with a passphrase"),
    ],
)
async def test_an_unusable_signing_key_is_misconfigured(tmp_path: Path, broken: str) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    path = tmp_path / "key"
    if broken == "no key":
        path.write_text("SECRET words that are no key\n")
        path.chmod(0o600)
    if broken == "locked":
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "passphrase", "-f", str(path))
    key = SigningKey("ssh", "key" if broken == "relative" else str(path))
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        for asked in (made.try_key(key), made.push(change(base, signing=key))):
            with pytest.raises(Misconfigured, match="key") as raised:
                await asked
            assert "SECRET" not in str(raised.value)
        await made.push(change(base))
    finally:
        await made.close()


async def test_a_key_is_tried_without_the_host(tmp_path: Path) -> None:
    person = Person.create(tmp_path, "gamekeeper")
    nowhere = Mirror(Source("https://127.0.0.1:9/none.git"), str(tmp_path / "cache"))
    try:
        await nowhere.try_key(SigningKey("ssh", str(person.key_file)))
    finally:
        await nowhere.close()


@pytest.fixture
def gpg_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # Sockets of the agent take short paths only.
    folder = Path(tempfile.mkdtemp(prefix="gk-gpg-"))
    folder.chmod(0o700)
    monkeypatch.setenv("GNUPGHOME", str(folder))
    words = ("--batch", "--quiet", "--passphrase", "", "--quick-gen-key")
    run("gpg", *words, "gamekeeper@example.test", "ed25519", "sign", "0")
    yield folder
    run("gpgconf", "--kill", "all")
    shutil.rmtree(folder)


@pytest.mark.real
async def test_a_commit_is_signed_with_a_gpg_key(tmp_path: Path, gpg_home: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    run("gpgconf", "--kill", "all")
    try:
        await made.fetch()
        key = SigningKey("gpg", "gamekeeper@example.test")
        await made.try_key(key)
        (revocation,) = (gpg_home / "openpgp-revocs.d").iterdir()
        await made.try_key(SigningKey("gpg", f"{revocation.stem}!"))
        pushed = await made.push(change(base, signing=key))
        for other in ("nobody@example.test", "-x", "0xZZ"):
            with pytest.raises(Misconfigured, match="key"):
                await made.write(change(base, signing=SigningKey("gpg", other)))
    finally:
        await made.close()
    said = run("git", "-C", str(repository.path), "verify-commit", pushed.commit)
    assert "Good signature" in said
    # The agent that gpg left running holds nothing of ours: the first mirror is free again.
    again = mirror(repository, tmp_path / "cache")
    try:
        await again.fetch()
    finally:
        await again.close()
    assert len(list((tmp_path / "cache").glob("*.git"))) == 1


def free(host: Path) -> None:
    """Take away the locks of a host that died."""
    for lock in host.rglob("*.lock"):
        lock.unlink(missing_ok=True)


async def settled(made: Mirror, number: int, host: Path) -> str:
    """Push until it is taken; what a kill left behind must not be in the way for ever.

    By a path the host's own end of a push is a child of ours, and dies with it: what that left
    locked is nobody's to free but the host's, as here.
    """
    for tries in range(20):
        # A child that was killed while it did nothing is missed by the next call; what a killed
        # one had under way may still arrive, later on a slower machine.
        with contextlib.suppress(Conflict, Unavailable):
            base = (await made.fetch()).commit
            return (await made.push(one(base, number))).commit
        await asyncio.sleep(0.05 * tries)
        free(host)
    raise AssertionError("the mirror is wedged")


@pytest.mark.long
@pytest.mark.parametrize("kills", [8, pytest.param(60, marks=pytest.mark.real)])
async def test_a_child_killed_at_any_moment_of_a_push_never_wedges_the_mirror(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(3)
    repository = bare(tmp_path)
    repository.git("config", "core.logAllRefUpdates", "always")
    repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        for number in range(kills):
            base = (await made.fetch()).commit
            pushing = asyncio.create_task(made.push(one(base, 2 * number)))
            await asyncio.sleep(chance.uniform(0.0, 0.12))
            if made.pid is not None:
                os.kill(made.pid, signal.SIGKILL)
            # It may have been done before the kill came, or be found on the branch after it.
            with contextlib.suppress(Unavailable):
                await pushing
            commit = await settled(made, 2 * number + 1, repository.path)
            assert repository.head() == commit
            texts = await made.blob(commit, "rooms/1.yaml")
            assert texts == b"replicas: %d\n" % (2 * number + 1)
    finally:
        await made.close()
    assert repository.forced_updates() == 0
    repository.git("fsck", "--connectivity-only")


async def test_no_file_of_a_repository_may_grow_beyond_a_gibibyte(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        assert made.pid is not None
        # The hard limit too: what git begins inherits both, and may raise neither.
        for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_DATA):
            assert resource.prlimit(made.pid, limit) == (2**30, 2**30)
    finally:
        await made.close()


async def test_a_full_disk_is_unavailable_and_space_heals_it(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    large = {"rooms/1.yaml": random.Random(1).randbytes(200_000)}
    try:
        await made.fetch()
        assert made.pid is not None
        # No file may grow beyond this: as of a full disk, a write of it fails half-way.
        before = resource.prlimit(made.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(made.pid, resource.RLIMIT_FSIZE, (50_000, before[1]))
        with pytest.raises(Unavailable):
            await made.push(change(base, large))
        assert repository.head() == base
        assert made.pid is not None
        resource.prlimit(made.pid, resource.RLIMIT_FSIZE, before)
        pushed = await made.push(change(base, large))
        assert repository.head() == pushed.commit
    finally:
        await made.close()


def fill(ballast: Path) -> None:
    """Leave no room on the disk that a file is on."""
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder))
    yield folder
    run("umount", "-l", str(folder))


@pytest.mark.real
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
async def test_a_cache_on_a_full_disk_is_unavailable_and_space_heals_it(
    tmp_path: Path, small_disk: Path
) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    made = mirror(repository, small_disk)
    ballast = small_disk / "ballast"
    try:
        await made.fetch()
        fill(ballast)
        for _ in range(3):
            with pytest.raises(Unavailable):
                await made.push(change(base, {"rooms/1.yaml": random.Random(2).randbytes(60_000)}))
            assert (await made.tree(base)).commit == base
        ballast.unlink()
        pushed = await made.push(change(base))
        assert repository.head() == pushed.commit
    finally:
        await made.close()


@pytest.mark.real
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
async def test_a_fetch_onto_a_full_disk_is_unavailable_and_space_heals_it(
    tmp_path: Path, small_disk: Path
) -> None:
    repository = bare(tmp_path)
    first = repository.commit(FILES, "Start")
    made = mirror(repository, small_disk)
    ballast = small_disk / "ballast"
    try:
        await made.fetch()
        fill(ballast)
        noise = random.Random(3).randbytes(60_000).hex()
        second = repository.commit({"rooms/1.yaml": f"# {noise}\n"}, "Second")
        for _ in range(3):
            with pytest.raises(Unavailable, match="make room in the cache directory"):
                await made.fetch()
            assert (await made.tree(first)).commit == first
        ballast.unlink()
        assert (await made.fetch()).commit == second
        assert (await made.tree(second)).entries["rooms/1.yaml"].text == f"# {noise}\n".encode()
    finally:
        await made.close()


async def test_many_files_are_one_commit(tmp_path: Path) -> None:
    repository = BareRepository.create(tmp_path / "srv", "fleet.git")
    files: dict[str, str | None] = {f"{n % 10}/{n}.yaml": f"replicas: {n}\n" for n in range(300)}
    base = repository.commit(files, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        pushed = await made.push(change(base, dict.fromkeys(files, b"replicas: 0\n")))
        tree = await made.tree(pushed.commit)
    finally:
        await made.close()
    assert {entry.text for entry in tree.entries.values()} == {b"replicas: 0\n"}
    assert repository.git("rev-list", "--count", "main") == "2"
