import asyncio
import gc
from itertools import pairwise

import pytest
from aiohttp import web

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model.errors import (
    Conflict,
    Denied,
    Expired,
    Misconfigured,
    PortError,
    Unanswered,
    Unavailable,
)
from reconciler.model.refs import Followed, Json, ObjectRef
from reconciler.ports import WatchEvent
from tests.canaries.places import canary
from tests.unit.adapters_kubernetes.fault_server import (
    Answer,
    faulty,
    hangs,
    line,
    resets,
    says,
    streams,
)

TOKEN = canary("cluster token")
REF = ObjectRef("v1", "ConfigMap", "n", "a")
BODY: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "n", "resourceVersion": "1"},
}
SILENCE_SECONDS = 0.2
EMPTY: Json = {"items": [], "metadata": {"resourceVersion": "7"}}


async def collect(cluster: KubernetesCluster) -> list[WatchEvent]:
    return [event async for event in cluster.watch(Followed("v1", "Pod"), "5")]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(says(500), id="a fault of the server"),
        pytest.param(says(503), id="a proxy that finds no server"),
        pytest.param(resets(), id="a broken connection"),
    ],
)
async def test_reads_and_applies_are_sent_again(fault: Answer) -> None:
    async with faulty(fault, says(200, BODY)) as (server, cluster):
        assert await cluster.get(REF) == BODY
        assert len(server.seen) >= 2
    async with faulty(fault, says(200, BODY)) as (server, cluster):
        assert await cluster.apply(BODY, dry_run=True) == BODY
        assert len(server.seen) >= 2


async def test_an_apply_is_sent_again_where_it_was_refused_and_not_where_it_may_come_late() -> None:
    async with faulty(says(429), says(200, BODY)) as (server, cluster):
        assert await cluster.apply(BODY) == BODY
        assert len(server.seen) >= 2
    for fault in (says(504), resets(), hangs()):
        async with faulty(fault, says(200, BODY), request_seconds=0.9) as (server, cluster):
            with pytest.raises(Unanswered, match="apply ConfigMap n/a"):
                await cluster.apply(BODY)
            assert [method for _, method, _ in server.seen].count("PATCH") == 1


async def test_a_create_is_sent_once_whatever_becomes_of_it() -> None:
    for fault in (says(500), resets(), hangs()):
        async with faulty(fault, says(201, BODY), request_seconds=0.9) as (server, cluster):
            with pytest.raises(Unavailable, match="create ConfigMap n/a"):
                await cluster.create(BODY)
            assert len(server.seen) == 1


async def test_replaces_and_deletes_are_sent_once_for_their_fence_would_refuse_the_second() -> None:
    async with faulty(says(500)) as (server, cluster):
        with pytest.raises(Unavailable):
            await cluster.replace(BODY)
        with pytest.raises(Unavailable):
            await cluster.delete(REF, "uid", "1")
        assert [method for _, method, _ in server.seen] == ["PUT", "DELETE"]


async def test_a_server_that_hangs_meets_the_deadline() -> None:
    async with faulty(hangs(), request_seconds=0.9) as (server, cluster):
        with pytest.raises(Unavailable, match="said nothing for 1 s"):
            await cluster.create(BODY)
        assert server.heard == [("create", "ConfigMap", 0)]


async def test_nothing_is_sent_before_retry_after_and_then_by_one_alone() -> None:
    throttled = says(429, Retry_After="1")
    async with faulty(throttled, throttled, says(200, EMPTY)) as (server, cluster):
        await asyncio.gather(cluster.list("v1", "Pod"), cluster.list("v1", "Node"))
        times = [at for at, _, _ in server.seen]
        # Both were on their way when the first push-back came; then one asks, then both go on.
        assert times[2] - times[1] >= 1.0
    assert server.heard.count(("list", "Pod", 429)) + server.heard.count(("list", "Node", 429)) == 2


@pytest.mark.long
async def test_a_storm_meets_one_request_a_second_at_most() -> None:
    async with faulty(says(429, Retry_After="1")) as (server, cluster):

        async def ask() -> None:
            with pytest.raises(Unavailable):
                await cluster.get(REF)

        asked = [asyncio.create_task(ask()) for _ in range(20)]
        await asyncio.sleep(3.5)
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        later = [at for at, _, _ in server.seen][20:]
        assert later
        assert all(after - before >= 1.0 for before, after in pairwise(later))


async def test_a_delete_that_is_held_back_at_its_turn_is_not_sent_and_nobody_waits_for_it() -> None:
    found = says(200, {"kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}})
    async with faulty(says(429, Retry_After="1"), found) as (server, cluster):
        with pytest.raises(Unavailable):
            await cluster.delete(REF, "u", "1")

        def check() -> None:
            raise Conflict("somebody plays there now")

        with pytest.raises(Conflict, match="plays there"):
            await cluster.delete(REF, "u", "1", check)
        async with asyncio.timeout(30):
            await cluster.get(REF)
        assert [method for _, method, _ in server.seen] == ["DELETE", "GET"]


async def test_a_refused_token_is_not_asked_with_twice() -> None:
    async with faulty(says(401)) as (server, cluster):
        with pytest.raises(Denied, match="401"):
            await cluster.get(REF)
        assert len(server.seen) == 1


async def test_a_redirect_is_not_followed() -> None:
    async with faulty(says(302, Location="http://127.0.0.1:1/")) as (server, cluster):
        with pytest.raises(Misconfigured):
            await cluster.get(REF)
        assert len(server.seen) == 1


async def test_an_answer_that_is_cut_short_is_tried_again() -> None:
    async def cut(request: object) -> web.StreamResponse:
        return web.Response(body=b'{"items": [')

    async with faulty(cut, says(200, EMPTY)) as (_, cluster):
        assert (await cluster.list("v1", "Pod")).resource_version == "7"


async def test_pages_end_with_expired_when_their_rest_is_gone() -> None:
    first = {"items": [], "metadata": {"resourceVersion": "7", "continue": "more"}}
    gone = {"reason": "Expired", "message": "The provided continue parameter is too old"}
    async with faulty(says(200, first), says(410, gone)) as (server, cluster):
        with pytest.raises(Expired):
            await cluster.list("v1", "Pod")
        assert "continue=more" in server.seen[1][2]
        assert len(server.seen) == 2


async def test_a_watch_reads_lines_however_they_are_cut() -> None:
    first, second = line("ADDED", {"metadata": {"name": "a"}}), line("DELETED", {"metadata": {}})
    whole = first + second
    async with faulty(streams(whole[:7], whole[7:80], whole[80:])) as (server, cluster):
        events = await collect(cluster)
        assert [event.type for event in events] == ["BOOKMARK", "ADDED", "DELETED"]
        assert events[1].object == {"metadata": {"name": "a"}}
        assert "allowWatchBookmarks=true" in server.seen[0][2]
        assert "resourceVersion=5" in server.seen[0][2]


async def test_a_line_of_a_megabyte_is_one_event() -> None:
    big = {"metadata": {"name": "a", "annotations": {"a": "x" * (1 << 20)}}}
    async with faulty(streams(line("ADDED", big))) as (_, cluster):
        assert [event.object for event in await collect(cluster)][1] == big


async def test_a_version_that_is_too_old_expires_although_the_status_is_200() -> None:
    status = {"kind": "Status", "reason": "Expired", "code": 410, "message": "too old: 1 (247)"}
    async with faulty(streams(line("ERROR", status))) as (_, cluster):
        with pytest.raises(Expired, match="too old"):
            await collect(cluster)


async def test_a_silent_watch_is_given_up() -> None:
    bookmark = line("BOOKMARK", {"metadata": {"resourceVersion": "9"}})
    stalled = streams(bookmark, then_hang=True)
    async with faulty(stalled, silence_seconds=0.3) as (_, cluster):
        started = asyncio.get_running_loop().time()
        with pytest.raises(Unavailable, match="said nothing"):
            await collect(cluster)
        assert asyncio.get_running_loop().time() - started < 20


@pytest.mark.parametrize("follow", [True, False])
async def test_a_log_that_is_followed_may_say_nothing_for_as_long_as_it_likes(
    *, follow: bool
) -> None:
    """Most idle rooms print nothing for minutes, and a kubelet sends no sign of life."""
    pause = 3 * SILENCE_SECONDS

    async def quiet(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(pause)  # a kubelet's head comes with the first line, too
        response = web.StreamResponse()
        await response.prepare(request)
        for said in (b"one\n", b"two\n"):
            await response.write(said)
            await asyncio.sleep(pause)
        return response

    async with faulty(quiet, silence_seconds=SILENCE_SECONDS) as (_, cluster):
        heard = cluster.logs(ObjectRef("v1", "Pod", "n", "a"), follow=follow)
        if follow:
            assert b"".join([part async for part in heard]) == b"one\ntwo\n"
        else:
            with pytest.raises(Unavailable, match="said nothing"):
                assert [part async for part in heard]


async def test_a_refusal_of_a_log_that_is_followed_is_not_waited_for_for_ever() -> None:
    async def half(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500, headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"{")
        await asyncio.sleep(60)
        return response

    async with faulty(half, request_seconds=1.0) as (_, cluster):
        heard = cluster.logs(ObjectRef("v1", "Pod", "n", "a"), follow=True)
        async with asyncio.timeout(20):
            with pytest.raises(Unavailable, match="said nothing for 1 s"):
                assert [part async for part in heard]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(resets(), Unavailable, id="broken off"),
        pytest.param(says(403, {"message": 'User "u" cannot watch'}), Denied, id="denied"),
        pytest.param(says(503, Retry_After="1"), Unavailable, id="throttled"),
        pytest.param(streams(b"<html>\n"), Unavailable, id="not a watch at all"),
    ],
)
async def test_a_watch_that_fails_raises_an_error_of_ports(
    answer: Answer, error: type[PortError]
) -> None:
    async with faulty(answer) as (_, cluster):
        with pytest.raises(error, match="watch Pod"):
            await collect(cluster)


@pytest.mark.long
async def test_a_server_that_is_down_is_named_without_the_token() -> None:
    async with faulty(says(200), token=TOKEN) as (server, cluster):
        server.answers = [resets()]
        with pytest.raises(Unavailable) as caught:
            await cluster.get(REF)
        assert server.url in str(caught.value)
        assert TOKEN not in str(caught.value)


async def test_a_404_on_delete_is_gone_and_on_replace_a_conflict() -> None:
    gone = {"reason": "NotFound", "details": {"name": "a", "kind": "configmaps"}}
    async with faulty(says(404, gone)) as (_, cluster):
        assert not await cluster.delete(REF, "uid", "1")
        with pytest.raises(Conflict):
            await cluster.replace(BODY)


async def test_every_request_is_told_of_with_its_verb_kind_and_status() -> None:
    async with faulty(says(200, BODY), says(409), says(200, EMPTY)) as (server, cluster):
        await cluster.get(REF)
        with pytest.raises(Conflict):
            await cluster.create(BODY)
        await cluster.list("v1", "Pod")
        assert server.heard == [
            ("get", "ConfigMap", 200),
            ("create", "ConfigMap", 409),
            ("list", "Pod", 200),
        ]


async def test_who_goes_apart_does_not_wait_for_the_pauses_of_others() -> None:
    refused = says(429, {"kind": "Status", "reason": "TooManyRequests"}, Retry_After="20")
    async with faulty(refused, says(200, BODY)) as (_, cluster):
        lease = cluster.apart()
        with pytest.raises(Unavailable):
            await cluster.create(BODY)
        with pytest.raises(
            Unavailable, match="get ConfigMap n/a: not sent, as the API server asked us"
        ):
            await cluster.get(REF)
        assert await lease.get(REF) == BODY
    # A session that was left open warns here, and warnings are errors.
    del lease, cluster
    gc.collect()
