"""Policies on a branch that must be signed: counts go on, and nothing lands on what waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reconciler.model.holds import HoldKind
from reconciler.model.signatures import SigningRules
from reconciler.service.app import App, Parts
from tests.gitservers.signing import Person, signers_file
from tests.loop.safety import Bounds
from tests.loop.scaling.counts import counts_of
from tests.loop.scaling.house import FILE, ScalingService, Scene, scaled, stage
from tests.loop.service import Service
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG

pytestmark = pytest.mark.long

SIX = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""
NINE = [*SIX, {"from": "08:12", "to": "20:00", "replicas": 9}]
APART = CONFIG.replace("{}", "{writeBack: {branch: counts}}")
MODES = pytest.mark.parametrize("strict", [True, False], ids=["strict", "head"])


class SignedService(ScalingService):
    """One that asks for signatures, and signs nothing itself."""

    rules: SigningRules

    def _app(self, parts: Parts) -> App:
        parts.head.rules = self.rules
        return super()._app(parts)


@asynccontextmanager
async def signed(
    folder: Path, text: str, *, strict: bool, config: str = CONFIG
) -> AsyncIterator[tuple[Scene, Person]]:
    """Open a scene whose head somebody signed."""
    anna = Person.create(folder, "anna")
    asked = SigningRules(strict, signers_file(folder, anna))

    class Asking(SignedService):
        rules = asked

    class SignedScene(Scene):
        def _process(self, name: str) -> Service:
            return Asking(self.world, name, self.weather, self.habits)

    files = {"gamekeeper.yaml": config, FILE: text}
    async with stage(files, {"arena": Bounds(30, 0)}, made=SignedScene) as there:
        there.world.host.commit({}, signed_by=anna.public_key)
        there.start("one")
        yield there, anna


def kinds(there: Scene) -> set[HoldKind]:
    """What is held, or told."""
    assert there.leader is not None
    return {hold.kind for hold in there.leader.lane.wanted.holds}


@MODES
def test_our_own_commits_are_verified_by_their_ids_and_it_is_said_that_nobody_else_can(
    tmp_path: Path, strict: bool
) -> None:
    async def main() -> None:
        async with signed(tmp_path, scaled(2, NINE), strict=strict) as (there, _):
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            await there.until("nine in Git", lambda: there.count_in_git() == 9, 900.0)
            await there.until("nine rooms", lambda: there.rooms() == 9, 60.0)
            await asyncio.sleep(70.0)
            assert kinds(there) == {HoldKind.UNSIGNED_COUNTS}
            assert there.leader is not None
            record = there.leader.lane.store.repository
            assert (record.commit, record.verified) == (there.head(), "pushed by this Gamekeeper")
            assert record.in_step == there.head()

    in_virtual_time(main())


@MODES
def test_policies_go_on_beside_an_unsigned_head_and_no_commit_is_put_upon_it(
    tmp_path: Path, strict: bool
) -> None:
    async def main() -> None:
        async with signed(tmp_path, scaled(2, NINE), strict=strict) as (there, anna):
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            await asyncio.sleep(70.0)
            good = there.head()
            bad = there.world.commit({FILE: scaled(6, [{"replicas": 15}])})
            await there.until("nine rooms", lambda: there.rooms() == 9, 900.0)
            await asyncio.sleep(600.0)
            assert (there.head(), there.rooms()) == (bad, 9)
            assert HoldKind.UNSIGNED in kinds(there)
            there.world.host.branch("main", good)
            there.world.host.commit({"NOTES.md": "words\n"}, signed_by=anna.public_key)
            await there.until("nine in Git", lambda: there.count_in_git() == 9, 300.0)
            await asyncio.sleep(70.0)
            assert kinds(there) == {HoldKind.UNSIGNED_COUNTS}

    in_virtual_time(main())


@MODES
def test_who_pushes_unsigned_between_two_commits_of_ours_is_found(
    tmp_path: Path, strict: bool
) -> None:
    async def main() -> None:
        async with signed(tmp_path, scaled(2, NINE), strict=strict) as (there, _):
            there.world.host.rivals = [{"NOTES.md": "an unsigned person was first\n"}]
            await there.until("six rooms", lambda: there.rooms() == 6, 500.0)
            await there.until("a race", lambda: there.ledgers[0].races == 1, 200.0)
            await there.until("nine rooms", lambda: there.rooms() == 9, 900.0)
            await asyncio.sleep(300.0)
            assert there.subjects()[0] == "rival"
            assert HoldKind.UNSIGNED in kinds(there)

    in_virtual_time(main())


@MODES
def test_an_unsigned_number_on_the_branch_of_counts_waits_for_an_approval(
    tmp_path: Path, strict: bool
) -> None:
    def counts(there: Scene) -> dict[str, int]:
        host = there.world.host
        tip = host.branches.get("counts")
        return counts_of(host.commits[tip].files.get("replicas.yaml") if tip else None)

    async def main() -> None:
        text = scaled(2, SIX)
        async with signed(tmp_path, text, strict=strict, config=APART) as (there, _):
            await there.until("six in Git", lambda: counts(there) == {"Scheduler/arena": 6}, 500.0)
            await asyncio.sleep(70.0)
            assert kinds(there) == {HoldKind.UNSIGNED_COUNTS}
            host = there.world.host
            words = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
            bad = host.commit({"replicas.yaml": words.replace(": 6\n", ": 8\n")}, branch="counts")
            await asyncio.sleep(200.0)
            assert there.rooms() == 6
            assert there.leader is not None
            holds = there.leader.lane.wanted.holds
            (hold,) = (each for each in holds if each.kind is HoldKind.UNSIGNED and not each.key)
            assert f"commit {bad[:12]} of counts is not signed" in hold.reason
            there.world.approve(hold.change_hash)
            await there.until("eight rooms", lambda: there.rooms() == 8, 90.0)

    in_virtual_time(main())
