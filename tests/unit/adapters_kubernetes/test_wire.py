"""What may come over the wire instead of an answer: each on a real socket, byte by byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from reconciler.adapters.kubernetes import transport, watch
from reconciler.adapters.kubernetes.answers import LONGEST_WAIT_SECONDS
from reconciler.adapters.kubernetes.calls import Limits
from reconciler.adapters.kubernetes.client import KubernetesCluster, open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.model.errors import (
    AlreadyExists,
    Conflict,
    Denied,
    Expired,
    Misconfigured,
    PortError,
    Unanswered,
    Unauthenticated,
    Unavailable,
    Withheld,
)
from reconciler.model.refs import Followed, Json, ObjectRef
from reconciler.ports import WatchEvent
from tests.canaries.places import canary
from tests.listening import listening
from tests.unit.adapters_kubernetes.connect_proxy import connect_proxy


@pytest.fixture(autouse=True)
def _asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked again, and how often, is told in `test_client`."""
    monkeypatch.setattr(transport, "ATTEMPTS", 1)


Speech = Callable[[asyncio.StreamWriter], Awaitable[None]]

TOKEN, PASSWORD = canary("cluster token"), canary("proxy password")
REF = ObjectRef("v1", "ConfigMap", "n", "a")
BODY: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}


@dataclass(slots=True)
class Wire:
    """A socket that says the same to each request, and counts them."""

    speech: Speech
    asked: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        await self.speech(writer)


@asynccontextmanager
async def wire(
    speech: Speech, proxy: str = "", seconds: float = 30.0
) -> AsyncIterator[tuple[Wire, KubernetesCluster]]:
    """Serve a speech, with a client whose requests may take so long."""
    there = Wire(speech)
    async with listening(there.serve) as port:
        there.url = f"http://127.0.0.1:{port}"
        flags = ConnectionFlags(server=there.url, token=TOKEN, proxy_url=proxy)
        limits = Limits(qps=0, request_timeout_seconds=seconds, silence_seconds=seconds)
        cluster = open_cluster(connect(flags, {"HOME": "/none"}), "test", limits=limits)
        try:
            yield there, cluster
        finally:
            await cluster.close()


def bytes_of(content: bytes) -> Speech:
    async def speech(writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return speech


def dripping(head: bytes, drop: bytes) -> Speech:
    """Say something all the time, and never come to an end."""

    async def speech(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.05)

    return speech


def answer(status: int, body: bytes | Json, *headers: str) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + content


def forbidden(message: str, *causes: str) -> bytes:
    listed = [{"reason": reason, "message": message} for reason in causes]
    status = {"kind": "Status", "reason": "Forbidden", "message": message}
    return answer(403, {**status, "code": 403, "details": {"causes": listed}})


OK = b"HTTP/1.1 200 OK\r\n"
HTML = b"<!DOCTYPE html><title>Sign in</title>"
UNASKED = b'{"message": "Internal error occurred: failed calling webhook \\"a.b\\": EOF"}'
NESTED = b"[" * 20000 + b"]" * 20000


@pytest.mark.parametrize(
    ("speech", "kind", "message"),
    [
        pytest.param(bytes_of(b""), Unanswered, "closed the connection", id="hangs up"),
        pytest.param(bytes_of(b"SSH-2.0-x\r\n\r\n"), Unanswered, "no HTTP", id="no HTTP"),
        pytest.param(bytes_of(OK + b"X: " + b"a" * 70000), Unanswered, "no HTTP", id="long head"),
        pytest.param(
            bytes_of(OK + b'Content-Length: 99\r\n\r\n{"items":[]}'),
            Unanswered,
            "closed the connection",
            id="fewer bytes than promised, though they are JSON",
        ),
        pytest.param(
            bytes_of(OK + b'Transfer-Encoding: chunked\r\n\r\nc\r\n{"items":[]}\r\n'),
            Unanswered,
            "closed the connection",
            id="the last chunk is missing, though the others are JSON",
        ),
        pytest.param(bytes_of(answer(200, b'{"items": [')), Unanswered, "cut short", id="half"),
        pytest.param(bytes_of(answer(200, b"")), Unanswered, "cut short", id="an empty body"),
        pytest.param(
            bytes_of(answer(200, b"\x1f\x8b", "Content-Encoding: gzip")),
            Unanswered,
            "cut short",
            id="squeezed and broken",
        ),
        pytest.param(bytes_of(answer(200, HTML)), Misconfigured, "a web page", id="a web page"),
        pytest.param(bytes_of(answer(200, b"null")), Misconfigured, "no JSON object", id="null"),
        pytest.param(bytes_of(answer(200, NESTED)), Unanswered, "no JSON", id="deep JSON"),
        pytest.param(
            bytes_of(answer(200, {"status": "ok"})),
            Misconfigured,
            "no Kubernetes API server's",
            id="JSON of somebody else is no empty list",
        ),
        pytest.param(
            bytes_of(answer(200, {"items": ["a"]})),
            Misconfigured,
            "no Kubernetes API server's",
            id="a list of no objects",
        ),
        pytest.param(
            bytes_of(answer(302, b"", f"Location: https://u:{TOKEN}@login.test/?t={TOKEN}")),
            Misconfigured,
            "sends us elsewhere",
            id="a redirect",
        ),
        pytest.param(bytes_of(answer(404, HTML)), Misconfigured, "URL", id="a page not found"),
        pytest.param(
            bytes_of(answer(401, HTML)), Unauthenticated, "renew the token", id="a login page"
        ),
        pytest.param(bytes_of(answer(403, HTML)), Denied, "grant this", id="a proxy's refusal"),
        pytest.param(bytes_of(answer(400, b"HTTP to HTTPS")), Misconfigured, "400", id="a text"),
        pytest.param(bytes_of(answer(429, b"")), Unavailable, "429", id="too many requests"),
        pytest.param(bytes_of(answer(500, HTML)), Unanswered, "500", id="a broken server"),
        pytest.param(bytes_of(answer(502, HTML)), Unanswered, "502", id="a lost server"),
        pytest.param(bytes_of(answer(503, HTML)), Unanswered, "503", id="an overloaded server"),
        pytest.param(bytes_of(answer(504, HTML)), Unanswered, "504", id="a slow server"),
        pytest.param(bytes_of(answer(500, NESTED)), Unanswered, "500", id="a fault in deep JSON"),
        pytest.param(
            bytes_of(answer(500, UNASKED)), Unavailable, "500", id="a webhook that does not answer"
        ),
        pytest.param(
            bytes_of(answer(403, {"details": ["x"], "message": 5, "reason": []})),
            Denied,
            "403",
            id="a Status of another shape",
        ),
        pytest.param(
            bytes_of(answer(409, {"details": {"causes": ["x", 5]}})),
            Conflict,
            "409",
            id="causes of another shape",
        ),
        pytest.param(
            bytes_of(answer(410, {"reason": "Expired"})), Expired, "read everything", id="too old"
        ),
    ],
)
async def test_what_is_no_list_is_never_an_empty_one(
    speech: Speech, kind: type[PortError], message: str
) -> None:
    async with wire(speech) as (_, cluster):
        with pytest.raises(PortError, match=f"list Pod: .*{message}") as caught:
            await cluster.list("v1", "Pod")
        assert type(caught.value) is kind
        assert TOKEN not in str(caught.value)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "speech",
    [
        pytest.param(dripping(OK, b"X-A: b\r\n"), id="slow head"),
        pytest.param(dripping(OK + b"Content-Length: 99999\r\n\r\n", b" "), id="slow body"),
    ],
)
async def test_an_answer_that_only_drips_is_given_up(speech: Speech) -> None:
    async with wire(speech, seconds=0.5) as (_, cluster), asyncio.timeout(30):
        with pytest.raises(Unanswered, match=r"list Pod: .*said nothing"):
            await cluster.list("v1", "Pod")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        pytest.param(
            forbidden('pods is forbidden: User "u" cannot create resource "pods"'),
            Denied,
            id="a missing role",
        ),
        pytest.param(
            forbidden('pods "a" is forbidden: violates PodSecurity "baseline:latest"'),
            Denied,
            id="an admission rule",
        ),
        pytest.param(
            forbidden('error looking up service account n/s: serviceaccount "s" not found'),
            Withheld,
            id="a missing service account",
        ),
        pytest.param(
            forbidden('pods "a" is forbidden: exceeded quota: q'), Withheld, id="a full quota"
        ),
        pytest.param(
            forbidden("is forbidden", "NamespaceTerminating"), Withheld, id="an ending namespace"
        ),
        pytest.param(
            forbidden("not yet ready to handle request"), Unavailable, id="a server that starts"
        ),
        pytest.param(answer(409, {"reason": "AlreadyExists"}), AlreadyExists, id="a taken name"),
        pytest.param(answer(201, {"status": "ok"}), Misconfigured, id="no object in return"),
    ],
)
async def test_a_create_is_sent_once_and_read_by_its_cause(
    said: bytes, kind: type[PortError]
) -> None:
    async with wire(bytes_of(said)) as (there, cluster):
        with pytest.raises(PortError, match="create ConfigMap n/a") as caught:
            await cluster.create(BODY)
        assert type(caught.value) is kind
        assert there.asked == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param("Retry-After: 7", 7.0, id="seconds"),
        pytest.param("Retry-After: 0", 0.0, id="at once"),
        pytest.param("Retry-After: -5", 0.0, id="less than nothing"),
        pytest.param("Retry-After: 86400", LONGEST_WAIT_SECONDS, id="a day is not believed"),
        pytest.param("Retry-After: inf", None, id="for ever"),
        pytest.param("Retry-After: nan", None, id="not a number"),
        pytest.param("Retry-After: Fri, 20 Nov 2026 10:00:00 GMT", None, id="a date"),
        pytest.param("X-Other: 1", None, id="no word of it"),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_what_the_server_asks_to_wait_is_passed_on_within_bounds(
    status: int, header: str, seconds: float | None
) -> None:
    async with wire(bytes_of(answer(status, b"", header))) as (_, cluster):
        with pytest.raises(Unavailable) as caught:
            await cluster.create(BODY)
        assert caught.value.retry_after_seconds == seconds


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(answer(404, HTML), id="a page not found"),
        pytest.param(answer(200, {"status": "ok"}), id="JSON of somebody else"),
        pytest.param(answer(200, HTML), id="a web page"),
    ],
)
async def test_who_says_nothing_of_kinds_does_not_say_that_there_are_none(said: bytes) -> None:
    async with wire(bytes_of(said)) as (_, cluster):
        for api_version in ("v1", "apps/v1"):
            with pytest.raises(Misconfigured):
                await cluster.serves(api_version, "Thing")


async def watched(cluster: KubernetesCluster) -> list[WatchEvent]:
    return [event async for event in cluster.watch(Followed("v1", "Pod"), "5")]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"type":"ADDED"}\n', id="no object"),
        pytest.param(b'{"type":"ADDED","object":"a"}\n', id="a word for an object"),
        pytest.param(b'{"type":"ODD","object":{}}\n', id="an unknown type"),
        pytest.param(b'{"type":[],"object":{}}\n', id="a type that is a list"),
        pytest.param(b'["ADDED"]\n', id="a list"),
        pytest.param(NESTED + b"\n", id="deep JSON"),
        pytest.param(b'{"type":"ERROR","object":{"code":"x"}}\n', id="an error without a code"),
    ],
)
async def test_a_line_that_is_no_event_ends_the_watch(line: bytes) -> None:
    async with wire(bytes_of(OK + b"\r\n" + line)) as (_, cluster):
        with pytest.raises(Unavailable, match="watch Pod"):
            await watched(cluster)


@pytest.mark.parametrize(("drop", "told"), [(b" ", "does not end"), (b"\n", "tells nothing")])
async def test_a_line_that_drips_is_no_sign_of_life(
    drop: bytes, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LINE_SECONDS", 0.3)
    async with wire(dripping(OK + b"\r\n", drop)) as (_, cluster), asyncio.timeout(30):
        with pytest.raises(Unavailable, match=told):
            await watched(cluster)


@pytest.mark.long
async def test_lines_that_come_whole_keep_a_watch_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LINE_SECONDS", 1.5)
    bookmark = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n'
    async with wire(dripping(OK + b"\r\n", bookmark)) as (_, cluster):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4):
                await watched(cluster)


async def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LONGEST_LINE_BYTES", 1000)
    async with wire(bytes_of(OK + b"\r\n" + b"x" * 100000)) as (_, cluster):
        with pytest.raises(Unavailable, match="does not end"):
            await watched(cluster)


async def test_a_proxy_that_refuses_is_told_apart_from_one_that_finds_nobody() -> None:
    for status, kind in ((403, Denied), (407, Denied), (502, Unavailable), (503, Unavailable)):
        async with connect_proxy(status=status) as proxy:
            login = proxy.url.replace("://", f"://user:{PASSWORD}@")
            flags = ConnectionFlags(server="https://fleet.test", token="t", proxy_url=login)
            limits = Limits(qps=0, request_timeout_seconds=2)
            cluster = open_cluster(connect(flags, {"HOME": "/none"}), "test", limits=limits)
            with pytest.raises(PortError, match=f"the proxy .*{status}") as caught:
                await cluster.create(BODY)
            await cluster.close()
            assert type(caught.value) is kind
            assert PASSWORD not in str(caught.value)


async def test_a_proxy_that_is_not_there_is_named_without_its_password() -> None:
    flags = ConnectionFlags(
        server="https://fleet.test", token="t", proxy_url=f"http://user:{PASSWORD}@127.0.0.1:1"
    )
    cluster = open_cluster(connect(flags, {"HOME": "/none"}), "test", limits=Limits(qps=0))
    with pytest.raises(Unavailable, match=r"the proxy to .* cannot be connected to: Conn") as told:
        await cluster.create(BODY)
    await cluster.close()
    assert PASSWORD not in str(told.value)


async def test_a_port_where_nobody_listens_is_told_with_its_address_and_what_to_check() -> None:
    async with wire(bytes_of(b"")) as (there, _):
        pass
    flags = ConnectionFlags(server=there.url, token=TOKEN)
    cluster = open_cluster(connect(flags, {"HOME": "/none"}), "test", limits=Limits(qps=0))
    with pytest.raises(Unavailable) as told:
        await cluster.list("v1", "Pod")
    await cluster.close()
    assert str(told.value) == (
        f"list Pod: {there.url} cannot be connected to: Connection refused: check its URL in the "
        "command line, and that it runs"
    )
