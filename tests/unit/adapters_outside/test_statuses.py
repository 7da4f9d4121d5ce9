"""The status of a commit is set over real connections: what arrives, and what answers mean."""

from pathlib import Path

import pytest
from aiohttp import web

from reconciler.adapters.outside.exchange import Exchange
from reconciler.adapters.outside.posting import refusal_of
from reconciler.adapters.outside.resolver import CheckedResolver
from reconciler.adapters.outside.statuses import HttpStatuses, Signboard
from reconciler.core.code_hosts import Host, Hosted
from reconciler.model.errors import Misconfigured
from reconciler.model.notifications import CommitState, Verdict
from tests.canaries.places import canary
from tests.unit.adapters_outside.servers import Answering, Stranger, answering

COMMIT = "ab" * 20
BEING_APPLIED = Verdict(COMMIT, CommitState.PENDING, "being applied", "")
TWICE = (
    '{"message":"Cannot transition status via :enqueue from :pending'
    ' (Reason(s): Status cannot transition via \\"enqueue\\")"}'
)
"""What GitLab answers to `pending` where that stands (its issue 25807)."""


def refusing(text: str) -> Answering:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=400, text=text)

    return answer


async def set_at(server: Stranger, host: Host, folder: Path) -> None:
    token = folder / "token"
    token.write_text(canary("commit status token"))
    board = Signboard(Hosted(host, server.origin, ("studio", "fleet")), "gamekeeper", str(token))
    statuses = HttpStatuses(Exchange(CheckedResolver(refusal_of), None, 30.0), board)
    try:
        await statuses.set(BEING_APPLIED)
    finally:
        await statuses.close()


async def test_what_gitlab_has_already_is_set(tmp_path: Path) -> None:
    async with answering(refusing(TWICE)) as server:
        await set_at(server, Host.GITLAB, tmp_path)
    (asked,) = server.asked
    assert asked["path"] == f"/projects/studio/fleet/statuses/{COMMIT}"
    assert asked["headers"]["PRIVATE-TOKEN"] == canary("commit status token")
    assert '"state":"pending"' in asked["text"]


@pytest.mark.parametrize(
    ("host", "text"),
    [
        pytest.param(Host.GITHUB, TWICE, id="of another host"),
        pytest.param(
            Host.GITLAB, TWICE.replace(":enqueue", ":run"), id="of a state that is not ours"
        ),
        pytest.param(Host.GITLAB, '{"message":"context has already been taken"}', id="a mistake"),
    ],
)
async def test_another_refusal_is_none_of_that(tmp_path: Path, host: Host, text: str) -> None:
    async with answering(refusing(text)) as server:
        with pytest.raises(Misconfigured, match=f"{host} answers 400"):
            await set_at(server, host, tmp_path)
