import asyncio
import hashlib
import hmac
import http.client
import io
import itertools
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
import uvloop
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from reconciler.model.errors import Misconfigured, PortError, Unavailable
from reconciler.service import faces as module
from reconciler.service.faces import Faces, serving
from reconciler.service.health import Health, keep_beating
from reconciler.service.metrics import Metrics
from reconciler.service.webhook import Webhook
from tests.canaries.places import canary
from tests.scorecard import score

SECRET = canary("webhook secret").encode()
REPLAYS = 10_000
NewLoop = Callable[[], asyncio.AbstractEventLoop]
LOOPS = [
    pytest.param(asyncio.new_event_loop, id="asyncio"),
    pytest.param(uvloop.new_event_loop, id="uvloop, as `run` has it"),
]
BODY = b'{"ref": "refs/heads/main"'  # no JSON: it must never be parsed


@dataclass
class World:
    url: str = ""
    wakes: int = 0
    not_ready: str = ""
    elapsed: float = 0.0
    secret_file: Path = Path()
    session: aiohttp.ClientSession = field(init=False)

    fails: PortError | None = None

    async def wake(self) -> None:
        if self.fails:
            raise self.fails
        self.wakes += 1

    async def post(self, body: bytes, headers: dict[str, str]) -> int:
        async with self.session.post(
            f"{self.url}/webhook", data=io.BytesIO(body), headers=headers
        ) as answer:
            return answer.status

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(f"{self.url}{path}") as answer:
            return answer.status, await answer.text()


async def _nobody() -> None:
    """Wake nobody."""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(secret_file=tmp_path / "secret")
    made.secret_file.write_bytes(SECRET + b"\n")
    shown = Faces(
        Health(lambda: made.elapsed),
        Metrics(),
        lambda: made.not_ready,
        made.wake,
        str(made.secret_file),
    )
    async with serving(shown, "127.0.0.1:0") as address, aiohttp.ClientSession() as session:
        made.url, made.session = f"http://{address}", session
        yield made


def signed(
    body: bytes, secret: bytes = SECRET, name: str = "X-Gamekeeper-Signature"
) -> dict[str, str]:
    return {name: "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()}


@pytest.mark.parametrize("name", ["X-Gamekeeper-Signature", "X-Hub-Signature-256"])
async def test_a_signed_body_wakes_whatever_it_says(world: World, name: str) -> None:
    assert await world.post(BODY, signed(BODY, name=name)) == 202
    assert world.wakes == 1


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no signature"),
        pytest.param(signed(BODY, b"another secret"), id="signed with another secret"),
        pytest.param(signed(BODY + b" "), id="signature of another body"),
        pytest.param({"X-Gamekeeper-Signature": "sha256="}, id="empty signature"),
        pytest.param({"X-Gamekeeper-Signature": "sha256=é"}, id="signature that is no ASCII"),
        pytest.param(
            {"X-Gamekeeper-Signature": hmac.new(SECRET, BODY, hashlib.sha256).hexdigest()},
            id="digest without its algorithm",
        ),
    ],
)
async def test_an_unsigned_body_wakes_nobody(world: World, headers: dict[str, str]) -> None:
    assert await world.post(BODY, headers) == 401
    assert world.wakes == 0


async def test_what_is_sent_again_is_looked_at_once_in_ten_seconds() -> None:
    async def look() -> None:
        raise AssertionError("nothing was sent")

    assert Webhook(lambda: SECRET, look, time.time)._repeat_seconds == 10.0


@pytest.mark.long
async def test_what_is_sent_again_and_again_is_looked_at_once_in_the_time_that_is_set(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []
    loop = asyncio.get_running_loop()

    async def look() -> None:
        looked.append(loop.time())

    hook = Webhook(lambda: SECRET, look, time.time, repeat_seconds=1.0)
    app = web.Application()
    app.router.add_post("/webhook", hook.receive)
    app.on_cleanup.append(hook.close)
    client: TestClient[web.Request, web.Application] = TestClient(TestServer(app))
    async with client:
        for _ in range(REPLAYS):
            async with client.post("/webhook", data=BODY, headers=signed(BODY)) as answer:
                assert answer.status == 202
        ended = loop.time()
        # What comes first at another body is no replay: it waits for nothing.
        async with client.post("/webhook", data=b"{}", headers=signed(b"{}")) as answer:
            assert answer.status == 202
        assert looked[-1] >= ended
        last = looked.pop()
        await asyncio.sleep(1.2)
    often = sum(later - sooner < 0.99 for sooner, later in itertools.pairwise(looked))
    score(20, sent_again=REPLAYS, looks_for_them=len(looked), looked_too_often=often)
    assert not often
    # The last of them is not lost: its commit may be newer than the last look.
    assert max(looked[-1], last) >= ended


@pytest.mark.long
async def test_what_is_sent_again_after_another_body_made_us_look_is_looked_at_too() -> None:
    looked: list[float] = []
    loop = asyncio.get_running_loop()

    async def look() -> None:
        looked.append(loop.time())

    hook = Webhook(lambda: SECRET, look, time.time, repeat_seconds=2.0)
    app = web.Application()
    app.router.add_post("/webhook", hook.receive)
    app.on_cleanup.append(hook.close)
    client: TestClient[web.Request, web.Application] = TestClient(TestServer(app))
    async with client:
        for body in (BODY, BODY, b"{}", BODY):
            await client.post("/webhook", data=body, headers=signed(body))
            await asyncio.sleep(0.1)
        last = loop.time() - 0.1
        await asyncio.sleep(3.0)
    assert looked[-1] >= last, "the last may be of a commit that no look before has seen"
    assert len(looked) == 3


@pytest.mark.long
async def test_a_repeat_that_reaches_no_leader_is_told_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fails: list[PortError] = []

    async def look() -> None:
        if fails:
            raise fails[0]

    hook = Webhook(lambda: SECRET, look, time.time, repeat_seconds=1.5)
    app = web.Application()
    app.router.add_post("/webhook", hook.receive)
    app.on_cleanup.append(hook.close)
    client: TestClient[web.Request, web.Application] = TestClient(TestServer(app))
    async with client:
        await client.post("/webhook", data=BODY, headers=signed(BODY))
        fails.append(Unavailable("nobody leads"))
        await client.post("/webhook", data=BODY, headers=signed(BODY))
        for _ in range(600):
            if caplog.text:
                break
            await asyncio.sleep(0.05)
        # And the next one is looked at again, at once.
        fails.clear()
        await client.post("/webhook", data=BODY, headers=signed(BODY))
    assert "a webhook was not passed on: nobody leads" in caplog.text


async def test_a_rotated_secret_counts_at_once(world: World) -> None:
    world.secret_file.write_bytes(b"the new secret")
    assert await world.post(BODY, signed(BODY)) == 401
    assert await world.post(BODY, signed(BODY, b"the new secret")) == 202


@pytest.mark.parametrize("empty", [True, False], ids=["empty", "missing"])
async def test_without_a_secret_there_is_no_webhook(world: World, empty: bool) -> None:
    if empty:
        world.secret_file.write_bytes(b"\n")
    else:
        world.secret_file.unlink()
    assert await world.post(BODY, signed(BODY, b"")) == 404
    assert world.wakes == 0


async def test_a_wake_that_reaches_no_leader_is_to_be_sent_again(world: World) -> None:
    world.fails = Unavailable("https://10.0.0.1 said nothing for 5 s")
    url, headers = f"{world.url}/webhook", signed(BODY)
    async with world.session.post(url, data=io.BytesIO(BODY), headers=headers) as answer:
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "10"
        assert "10.0.0.1" not in await answer.text()


async def test_a_body_over_3_mebibytes_is_refused(world: World) -> None:
    body = b"x" * (3 * 1024 * 1024 + 1)
    assert await world.post(body, signed(body)) == 413
    assert world.wakes == 0


async def test_readiness_and_health_answer_for_themselves(world: World) -> None:
    assert await world.get("/readyz") == (200, "ok\n")
    world.not_ready = "the cluster is not read yet"
    assert await world.get("/readyz") == (503, "the cluster is not read yet\n")
    assert await world.get("/healthz") == (200, "ok\n")
    world.elapsed = 1000.0
    status, text = await world.get("/healthz")
    assert status == 503
    assert "heartbeat" in text


async def test_metrics_are_a_page_of_prometheus(world: World) -> None:
    status, text = await world.get("/metrics")
    assert status == 200
    assert "# TYPE gamekeeper_loop_lag_seconds histogram" in text


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"POST /webhook HTTP/1.1\r\nHost: x\r\n", id="headers that do not end"),
        pytest.param(
            b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx",
            id="a body that does not end",
        ),
        pytest.param(b"", id="nothing at all"),
    ],
)
@pytest.mark.parametrize("new_loop", LOOPS)
def test_a_slow_sender_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, new_loop: NewLoop, sent: bytes
) -> None:
    async def held() -> None:
        async with serving(_bare(), "127.0.0.1:0") as address:
            reader, writer = await _connected(address)
            writer.write(sent)
            async with asyncio.timeout(30):
                with pytest.raises((ConnectionResetError, EOFError)):
                    await _until_closed(reader)
            writer.close()

    monkeypatch.setattr(module, "CONNECTION_SECONDS", 0.3)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(held())


@pytest.mark.parametrize("new_loop", LOOPS)
def test_who_holds_connections_keeps_no_probe_away(
    monkeypatch: pytest.MonkeyPatch, new_loop: NewLoop
) -> None:
    async def crowded() -> None:
        async with serving(_bare(), "127.0.0.1:0") as address:
            held = [await _connected(address) for _ in range(5)]
            for reader, _ in held[:2]:
                async with asyncio.timeout(30):
                    with pytest.raises((ConnectionResetError, EOFError)):
                        await _until_closed(reader)
            assert not any(reader.at_eof() for reader, _ in held[3:])
            async with aiohttp.ClientSession() as session:
                answer = await session.get(f"http://{address}/readyz")
                assert answer.status == 200
            for _, writer in held:
                writer.close()

    monkeypatch.setattr(module, "CONNECTIONS", 3)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(crowded())


def _bare() -> Faces:
    return Faces(Health(lambda: 0.0), Metrics(), lambda: "", _nobody)


async def _connected(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))


async def _until_closed(reader: asyncio.StreamReader) -> None:
    while await reader.read(1024):
        pass
    raise EOFError


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"POST /webhook HTTP/1.1\r\nContent-Length: -1\r\n\r\n", id="a length"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", id="a version"),
        pytest.param(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", id="a long address"),
        pytest.param(b"GET / HTTP/1.1\r\nno header\r\n\r\n", id="a header that is none"),
    ],
)
async def test_what_is_no_http_is_answered_and_fills_no_log(
    world: World, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    host, port = world.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent)
    assert b" 400 " in await asyncio.wait_for(reader.readline(), 30)
    writer.close()
    assert not caplog.records


PACKED = "Content-Encoding: gzip\r\nContent-Length: 4"


@pytest.mark.parametrize(
    ("head", "body", "answer"),
    [
        pytest.param("POST /webhook|Content-Length: 10", b"ab", b"", id="it ends early"),
        pytest.param("POST /webhook|Transfer-Encoding: chunked", b"zz\r\n", b"", id="no chunk"),
        pytest.param("POST /webhook|" + PACKED, b"none", b" 401 ", id="not packed at all"),
        pytest.param("POST /healthz|" + PACKED, b"none", b" 405 ", id="where nobody reads it"),
    ],
)
async def test_a_body_that_cannot_be_read_fills_no_log(
    world: World, caplog: pytest.LogCaptureFixture, head: str, body: bytes, answer: bytes
) -> None:
    host, port = world.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    first, header = head.split("|")
    writer.write(f"{first} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n".encode())
    writer.write(f"{header}\r\n\r\n".encode())
    await world.get("/healthz")  # the head is read by then
    writer.write(body)
    if not answer:
        writer.write_eof()
    assert answer in await asyncio.wait_for(reader.read(), 30)
    writer.close()
    await world.get("/healthz")
    assert not caplog.records


async def test_a_mistake_of_ours_is_logged_with_where_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Metrics) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(Metrics, "text", broken)
    assert (await world.get("/metrics"))[0] == 500
    assert "ZeroDivisionError" in caplog.text


async def test_a_taken_address_is_told_with_what_to_do() -> None:
    shown = Faces(Health(lambda: 0.0), Metrics(), lambda: "", _nobody)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Misconfigured, match="choose another --listen"):
            async with serving(shown, listen):
                pass


async def test_an_address_without_a_port_is_told() -> None:
    shown = Faces(Health(lambda: 0.0), Metrics(), lambda: "", _nobody)
    with pytest.raises(Misconfigured, match="HOST:PORT"):
        async with serving(shown, "localhost"):
            pass


async def test_the_page_of_metrics_is_written_beside_the_loop() -> None:
    asked: list[int] = []

    def leading() -> bool:
        asked.append(threading.get_ident())
        return True

    metrics = Metrics()
    metrics.follow_leader(leading)
    shown = Faces(Health(lambda: 0.0), metrics, lambda: "", _nobody)
    async with (
        serving(shown, "127.0.0.1:0") as address,
        aiohttp.ClientSession() as session,
        session.get(f"http://{address}/metrics") as answer,
    ):
        assert "gamekeeper_leader 1.0" in await answer.text()
    assert asked
    assert threading.get_ident() not in asked


@pytest.mark.long
async def test_a_frozen_event_loop_answers_no_probe_until_it_turns_again() -> None:
    loop = asyncio.get_running_loop()
    health = Health(loop.time)
    beating = asyncio.create_task(keep_beating(health, lambda lag: None, loop.time))
    async with serving(Faces(health, Metrics(), lambda: "", _nobody), "127.0.0.1:0") as address:
        assert await asyncio.to_thread(_probe, address, 30.0) == 200
        probing = loop.run_in_executor(None, _probe, address)
        _hold(2.0)
        assert await probing == 0
        assert await asyncio.to_thread(_probe, address, 30.0) == 200
    beating.cancel()


def _hold(seconds: float) -> None:
    """Let nothing else happen."""
    time.sleep(seconds)


def _probe(address: str, patience_seconds: float = 1.0) -> int:
    """Ask as a kubelet does, who waits for one second; 0 is no answer."""
    connection = http.client.HTTPConnection(address, timeout=patience_seconds)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


async def test_a_probe_and_a_scrape_are_answered_while_the_loop_is_overloaded() -> None:
    async def busy() -> None:
        while True:
            _hold(0.01)
            await asyncio.sleep(0)

    shown = Faces(Health(lambda: 0.0), Metrics(), lambda: "", _nobody)
    async with serving(shown, "127.0.0.1:0") as address, aiohttp.ClientSession() as session:
        workers = [asyncio.create_task(busy()) for _ in range(4)]
        async with asyncio.timeout(30):
            for path in ("/healthz", "/readyz", "/metrics"):
                async with session.get(f"http://{address}{path}") as answer:
                    assert answer.status == 200
                    assert await answer.text()
        for worker in workers:
            worker.cancel()


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/nothing"])
async def test_no_answer_tells_the_versions_of_what_answers(world: World, path: str) -> None:
    async with world.session.get(f"{world.url}{path}") as answer:
        assert answer.headers["Server"] == "gamekeeper"


@pytest.mark.parametrize(
    ("text", "why"), [(None, "No such file or directory"), ("\n", "the file is empty"), ("x", "")]
)
async def test_that_a_webhook_has_no_secret_is_told_once(
    text: str | None, why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    path = tmp_path / "secret"
    if text is not None:
        path.write_text(text)
    shown = Faces(Health(lambda: 0.0), Metrics(), lambda: "", _nobody, str(path))
    async with serving(shown, "127.0.0.1:0") as address, aiohttp.ClientSession() as session:
        for _ in range(2):
            async with session.post(f"http://{address}/webhook", data=b"{}") as answer:
                assert answer.status == (404 if why else 401)
    told = [each.getMessage() for each in caplog.records if "/webhook" in each.getMessage()]
    assert told == [f"/webhook answers 404 until a secret is in {path}: {why}"] * bool(why)
