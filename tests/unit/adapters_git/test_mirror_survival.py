"""The mirror after kills, hangs, cancellations, litter, broken files and full slots."""

import asyncio
import contextlib
import os
import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import PortError, Unavailable
from reconciler.model.trees import Relation
from tests.contract.pushes import change
from tests.gitservers.http import Fault, HttpGitServer
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import bare, mirror

FILES = {f"rooms/{n}.yaml": f"kind: Scheduler\nname: room-{n}\n" for n in range(40)}


def mirror_directory(cache: Path) -> Path:
    (found,) = cache.glob("*-0.git")
    return found


def processes_of_group(group: int) -> list[str]:
    """Return the state letters of a group's processes."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(fields[0])
    return found


async def ends(group: int) -> bool:
    """Tell whether all processes of a group end within 30 s; a kill takes its time to arrive."""
    for _ in range(1500):
        if not processes_of_group(group):
            return True
        await asyncio.sleep(0.02)
    return False


async def follows(made: Mirror, repository: BareRepository, number: int) -> None:
    """Commit, fetch and read; the mirror shows exactly that."""
    commit = repository.commit({"rooms/0.yaml": f"number: {number}\n"}, f"n {number}")
    head = await made.fetch()
    assert head.commit == commit
    tree = await made.tree(commit)
    assert len(tree.entries) == len(FILES)
    assert tree.entries["rooms/0.yaml"].text == f"number: {number}\n".encode()


@pytest.mark.long
@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.real)])
async def test_a_child_killed_at_any_moment_of_a_fetch_never_wedges_the_mirror(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(5)
    repository = bare(tmp_path)
    repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        for number in range(kills):
            repository.commit({"rooms/1.yaml": f"kill: {number}\n"}, f"k {number}")
            await made.tree((await made.fetch()).commit)
            repository.commit({"rooms/2.yaml": f"kill: {number}\n"}, f"k {number}")
            fetching = asyncio.create_task(made.fetch())
            await asyncio.sleep(chance.uniform(0.0, 0.012))
            assert made.pid is not None
            os.kill(made.pid, signal.SIGKILL)
            # It may have been done before the kill came.
            with contextlib.suppress(Unavailable):
                await fetching
            await follows(made, repository, number)
    finally:
        await made.close()


@pytest.mark.long
async def test_a_fetch_past_its_deadline_ends_the_whole_process_group(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    first = repository.commit(FILES, "Start")
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        source = Source(server.url("fleet.git"))
        patient, cache = Mirror(source, str(tmp_path / "cache")), str(tmp_path / "cache")
        assert (await patient.fetch()).commit == first
        await patient.close()
        made = Mirror(replace(source, fetch_deadline_seconds=0.7), cache)
        try:
            await made.tree(first)
            server.break_with(Fault(stall_seconds=60))
            group = made.pid
            assert group is not None
            with pytest.raises(Unavailable, match=r"within 0\.7 s"):
                await made.fetch()
            assert await ends(group)
            assert len((await made.tree(first)).entries) == len(FILES)
        finally:
            await made.close()
        server.heal()
        healed = Mirror(source, cache)
        assert (await healed.fetch()).commit == first
        await healed.close()


async def test_a_cancelled_call_does_not_leave_its_answer_to_the_next(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    first = repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        reading = asyncio.create_task(made.tree(first))
        await asyncio.sleep(0.002)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await made.relation(first, first) is Relation.SAME
    finally:
        await made.close()


async def test_calls_at_the_same_time_each_get_their_own_answer(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    commits = [repository.commit({"a.yaml": f"n: {n}\n"}, f"n {n}") for n in range(6)]
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        trees = await asyncio.gather(*(made.tree(commit) for commit in commits))
    finally:
        await made.close()
    assert [tree.entries["a.yaml"].text for tree in trees] == [b"n: %d\n" % n for n in range(6)]


@pytest.mark.long
async def test_the_child_is_replaced_after_so_many_operations(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache", operations_limit=3)
    try:
        seen = set()
        for number in range(4):
            await follows(made, repository, number)
            seen.add(made.pid)
        assert len(seen) >= 3
    finally:
        await made.close()
    for group in seen:
        assert group is not None
        assert await ends(group)


async def test_closing_ends_what_is_under_way(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    repository.commit(FILES, "Start")
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        made = Mirror(Source(server.url("fleet.git")), str(tmp_path / "cache"))
        await made.fetch()
        server.break_with(Fault(stall_seconds=60))
        fetching = asyncio.create_task(made.fetch())
        await asyncio.sleep(0.2)
        group = made.pid
        assert group is not None
        async with asyncio.timeout(30):  # and not the minute of the host
            await made.close()
            with pytest.raises(Unavailable):
                await fetching
        server.heal()
        assert await ends(group)
        with pytest.raises(Unavailable, match="closed"):
            await made.fetch()


async def test_what_killed_gits_left_is_swept_at_the_start(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    await made.fetch()
    await made.close()
    directory = mirror_directory(tmp_path / "cache")
    litter = [
        directory / "refs/heads/main.lock",
        directory / "refs/gamekeeper/incoming.lock",
        directory / "packed-refs.lock",
        directory / "HEAD.lock",
        directory / "config.lock",
        directory / "shallow.lock",
        directory / "objects/pack/tmp_pack_aB3dE6",
        directory / "objects/17/tmp_obj_xyz",
    ]
    for path in litter:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
    again = mirror(repository, tmp_path / "cache")
    try:
        await follows(again, repository, 1)
    finally:
        await again.close()
    assert [path for path in litter if path.exists()] == []


@pytest.mark.long
@pytest.mark.parametrize(
    "lock", ["refs/gamekeeper/incoming.lock", "refs/heads/main.lock", "HEAD.lock"]
)
async def test_a_lock_of_a_git_that_was_killed_alone_stands_in_nobodys_way(
    tmp_path: Path, lock: str
) -> None:
    repository = bare(tmp_path)
    repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await follows(made, repository, 1)
        child = made.pid
        (mirror_directory(tmp_path / "cache") / lock).write_bytes(b"half")
        await follows(made, repository, 2)
        assert made.pid == child, "nobody began anew"
    finally:
        await made.close()


async def test_a_lock_in_the_hosts_repository_is_the_hosts(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(FILES, "Start")
    lock = repository.path / "refs/heads/main.lock"
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        lock.write_bytes(b"of somebody else")
        edit = change(base, {"rooms/1.yaml": b"kind: New\n"})
        with pytest.raises(PortError):
            await made.push(edit)
        assert lock.read_bytes() == b"of somebody else"
        lock.unlink()
        assert (await made.push(edit)).commit == repository.head()
    finally:
        await made.close()


@pytest.mark.long
async def test_one_flipped_byte_in_any_file_is_harmless_or_repaired(tmp_path: Path) -> None:
    chance = random.Random(7)
    repository = bare(tmp_path)
    first = repository.commit({"a.yaml": "kind: A\n", "b/c.yaml": "kind: C\n"}, "Start")
    made = mirror(repository, tmp_path / "cache")
    await made.fetch()
    wanted = (await made.tree(first)).entries
    await made.close()
    names = sorted(
        path.relative_to(tmp_path) for path in files_of(mirror_directory(tmp_path / "cache"))
    )
    assert len(names) > 6
    for name in names:
        flip(tmp_path / name, chance)
        again = mirror(repository, tmp_path / "cache")
        try:
            assert (await again.fetch()).commit == first
            assert (await again.tree(first)).entries == wanted
        finally:
            await again.close()


@pytest.mark.long
async def test_a_pack_with_a_flipped_byte_is_repaired(tmp_path: Path) -> None:
    chance = random.Random(11)
    repository = bare(tmp_path)
    # More than a hundred objects arrive as a pack, which git keeps.
    many = {f"{n}/{n}.yaml": f"kind: {n}\n" for n in range(80)}
    first = repository.commit(many, "Start")
    made = mirror(repository, tmp_path / "cache")
    await made.fetch()
    await made.close()
    packs = sorted((mirror_directory(tmp_path / "cache") / "objects/pack").iterdir())
    assert any(pack.suffix == ".pack" for pack in packs)
    for round_number in range(4):
        for path in files_of(mirror_directory(tmp_path / "cache") / "objects/pack"):
            flip(path, chance)
            again = mirror(repository, tmp_path / "cache")
            try:
                assert (await again.fetch()).commit == first, (path.name, round_number)
                texts = {p: e.text for p, e in (await again.tree(first)).entries.items()}
                assert texts == {p: text.encode() for p, text in many.items()}
            finally:
                await again.close()


async def test_a_mirror_whose_files_vanish_under_it_is_made_anew(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    first = repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        for path in files_of(mirror_directory(tmp_path / "cache") / "objects"):
            path.unlink()
        assert len((await made.tree(first)).entries) == len(FILES)
        await follows(made, repository, 1)
    finally:
        await made.close()


async def test_a_damaged_repository_of_the_host_does_not_cost_us_the_mirror(
    tmp_path: Path,
) -> None:
    repository = bare(tmp_path)
    first = repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        second = repository.commit({"rooms/0.yaml": "kind: New\n"}, "Second")
        for pack in files_of(repository.path / "objects"):
            pack.chmod(0o600)
            pack.write_bytes(b"")
        with pytest.raises(PortError):
            await made.fetch()
        assert len((await made.tree(first)).entries) == len(FILES)
        assert await made.relation(first, first) is Relation.SAME
        with pytest.raises(PortError):
            await made.tree(second)
    finally:
        await made.close()


@pytest.mark.long
async def test_a_cache_shared_by_processes_gives_each_its_own_mirror(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    commit = repository.commit(FILES, "Start")
    made = [mirror(repository, tmp_path / "cache") for _ in range(9)]
    try:
        for one in made[:8]:
            assert (await one.fetch()).commit == commit
        with pytest.raises(Unavailable, match="8 processes"):
            await made[8].fetch()
        await made[3].close()
        assert (await made[8].fetch()).commit == commit
    finally:
        for one in made:
            await one.close()
    assert len(list_of(tmp_path / "cache", "*.git")) == 8


async def test_a_cache_directory_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    (tmp_path / "cache").write_text("a file stands here")
    made = mirror(repository, tmp_path / "cache")
    try:
        with pytest.raises(Unavailable, match="cache directory"):
            await made.fetch()
    finally:
        await made.close()


async def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    first = repository.commit(FILES, "Start")
    made = mirror(repository, tmp_path / "cache")
    try:
        await made.fetch()
        before = await made.tree(first)
        second = repository.commit({"rooms/0.yaml": "kind: New\n"}, "Second")
        await made.fetch()
        after = await made.tree(second)
    finally:
        await made.close()
    same = [p for p in FILES if after.entries[p].text is before.entries[p].text]
    assert len(same) == len(FILES) - 1


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def list_of(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.chmod(0o600)
        path.write_bytes(content)
