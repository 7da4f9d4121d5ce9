"""A mass deletion and who may let it through with a signed trailer: real git, real SSH keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.holds import HoldKind
from reconciler.model.records import Endorsement
from tests.gitservers.repositories import BareRepository
from tests.gitservers.signing import Person, commit, signers_file
from tests.loop.world import CONFIG, Process, World, spec

LOBBY = "schedulers/lobby.yaml"


class Story:
    """A fleet from a real repository, and the people who commit to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = World()
        self.bare = BareRepository.create(folder / "srv", "fleet.git")
        self.anna, self.bea, self.carl = (
            Person.create(folder, name) for name in ("anna", "bea", "carl")
        )
        self.signers = signers_file(folder, self.anna, self.bea)
        files = {"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 2)}
        commit(self.bare, {**files, LOBBY: spec("lobby", 12)}, "Start")

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Process]:
        """A process that reads the repository through a mirror of its own."""
        mirror = Mirror(Source(f"file://{self.bare.path}"), str(self.folder / "cache"))
        process = await self.world.process()
        process.head.repository = mirror
        process.head.approval_signers = self.signers
        try:
            yield process
        finally:
            await mirror.close()

    async def refused(self, process: Process, maker: Person | None) -> str:
        """Have a maker remove the lobby; return the hash that is asked for."""
        await self.world.settle(process)
        commit(self.bare, {LOBBY: None}, "The lobby goes", maker)
        await self.world.settle(process)
        hold = next(hold for hold in process.lane.wanted.holds if hold.change_hash)
        assert hold.kind is HoldKind.OVER_BUDGET
        return hold.change_hash

    def approve(self, change_hash: str, by: Person | None) -> str:
        """Commit an approval."""
        return commit(self.bare, {}, f"Let it go\n\nGamekeeper-Approve: {change_hash}\n", by)

    def doubts(self, process: Process) -> str:
        """What is said of trailers that do not count."""
        holds = process.lane.wanted.holds
        return "\n".join(hold.reason for hold in holds if hold.kind is HoldKind.TRAILER)

    @property
    def rooms(self) -> int:
        return len(self.world.pods("lobby"))


@pytest.mark.long
async def test_another_persons_signed_trailer_lets_a_mass_deletion_through(tmp_path: Path) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        change_hash = await story.refused(process, story.anna)
        assert story.rooms == 12
        made = story.approve(change_hash, story.bea)
        await story.world.settle(process)
        assert "lobby" not in story.world.namespaces()
        assert not process.lane.wanted.holds
        told = process.lane.store.repository.endorsements
    who = f"bea@example.test in commit {made[:12]}"
    assert [(item.change_hash, item.by, item.spent) for item in told] == [(change_hash, who, True)]


@pytest.mark.long
async def test_change_and_approval_may_arrive_together(tmp_path: Path) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        change_hash = await story.refused(process, story.anna)
        commit(story.bare, {LOBBY: spec("lobby", 12)}, "Revert", story.anna)
        await story.world.settle(process)
        assert not process.lane.wanted.holds
        commit(story.bare, {LOBBY: None}, "The lobby goes", story.anna)
        story.approve(change_hash, story.bea)
        await story.world.settle(process)
        assert "lobby" not in story.world.namespaces()


@pytest.mark.long
async def test_counts_that_we_commit_meanwhile_keep_no_trailer_from_counting(
    tmp_path: Path,
) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        change_hash = await story.refused(process, story.anna)
        store = process.lane.store
        files = [{"schedulers/arena.yaml": spec("arena", 3 + turn % 2)} for turn in range(101)]
        ours = tuple(commit(story.bare, each, "Scale arena") for each in files)
        await store.change_repository(lambda newest: replace(newest, pushed=ours))
        await story.world.settle(process)
        story.approve(change_hash, story.bea)
        await story.world.settle(process)
        assert story.doubts(process) == ""
        assert "lobby" not in story.world.namespaces()


@pytest.mark.long
@pytest.mark.parametrize(
    ("maker", "approver", "said"),
    [
        pytest.param("anna", "anna", "approves no own change", id="the maker does not approve"),
        pytest.param("anna", "", "not signed", id="an unsigned trailer approves nothing"),
        pytest.param("anna", "carl", "not allowed", id="a key not allowed approves nothing"),
        pytest.param("", "bea", "which it would approve, is not signed", id="an unsigned change"),
        pytest.param("carl", "bea", "approve, is signed with a key", id="a stranger"),
    ],
)  # fmt: skip
async def test_what_does_not_count_is_held_and_says_why(
    tmp_path: Path, maker: str, approver: str, said: str
) -> None:
    story = Story(tmp_path)
    people = {"anna": story.anna, "bea": story.bea, "carl": story.carl}
    async with story.process() as process:
        change_hash = await story.refused(process, people.get(maker))
        story.approve(change_hash, people.get(approver))
        await story.world.settle(process)
        assert story.rooms == 12
        assert said in story.doubts(process)
        noted = [item.reason for item in process.lane.store.repository.notices]
    assert any(said in reason for reason in noted)


async def test_without_the_setting_no_trailer_counts(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.signers = ""
    async with story.process() as process:
        story.approve(await story.refused(process, story.anna), story.bea)
        await story.world.settle(process)
        assert story.rooms == 12


async def test_who_commits_under_anothers_name_approves_no_own_change(tmp_path: Path) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        await story.world.settle(process)
        commit(story.bare, {LOBBY: None}, "The lobby goes", story.bea, author="Anna")
        await story.world.settle(process)
        change_hash = next(h.change_hash for h in process.lane.wanted.holds if h.change_hash)
        story.approve(change_hash, story.bea)
        await story.world.settle(process)
        assert story.rooms == 12
        assert "approves no own change" in story.doubts(process)


@pytest.mark.long
async def test_an_own_part_of_a_change_is_not_hidden_behind_a_later_one(tmp_path: Path) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        await story.refused(process, story.bea)
        commit(story.bare, {"schedulers/arena.yaml": None}, "The arena goes too", story.anna)
        await story.world.settle(process)
        hashes = {hold.change_hash for hold in process.lane.wanted.holds} - {""}
        offered = {offer.change_hash for offer in process.lane.store.repository.offers}
        for change_hash in hashes | offered:
            story.approve(change_hash, story.bea)
        await story.world.settle(process)
        assert story.rooms == 12
        assert "approves no own change" in story.doubts(process)


@pytest.mark.long
async def test_an_approval_is_not_replayed_after_a_revert_and_a_redo(tmp_path: Path) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        story.approve(await story.refused(process, story.anna), story.bea)
        await story.world.settle(process)
        assert "lobby" not in story.world.namespaces()
        commit(story.bare, {LOBBY: spec("lobby", 12)}, "Revert", story.anna)
        await story.world.settle(process)
        assert story.rooms == 12
        commit(story.bare, {LOBBY: None}, "Redo", story.anna)
        await story.world.settle(process)
        assert story.rooms == 12
        assert any(hold.change_hash for hold in process.lane.wanted.holds)


@pytest.mark.long
async def test_an_old_approval_is_not_replayed_by_a_force_push(tmp_path: Path) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        old = story.approve(await story.refused(process, story.anna), story.bea)
        await story.world.settle(process)
        commit(story.bare, {LOBBY: spec("lobby", 12)}, "Revert", story.anna)
        await story.world.settle(process)
        story.bare.reset(old)
        await story.world.settle(process)
        story.world.pass_time(4000)
        await story.world.settle(process)
    async with story.process() as process:
        await story.world.settle(process)
        assert story.rooms == 12


@pytest.mark.long
async def test_an_approval_that_waited_an_hour_counts_no_more_after_a_restart(
    tmp_path: Path,
) -> None:
    story = Story(tmp_path)
    async with story.process() as process:
        change_hash = await story.refused(process, story.anna)
        # Unreadable: the approved deletion waits, however long that takes.
        commit(story.bare, {"schedulers/odd.yaml": "kind: [\n"}, "Odd", story.anna)
        made = story.approve(change_hash, story.bea)
        await story.world.settle(process)
        assert story.rooms == 12
        first = process.lane.store.repository.endorsements
    assert [item.commit for item in first] == [made]
    story.world.pass_time(3700)
    async with story.process() as process:
        await story.world.settle(process)
        assert not process.lane.store.repository.approved
        assert first[0] == Endorsement(made, change_hash, first[0].by, first[0].at, spent=True)
        assert process.lane.store.repository.endorsements == first
        commit(story.bare, {}, "Nothing", story.anna)
        await story.world.settle(process)
        assert not process.lane.store.repository.approved
        assert story.rooms == 12
