"""The adapter pushes to a real Gitea: taken, protected, revoked, archived, raced."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.model.errors import Conflict, Denied
from tests.codehost.build import CodeHostAbsent, find
from tests.codehost.conftest import Opening
from tests.codehost.gitea import Gitea
from tests.contract.pushes import change

NEW = {"rooms/arena.yaml": b"replicas: 5\n"}


@pytest.mark.real
async def test_a_push_to_an_open_branch_lands_with_its_author(
    gitea: Gitea, opening: Opening
) -> None:
    name = gitea.make_repository("open", "bot")
    token = gitea.make_token("bot")
    async with opening(name, token.text) as repository:
        base = (await repository.fetch()).commit
        pushed = await repository.push(change(base, NEW))
        beside = await repository.push(change(base, NEW, branch="gamekeeper/x", creates=True))
        other = change(base, {"b.yaml": b"b\n"}, branch="gamekeeper/x", replaces=beside.commit)
        replaced = await repository.push(other)
    gitea.revoke("bot", token)
    assert gitea.log(name) == [pushed.commit, base]
    assert gitea.head(name, "gamekeeper/x") == replaced.commit
    told = gitea.ask("GET", f"repos/{name}/git/commits/{pushed.commit}")
    assert told["commit"]["author"]["email"] == "gamekeeper@example.test"


@pytest.mark.real
async def test_a_protected_branch_is_denied_in_giteas_words(gitea: Gitea, opening: Opening) -> None:
    name = gitea.make_repository("protected", "bot")
    gitea.protect(name, "main")
    token = gitea.make_token("bot")
    async with opening(name, token.text) as repository:
        base = (await repository.fetch()).commit
        with pytest.raises(Denied, match="Not allowed to push to protected branch main") as raised:
            await repository.push(change(base, NEW))
        assert token.text not in str(raised.value)
        beside = await repository.push(change(base, NEW, branch="scaling", creates=True))
    gitea.revoke("bot", token)
    assert (gitea.head(name), gitea.head(name, "scaling")) == (base, beside.commit)


@pytest.mark.real
@pytest.mark.parametrize("trouble", ["revoked", "may only read", "archived", "no writer"])
async def test_a_token_that_may_not_write_is_denied(
    gitea: Gitea, opening: Opening, trouble: str
) -> None:
    name = gitea.make_repository(f"denied-{trouble.replace(' ', '-')}", "bot")
    scope = "read:repository" if trouble == "may only read" else "write:repository"
    token = gitea.make_token("bot", scope)
    async with opening(name, token.text) as repository:
        base = (await repository.fetch()).commit
        written = await repository.write(change(base, NEW))
        if trouble == "revoked":
            gitea.revoke("bot", token)
        elif trouble == "archived":
            gitea.archive(name)
        elif trouble == "no writer":
            reader = {"permission": "read"}
            gitea.ask("PUT", f"repos/{name}/collaborators/bot", reader)
        with pytest.raises(Denied):
            await repository.push(change(base, NEW), written)
    if trouble != "revoked":
        gitea.revoke("bot", token)
    assert gitea.head(name) == base


@pytest.mark.real
async def test_two_racing_committers_both_land(gitea: Gitea, opening: Opening) -> None:
    name = gitea.make_repository("raced", "bot")
    token = gitea.make_token("bot")

    async def land(repository: Mirror, path: str, number: int) -> str:
        while True:
            head = (await repository.fetch()).commit
            with contextlib.suppress(Conflict):
                files = {path: b"replicas: %d\n" % number}
                return (await repository.push(change(head, files))).commit

    async with opening(name, token.text) as one, opening(name, token.text) as other:
        base = (await one.fetch()).commit
        await other.fetch()
        first = await one.push(change(base, {"a.yaml": b"a\n"}))
        with pytest.raises(Conflict):
            await other.push(change(base, {"b.yaml": b"b\n"}))
        landed = [first.commit, await land(other, "b.yaml", 0)]
        for number in range(1, 6):
            both = (land(one, "a.yaml", number), land(other, "b.yaml", number))
            landed += await asyncio.gather(*both)
    gitea.revoke("bot", token)
    assert sorted(gitea.log(name)) == sorted([*landed, base])


def test_an_absent_gitea_is_named_with_what_builds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GAMEKEEPER_CACHE", str(tmp_path))
    with pytest.raises(CodeHostAbsent, match=r"python -m tests\.codehost build"):
        find()
