"""Whose commits have statuses is settled at the start, or refused with its fix."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from reconciler.model import labels
from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.model.notifications import CommitState, Verdict
from reconciler.service.outbox import OutboxNotes
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster
from reconciler.wiring.telling import hosted_by, make_statuses, make_telling
from tests.canaries.places import canary
from tests.gitservers.certificates import make_certificate, server_context
from tests.unit.adapters_outside.servers import answering
from tests.unit.service_views.scripted import VirtualClock

HUB: dict[str, Any] = {"repo": "https://github.com/studio/fleet.git", "commit_status": "auto"}
HERE: dict[str, Any] = {"repo": "http://127.0.0.1:3000/a/b.git", "commit_status": "gitea"}

API_SERVER = "http://127.0.0.1:9"


def test_nothing_is_set_unless_it_was_asked_for() -> None:
    assert hosted_by(Settings(repo="https://github.com/studio/fleet.git")) is None
    assert make_statuses(Settings(repo="https://github.com/studio/fleet.git")) is None


async def test_the_token_of_git_is_good_for_statuses_unless_there_is_another() -> None:
    each: tuple[dict[str, Any], ...] = ({"git_token_file": "t"}, {"commit_status_token_file": "t"})
    for files in each:
        made = make_statuses(Settings(**HUB, **files))
        assert made is not None
        assert made.kind == "github"
        await made.close()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param({**HUB}, "needs a token", id="no token"),
        pytest.param({**HUB, "repo": "https://git.example.com/a/b"}, "host is not known",
                     id="an unknown host"),
        pytest.param({**HUB, "repo": "https://me:hunter2@git.example.com/a/b"}, "is not known",
                     id="a password"),
        pytest.param({**HUB, "repo": "/srv/fleet.git"}, "is none of https", id="a path"),
        pytest.param({**HERE, "repo": "http://git.example.com/a/b", "git_token_file": "t"},
                     "show its token to everyone", id="plain http"),
        pytest.param({**HUB, "git_token_file": "t", "commit_status_target_url": "javascript:x"},
                     "--commit-status-target-url is no address", id="no target"),
    ],
)  # fmt: skip
def test_what_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(Misconfigured, match=why) as refused:
        make_statuses(Settings(**given))
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("given", [{}, {**HUB, "git_token_file": "t"}], ids=["nobody", "a host"])
async def test_who_begins_to_lead_says_nothing_of_commits_of_an_earlier_term(
    given: dict[str, Any],
) -> None:
    settings = Settings(server=API_SERVER, instance="main", **given)
    outbox, nowhere = OutboxNotes(VirtualClock()), make_cluster(settings)
    telling = make_telling(settings, nowhere, outbox, lambda: True, CollectorRegistry())
    outbox.unlanded(Unavailable("no route to host"))
    assert labels.OUTBOX in telling.notes()
    telling.forget()
    assert labels.OUTBOX not in telling.notes()
    await nowhere.close()


@pytest.mark.parametrize("is_short", [False, True], ids=["absolute", "from ~"])
async def test_the_authority_of_the_code_host_is_that_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_short: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    certificate = make_certificate(tmp_path)

    def named(file: Path) -> str:
        return f"~/{file.relative_to(tmp_path)}" if is_short else str(file)

    token = tmp_path / "token"
    token.write_text(secret := canary("commit status token"))
    verdict = Verdict("ab" * 20, CommitState.SUCCESS, "every workload is as Git says", "")
    given: dict[str, Any] = {
        "commit_status": "gitea",
        "git_token_file": named(token),
        "instance": "main",
    }

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({}, status=201)

    async with answering(answer, server_context(certificate)) as server:
        repository: dict[str, Any] = {"repo": f"{server.origin}/a/b.git"}
        trusting: dict[str, Any] = {"git_certificate_authority_file": named(certificate)}
        untrusting: dict[str, Any] = {}
        for more in (untrusting, trusting):
            made = make_statuses(Settings(**given, **repository, **more))
            assert made is not None
            if more:
                await made.set(verdict)
            else:
                with pytest.raises(Unavailable, match="shows a certificate that is refused"):
                    await made.set(verdict)
            await made.close()
    (asked,) = server.asked
    assert asked["path"] == f"/api/v1/repos/a/b/statuses/{verdict.commit}"
    assert asked["headers"]["Authorization"] == f"token {secret}"
