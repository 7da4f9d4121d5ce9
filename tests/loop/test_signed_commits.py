"""A fleet whose branch must be signed: what waits, what goes on, and what lets it through."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reconciler.core.standing import standing_of
from reconciler.loop import head
from reconciler.loop.config import config_in_force
from reconciler.model.errors import Misconfigured
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.outbox import EMPTY_OUTBOX
from reconciler.model.signatures import SigningRules
from reconciler.model.specs import WriteBack
from tests.gitservers.signing import Person, signers_file
from tests.loop.world import CONFIG, Process, World, spec

ARENA, LOBBY = "schedulers/arena.yaml", "schedulers/lobby.yaml"
FILES = {"gamekeeper.yaml": CONFIG, ARENA: spec("arena", 2), LOBBY: spec("lobby", 2)}


@dataclass(slots=True)
class Story:
    """A world, who may sign, and a process that asks for it."""

    folder: Path
    world: World
    anna: Person
    carl: Person
    strict: bool = True

    @classmethod
    def begun(cls, folder: Path, *, strict: bool) -> "Story":
        anna, carl = (Person.create(folder, name) for name in ("anna", "carl"))
        made = cls(folder, World(), anna, carl, strict)
        signers_file(folder, made.anna)
        return made

    @property
    def signers(self) -> Path:
        return self.folder / "allowed_signers"

    def commit(self, files: dict[str, str | None], by: Person | None = None) -> str:
        signed_by = by.public_key if by else ""
        return self.world.host.commit(files, now=self.world.time.at, signed_by=signed_by)

    async def process(self, *, asks: bool = True) -> Process:
        process = await self.world.process()
        if asks:
            process.head.rules = SigningRules(self.strict, str(self.signers))
        return process

    async def fleet(self) -> Process:
        """A process that has taken a signed head in."""
        self.commit(dict(FILES), self.anna)
        process = await self.process()
        await self.world.settle(process)
        return process

    def rooms(self) -> tuple[int, int]:
        return len(self.world.pods("arena")), len(self.world.pods("lobby"))


def held(process: Process) -> str:
    """Why the whole head waits, "" where it does not."""
    holds = [hold for hold in process.lane.wanted.holds if hold.kind is HoldKind.UNSIGNED]
    return next((hold.reason for hold in holds if hold.key is None), "")


def approvable(process: Process) -> str:
    holds = [hold for hold in process.lane.wanted.holds if hold.kind is HoldKind.UNSIGNED]
    return holds[0].change_hash


@pytest.fixture(params=[True, False], ids=["strict", "head"])
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Story:
    return Story.begun(tmp_path, strict=request.param)


@pytest.fixture
def strict(tmp_path: Path) -> Story:
    return Story.begun(tmp_path, strict=True)


async def test_a_signed_head_acts_and_who_signed_it_stands_on_record(story: Story) -> None:
    process = await story.fleet()
    assert story.rooms() == (2, 2)
    assert not process.lane.wanted.holds
    record = process.lane.store.repository
    assert record.verified.startswith("signed by anna@example.test (")
    fresh = await story.process()
    await story.world.settle(fresh)
    assert fresh.lane.store.repository.verified == record.verified


async def test_an_unsigned_head_waits_as_a_whole_and_the_accepted_one_goes_on(
    story: Story,
) -> None:
    process = await story.fleet()
    accepted = process.lane.store.repository.commit
    bad = story.commit({ARENA: spec("arena", 5, "registry.example/game:2"), LOBBY: None})
    await story.world.settle(process)
    assert story.rooms() == (2, 2)
    assert process.lane.store.repository.commit == accepted
    assert f"commit {bad[:12]} of main is not signed; nothing of this head acts" in held(process)
    told = process.lane.store.repository.notices
    assert [(item.kind, item.change_hash) for item in told] == [
        (HoldKind.UNSIGNED, approvable(process))
    ]
    for key in process.lane.wanted.keys:
        told_of = {condition.reason for condition in process.lane.store.state(key).conditions}
        assert HoldKind.UNSIGNED in told_of
    # Healing goes on, also in a process that begins now.
    for each in (process, await story.process()):
        story.world.delete(f"/api/v1/namespaces/arena/pods/{story.world.names('arena')[0]}")
        await story.world.settle(each)
        assert story.rooms() == (2, 2)
        assert "not signed" in held(each)


async def test_a_count_beside_an_unsigned_head_says_what_it_waits_for(story: Story) -> None:
    process = await story.fleet()
    bad = story.commit({ARENA: spec("arena", 5)})
    await story.world.settle(process)
    store, (arena, _) = process.lane.store, sorted(process.lane.wanted.keys)
    decided = Intent(2, 4, (Step(story.world.time.at, 2, 4, "fixedBuffer", "two join"),))
    await store.change_state(arena, lambda record: replace(record, scaling=Scaling(intent=decided)))
    now = story.world.time.at
    found = standing_of(arena, store.state(arena), EMPTY_OUTBOX, WriteBack(), now)
    assert found is not None
    assert found.where == "held"
    said = f"the newest commit is held: commit {bad[:12]} of main is not signed"
    assert found.why.startswith(said)


async def test_nothing_of_an_unsigned_head_is_read(story: Story) -> None:
    process = await story.fleet()
    story.commit({"gamekeeper.yaml": "kind: [\n", ARENA: "!!python/object:os.system {}\n"})
    await story.world.settle(process)
    reading = process.head.reading
    assert reading is not None
    assert (reading.config, reading.findings, dict(reading.workloads)) == (None, (), {})
    assert [hold.kind for hold in process.lane.wanted.holds if hold.key is None] == ["unsigned"]


async def test_the_budgets_of_the_accepted_config_stay_in_force(story: Story) -> None:
    slow = CONFIG.replace("spec: {}", "spec: {pollSeconds: 17}")
    story.commit({**FILES, "gamekeeper.yaml": slow}, story.anna)
    process = await story.process()
    await story.world.settle(process)
    story.commit({"gamekeeper.yaml": CONFIG})
    await story.world.settle(process)
    record = process.lane.store.repository
    assert config_in_force(process.head.reading, record).poll_seconds == 17


async def test_a_key_that_is_not_allowed_signs_nothing(story: Story) -> None:
    process = await story.fleet()
    story.commit({ARENA: spec("arena", 5)}, story.carl)
    await story.world.settle(process)
    assert story.rooms() == (2, 2)
    assert "signed with a key that is not allowed" in held(process)


async def test_an_unsigned_first_head_makes_nothing(story: Story) -> None:
    story.commit(dict(FILES))
    process = await story.process()
    await story.world.settle(process)
    assert {"arena", "lobby"}.isdisjoint(story.world.namespaces())
    assert "Push a commit that an allowed key signed" in held(process)
    story.commit({}, story.anna)
    await story.world.settle(process)
    assert story.rooms() == (2, 2)
    assert not held(process)


async def test_a_signed_commit_on_top_lifts_it_where_the_head_is_asked(tmp_path: Path) -> None:
    story = Story.begun(tmp_path, strict=False)
    process = await story.fleet()
    story.commit({ARENA: spec("arena", 5)})
    await story.world.settle(process)
    story.commit({}, story.anna)
    await story.world.settle(process)
    assert story.rooms() == (5, 2)
    assert not process.lane.wanted.holds


async def test_strictly_the_bad_commit_stays_until_it_is_signed_anew(strict: Story) -> None:
    process = await strict.fleet()
    good = strict.world.host.branches["main"]
    bad = strict.commit({ARENA: spec("arena", 5)})
    strict.commit({LOBBY: spec("lobby", 3)}, strict.anna)
    await strict.world.settle(process)
    assert strict.rooms() == (2, 2)
    assert bad[:12] in held(process)
    assert f"git rebase --force-rebase --gpg-sign {bad[:12]}^" in held(process)
    strict.world.host.branch("main", good)
    strict.commit({ARENA: spec("arena", 5)}, strict.anna)
    strict.commit({LOBBY: spec("lobby", 3)}, strict.anna)
    await strict.world.settle(process)
    assert strict.rooms() == (5, 3)
    assert not process.lane.wanted.holds


async def test_an_approval_lets_just_these_commits_through(story: Story) -> None:
    process = await story.fleet()
    story.commit({ARENA: spec("arena", 5)})
    await story.world.settle(process)
    story.world.approve(approvable(process))
    await story.world.settle(process)
    assert story.rooms() == (5, 2)
    assert not process.lane.wanted.holds
    assert process.lane.store.repository.verified == "approved by anna"
    assert not process.head.given
    story.commit({ARENA: spec("arena", 3)})
    await story.world.settle(process)
    assert story.rooms() == (5, 2)
    assert "not signed" in held(process)


async def test_an_approval_of_an_hour_ago_lets_nothing_through(story: Story) -> None:
    process = await story.fleet()
    story.commit({ARENA: spec("arena", 5)})
    await story.world.settle(process)
    story.world.approve(approvable(process))
    story.world.pass_time(3700.0)
    await story.world.settle(process)
    assert story.rooms() == (2, 2)
    assert "not signed" in held(process)


async def test_strictly_an_approval_is_good_beneath_commits_that_are_signed(strict: Story) -> None:
    process = await strict.fleet()
    strict.commit({ARENA: spec("arena", 5)})
    await strict.world.settle(process)
    change_hash = approvable(process)
    strict.commit({LOBBY: spec("lobby", 3)}, strict.anna)
    await strict.world.settle(process)
    assert approvable(process) == change_hash
    strict.world.approve(change_hash)
    await strict.world.settle(process)
    assert strict.rooms() == (5, 3)


async def test_an_approved_head_passes_the_other_gates_all_the_same(story: Story) -> None:
    files = {**FILES, LOBBY: spec("lobby", 12)}
    story.commit(dict(files), story.anna)
    process = await story.process()
    await story.world.settle(process)
    story.commit({LOBBY: None})
    await story.world.settle(process)
    story.world.approve(approvable(process))
    await story.world.settle(process)
    assert story.rooms() == (2, 12)
    assert [hold.kind for hold in process.lane.wanted.holds] == [HoldKind.OVER_BUDGET]


async def test_a_branch_set_back_to_an_unsigned_commit_waits(story: Story) -> None:
    old = story.commit({**FILES, ARENA: spec("arena", 1)})
    process = await story.fleet()
    story.world.host.branch("main", old)
    await story.world.settle(process)
    assert story.rooms() == (2, 2)
    assert old[:12] in held(process)


async def test_of_a_rewritten_branch_what_did_not_lead_to_the_accepted_head_is_asked(
    strict: Story,
) -> None:
    process = await strict.fleet()
    strict.world.host.rewrite(dict(FILES))
    root = strict.world.host.branches["main"]
    strict.commit({ARENA: spec("arena", 5)}, strict.anna)
    await strict.world.settle(process)
    assert strict.rooms() == (2, 2)
    assert root[:12] in held(process)


Spoil = Callable[[Path], object]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(lambda path: path.unlink(), "cannot be read", id="missing"),
        pytest.param(lambda path: path.write_text(""), "names nobody", id="empty"),
        pytest.param(
            lambda path: path.write_text("# anna\n" + path.read_text().split(maxsplit=1)[1]),
            "line 2 does not begin with a name and a type",
            id="a file of public keys",
        ),
        pytest.param(
            lambda path: path.write_text(path.read_text().replace("ssh-ed25519 ", "")),
            "line 1 does not begin with a name and a type",
            id="no type",
        ),
        pytest.param(
            lambda path: path.write_text("anna@x ssh-ed25519 AAAA\n"),
            "line 1 has no public key",
            id="no key",
        ),
        pytest.param(lambda path: path.write_text("#" * 2_000_000), "1 MiB", id="too large"),
    ],
)
async def test_without_usable_keys_nothing_acts_and_nothing_is_lost(
    story: Story, spoil: Spoil, said: str
) -> None:
    process = await story.fleet()
    spoil(story.signers)
    story.commit({ARENA: spec("arena", 5), LOBBY: None}, story.anna)
    for each in (process, await story.process()):
        error = await _look(each)
        assert said in error
        story.world.delete(f"/api/v1/namespaces/arena/pods/{story.world.names('arena')[0]}")
        await story.world.settle(each)
        assert story.rooms() == (2, 2)
    signers_file(story.folder, story.anna)
    await story.world.settle(each)
    assert len(story.world.pods("arena")) == 5


async def _look(process: Process) -> str:
    await process.view.read()
    with pytest.raises(Misconfigured) as caught:
        await head.look(process.head, process.world.time.now())
    return str(caught.value)


async def test_a_key_taken_away_counts_from_the_next_commit_on(story: Story) -> None:
    process = await story.fleet()
    signers_file(story.folder, story.carl)
    for each in (process, await story.process()):
        await story.world.settle(each)
        assert not each.lane.wanted.holds
    story.commit({ARENA: spec("arena", 5)}, story.anna)
    await story.world.settle(process)
    assert story.rooms() == (2, 2)
    # A key that is added lifts the hold by itself.
    signers_file(story.folder, story.carl, story.anna)
    await story.world.settle(process)
    assert story.rooms() == (5, 2)


async def test_where_it_is_asked_for_later_what_was_accepted_before_vouches_for_nothing(
    story: Story,
) -> None:
    story.commit(dict(FILES))
    process = await story.process(asks=False)
    await story.world.settle(process)
    assert process.lane.store.repository.verified == ""
    asking = await story.process()
    await story.world.settle(asking)
    assert story.rooms() == (2, 2)
    assert "not signed" in held(asking)
    story.commit({}, story.anna)
    await story.world.settle(asking)
    assert not asking.lane.wanted.holds


async def test_a_commit_of_ours_that_waits_since_its_record_is_lost_is_told_as_such(
    story: Story,
) -> None:
    process = await story.fleet()
    store = process.lane.store
    ours = story.commit({"README.md": "a count, say"})
    await store.change_repository(lambda newest: replace(newest, pushed=(ours,)))
    await story.world.settle(process)
    assert not held(process)
    story.world.delete(f"/api/v1/namespaces/gamekeeper/configmaps/{store.repository_ref.name}")
    fresh = await story.process()
    await fresh.turn()
    assert "the ids of Gamekeeper's own commits are lost with it" in held(fresh)
    assert ours[:12] in held(fresh)
    story.commit({}, story.anna)
    await story.world.settle(fresh)
    assert (held(fresh), story.rooms()) == ("", (2, 2))


async def test_a_lost_record_begins_with_the_head(story: Story) -> None:
    process = await story.fleet()
    ref = process.lane.store.repository_ref
    story.world.delete(f"/api/v1/namespaces/gamekeeper/configmaps/{ref.name}")
    fresh = await story.process()
    await story.world.settle(fresh)
    assert story.rooms() == (2, 2)
    assert not held(fresh)
