"""Counts beside a branch that Gitea protects: ours are pushed, people's come by a merge."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from reconciler.loop import head
from reconciler.loop.landing import Landed, Terms, land
from reconciler.loop.tries import Tries
from reconciler.model.errors import Denied
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.pushes import Change
from reconciler.model.records import StateRecord
from reconciler.ports import WritableRepository
from tests.codehost.conftest import Opening
from tests.codehost.gitea import Gitea
from tests.contract.pushes import AT, AUTHOR
from tests.loop.scaling.house import ARENA, FILE, scaled
from tests.loop.world import CONFIG, START, Process, World

APART = CONFIG.replace("{}", "{writeBack: {branch: counts}}")
SPEC = scaled(2, [{"replicas": 6}])


async def decided(process: Process, repository: WritableRepository, count: int) -> Landed:
    """Decide a count as a policy would, and commit it."""
    store = process.lane.store
    known = store.state(ARENA).accepted
    assert known is not None
    step = Step(START, known.replicas, count, "schedule", "by the clock")

    def deciding(newest: StateRecord) -> StateRecord:
        return replace(newest, scaling=Scaling(Intent(known.replicas, count, (step,))))

    await store.change_state(ARENA, deciding)
    return await land(process.head, repository, Terms(AUTHOR), START, Tries())


async def count_of(process: Process, later_seconds: float) -> int:
    """Look, and return the count that is wanted."""
    await head.look(process.head, START + later_seconds)
    return process.lane.store.state(ARENA).in_effect


def written(gitea: Gitea, name: str, file: str, old: str, new: str, **where: str) -> None:
    """Change a file in Gitea's editor."""
    told: dict[str, Any] = gitea.ask("GET", f"repos/{name}/contents/{file}?ref={where['branch']}")
    text = base64.b64decode(told["content"]).decode()
    assert old in text
    content = base64.b64encode(text.replace(old, new).encode()).decode()
    body = {"content": content, "sha": told["sha"], "message": "By hand", **where}
    gitea.ask("PUT", f"repos/{name}/contents/{file}", body)


@pytest.mark.real
async def test_ours_land_beside_a_protected_branch_and_people_win_on_both(
    gitea: Gitea, opening: Opening
) -> None:
    name = gitea.make_repository("beside", "bot")
    token = gitea.make_token("bot")
    async with opening(name, token.text) as mirror, opening(name, token.text) as outbox:
        base = (await mirror.fetch()).commit
        files = {"gamekeeper.yaml": APART.encode(), FILE: SPEC.encode()}
        start = Change(base, "main", files, "Start", AUTHOR, AT)
        main = (await mirror.push(start)).commit
        gitea.protect(name, "main")
        process = await World().process()
        process.head.repository = mirror
        assert await count_of(process, 1.0) == 2

        landed = await decided(process, outbox, 6)
        assert (gitea.head(name), gitea.head(name, "counts")) == (main, landed.commit)
        assert gitea.log(name, "counts") == [landed.commit, main, base]
        assert await count_of(process, 2.0) == 6
        assert process.lane.store.state(ARENA).scaling.intent is None
        with pytest.raises(Denied):
            await outbox.push(Change(main, "main", {FILE: b""}, "No", AUTHOR, AT))

        written(gitea, name, "replicas.yaml", ": 6", ": 3", branch="counts")
        assert await count_of(process, 3.0) == 3
        assert process.lane.store.state(ARENA).scaling.held_by == gitea.head(name, "counts")

        edit = {"branch": "main", "new_branch": "weekend"}
        written(gitea, name, FILE, "replicas: 2", "replicas: 9", **edit)
        asked = {"head": "weekend", "base": "main", "title": "Weekend"}
        number = gitea.ask("POST", f"repos/{name}/pulls", asked)["number"]
        gitea.merge(name, number)
        assert await count_of(process, 4.0) == 9
        carried = await land(process.head, outbox, Terms(AUTHOR), START + 5.0, Tries())
        assert gitea.head(name, "counts") == carried.commit
        assert await count_of(process, 6.0) == 9
    gitea.revoke("bot", token)
