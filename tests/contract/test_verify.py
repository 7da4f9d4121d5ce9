"""What every Repository keeps of `verify`: the same tests on memory and on git with real keys."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest

from reconciler.model.errors import Misconfigured
from reconciler.model.signatures import SigningRules, Span, Verification
from reconciler.ports import Repository
from tests.contract.far import NOW, Far

NOT_ALLOWED = "signed with a key that is not allowed"


@asynccontextmanager
async def fetched(host: Far) -> AsyncIterator[Repository]:
    """A repository that has seen the newest head."""
    repository = host.repository()
    try:
        await repository.fetch()
        yield repository
    finally:
        await repository.close()


class Scene:
    """A host, and what is asked of it."""

    def __init__(self, host: Far) -> None:
        self.far = host
        self.number = 0

    def commit(self, signer: str = "") -> str:
        self.number += 1
        person = getattr(self.far, signer) if signer else None
        return self.far.commit({"a.yaml": str(self.number)}, f"Number {self.number}", person)

    async def ask(
        self, tip: str, known: Iterable[str] = (), ours: Iterable[str] = (), *, strict: bool = True
    ) -> Verification:
        async with fetched(self.far) as repository:
            rules = SigningRules(strict, self.far.signers)
            return await repository.verify(Span(tip, tuple(known), frozenset(ours)), rules, NOW)


@pytest.fixture
def scene(far: Far) -> Scene:
    return Scene(far)


def problems(found: Verification) -> list[tuple[str, str]]:
    assert not found.cut
    return [(each.commit, each.problem) for each in found.unsigned]


async def test_a_head_that_an_allowed_key_signed_is_that_persons_word(scene: Scene) -> None:
    base = scene.commit()
    tip = scene.commit("anna")
    for strict in (True, False):
        found = await scene.ask(tip, (base,), strict=strict)
        assert found.by.startswith("signed by anna@example.test (")
        assert (found.tip, problems(found)) == (tip, [])


@pytest.mark.long
async def test_of_a_head_alone_only_the_newest_commit_is_asked(scene: Scene) -> None:
    base = scene.commit("anna")
    scene.commit()
    tip = scene.commit("bea")
    assert problems(await scene.ask(tip, (base,), strict=False)) == []
    plain = scene.commit()
    assert problems(await scene.ask(plain, (base,), strict=False)) == [(plain, "not signed")]
    other = scene.commit("carl")
    assert problems(await scene.ask(other, (base,), strict=False)) == [(other, NOT_ALLOWED)]


async def test_strictly_every_commit_since_the_known_one_is_asked(scene: Scene) -> None:
    scene.commit()
    base = scene.commit("anna")
    plain = scene.commit()
    other = scene.commit("carl")
    tip = scene.commit("bea")
    expected = [(other, NOT_ALLOWED), (plain, "not signed")]
    assert problems(await scene.ask(tip, (base,))) == expected
    assert problems(await scene.ask(tip, (other,))) == []


async def test_where_nothing_is_known_the_head_comes_first_and_alone(scene: Scene) -> None:
    scene.commit()
    tip = scene.commit("anna")
    assert problems(await scene.ask(tip)) == []
    plain = scene.commit()
    assert problems(await scene.ask(plain)) == [(plain, "not signed")]


async def test_whether_a_commit_is_signed_at_all_is_told_without_any_key(scene: Scene) -> None:
    found = dict[str, bool]()
    for signer in ("", "anna", "carl"):
        tip = scene.commit(signer)
        async with fetched(scene.far) as repository:
            told = await repository.verify(Span(tip), SigningRules(strict=False), NOW)
        (each,) = told.unsigned
        found[signer] = each.signed
    assert found == {"": False, "anna": True, "carl": True}


async def test_a_known_commit_that_is_not_there_leaves_all_of_history(scene: Scene) -> None:
    first = scene.commit()
    tip = scene.commit("anna")
    assert problems(await scene.ask(tip, ("0" * 40,))) == [(first, "not signed")]


@pytest.mark.long
async def test_commits_of_ours_are_known_by_their_ids_and_hide_nobodys(scene: Scene) -> None:
    base = scene.commit("anna")
    ours = scene.commit()
    found = await scene.ask(ours, (base,), (ours,))
    assert (found.by, problems(found)) == ("pushed by this Gamekeeper", [])
    plain = scene.commit()
    newest = scene.commit()
    for strict in (True, False):
        found = await scene.ask(newest, (base,), (ours, newest), strict=strict)
        assert problems(found) == [(plain, "not signed")]
        # Also where nobody ever looked beneath it.
        assert problems(await scene.ask(newest, (), (newest,), strict=strict)) == [
            (plain, "not signed")
        ]


@pytest.mark.long
async def test_a_branch_set_back_to_an_unsigned_commit_has_an_unsigned_head(scene: Scene) -> None:
    plain = scene.commit()
    tip = scene.commit("anna")
    for strict in (True, False):
        assert problems(await scene.ask(plain, (tip,), strict=strict)) == [(plain, "not signed")]
        assert problems(await scene.ask(tip, (tip,), strict=strict)) == []


async def test_of_a_rewritten_branch_all_is_asked_that_did_not_lead_to_the_known_one(
    scene: Scene,
) -> None:
    base = scene.commit()
    known = scene.commit("anna")
    async with fetched(scene.far) as repository:
        scene.far.force(base)
        plain = scene.commit()
        tip = scene.commit("bea")
        await repository.fetch()
        rules = SigningRules(True, scene.far.signers)
        found = await repository.verify(Span(tip, (known,)), rules, NOW)
    assert problems(found) == [(plain, "not signed")]


@pytest.mark.long
async def test_too_many_are_not_looked_at_and_that_is_said(scene: Scene) -> None:
    base = scene.commit("anna")
    for _ in range(25):
        tip = scene.commit()
    found = await scene.ask(tip, (base,))
    assert found.cut
    assert len(found.unsigned) == 21


async def test_keys_are_read_again_at_each_check_and_without_any_nothing_is_told(
    scene: Scene,
) -> None:
    base = scene.commit()
    tip = scene.commit("anna")
    async with fetched(scene.far) as repository:
        rules = SigningRules(True, scene.far.signers)
        span = Span(tip, (base,))
        assert problems(await repository.verify(span, rules, NOW)) == []
        file = scene.far.folder / "allowed_signers"
        file.write_text(scene.far.bea.line)
        assert problems(await repository.verify(span, rules, NOW)) == [(tip, NOT_ALLOWED)]
        file.write_text("# nobody\n\n")
        with pytest.raises(Misconfigured, match="names nobody"):
            await repository.verify(span, rules, NOW)
        file.unlink()
        with pytest.raises(Misconfigured, match=r"commit signers .* cannot be read"):
            await repository.verify(span, rules, NOW)
        # What is asked about nobody asks for keys.
        assert problems(await repository.verify(Span(tip, (tip,)), rules, NOW)) == []
