"""Commit statuses at a real Gitea: set, changed, and refused without the right to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reconciler.model.errors import Denied, PortError
from reconciler.model.notifications import CommitState, Verdict
from reconciler.outside_ports import Statuses
from reconciler.settings import Settings
from reconciler.wiring.telling import make_statuses
from tests.codehost.gitea import Gitea

CONTEXT = "gamekeeper/main/local"


@asynccontextmanager
async def statuses(
    gitea: Gitea, name: str, token: str, folder: Path, **more: Any
) -> AsyncIterator[Statuses]:
    file = folder / "token"
    file.write_text(token + "\n")
    given: dict[str, Any] = {
        "repo": gitea.url(name),
        "instance": "main",
        "commit_status_token_file": str(file),
    }
    made = make_statuses(Settings(commit_status="gitea", **given, **more))
    assert made is not None
    try:
        yield made
    finally:
        await made.close()


def shown(gitea: Gitea, name: str, commit: str) -> list[tuple[str, str, str, str]]:
    """What Gitea shows beside a commit: one status for each context."""
    told = gitea.ask("GET", f"repos/{name}/commits/{commit}/status")
    return [
        (each["context"], each["status"], each["description"], each["target_url"])
        for each in told["statuses"] or ()
    ]


@pytest.mark.real
async def test_a_status_is_shown_and_changes_in_its_place(gitea: Gitea, tmp_path: Path) -> None:
    name = gitea.make_repository("shown", "bot")
    token, head = gitea.make_token("bot"), gitea.head(name)
    link = "https://board.example.com/fleet"
    async with statuses(gitea, name, token.text, tmp_path, commit_status_target_url=link) as board:
        for state in CommitState:
            description = f"it is <{state}> & more"
            await board.set(Verdict(head, state, description, ""))
            assert shown(gitea, name, head) == [(CONTEXT, str(state), description, link)]
    gitea.revoke("bot", token)


@pytest.mark.real
async def test_who_may_not_write_is_told_so_and_nothing_is_shown(
    gitea: Gitea, tmp_path: Path
) -> None:
    name = gitea.make_repository("unshown")  # the bot is nobody there
    head = gitea.head(name)
    token = gitea.make_token("bot")
    verdict = Verdict(head, CommitState.SUCCESS, "every workload is as Git says", "")
    async with statuses(gitea, name, token.text, tmp_path) as board:
        with pytest.raises(PortError, match=r"gitea answers 40[34]"):
            await board.set(verdict)
    gitea.revoke("bot", token)
    async with statuses(gitea, name, token.text, tmp_path) as board:
        with pytest.raises(Denied, match="gitea answers 401") as refused:
            await board.set(verdict)
    assert token.text not in str(refused.value)
    assert shown(gitea, name, head) == []
