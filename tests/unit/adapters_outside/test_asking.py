"""Others are asked over real connections: what they answer, and all the ways in which they lie."""

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from reconciler.adapters.outside import asking
from reconciler.adapters.outside.asking import HttpOutside, Prometheus
from reconciler.adapters.outside.exchange import Exchange
from reconciler.adapters.outside.resolver import CheckedResolver
from reconciler.core.addresses import never_asked
from reconciler.core.egress import allowed_of
from reconciler.model.errors import Misconfigured
from reconciler.model.scaling import Signal
from reconciler.settings import Settings
from reconciler.wiring.outside import make_outside
from tests.canaries.places import canary
from tests.gitservers.certificates import make_certificate, server_context
from tests.unit.adapters_outside.servers import Answering, answering, saying

NOW = 1_800_000_000.0
TOKEN = canary("Prometheus token")
PATIENT_SECONDS = 30.0
IMPATIENT_SECONDS = 0.2


@asynccontextmanager
async def outside(
    *allowed: str,
    prometheus: Prometheus | None = None,
    deadline_seconds: float = PATIENT_SECONDS,
    checked: bool = True,
) -> AsyncIterator[HttpOutside]:
    """Open the adapter; without `checked` names may lead anywhere."""
    entries = [allowed_of(entry) for entry in allowed]
    resolver = CheckedResolver(never_asked if checked else lambda address: "")
    made = HttpOutside(
        Exchange(resolver, None, deadline_seconds),
        tuple(entry for entry in entries if entry is not None),
        Exchange(CheckedResolver(lambda address: ""), None, deadline_seconds),
        prometheus,
    )
    try:
        yield made
    finally:
        await made.close()


async def reviewed(origin: str, path: str = "/arena", **options: Any) -> Signal:
    async with outside(origin, **options) as made:
        return await made.review(origin + path, {"replicas": 5}, NOW)


def json_answer(value: Any, status: int = 200) -> Answering:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(value, status=status)

    return answer


async def test_a_webhook_is_asked_by_post_and_answers_an_object() -> None:
    async with answering(json_answer({"replicas": 9})) as stranger:
        signal = await reviewed(stranger.origin, "/arena?game=a%20b")

    assert signal == Signal(NOW, {"replicas": 9})
    (asked,) = stranger.asked
    assert (asked["method"], asked["path"], asked["query"]) == ("POST", "/arena", {"game": "a b"})
    assert json.loads(asked["text"]) == {"replicas": 5}
    assert asked["headers"]["Content-Type"] == "application/json"
    assert "Authorization" not in asked["headers"]


def redirect(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(status=307, headers={"Location": "http://169.254.169.254/latest"})


def packed(request: web.BaseRequest) -> web.StreamResponse:
    body = gzip.compress(b" " * 50_000_000 + b"{}")
    return web.Response(body=body, headers={"Content-Encoding": "gzip"})


def huge(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(body=b"{" + b" " * 10_000_000 + b"}")


def nan(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text='{"replicas": NaN}')


def deep(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="[" * 60_000)


def twice(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text='{"replicas": 5, "replicas": 40}')


def twice_below(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text='{"response": {"scale": true, "replicas": 5, "replicas": 40}}')


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(twice, "a key twice", id="says two counts"),
        pytest.param(twice_below, "a key twice", id="says two counts in Agones' form"),
        pytest.param(redirect, "answers 307, a redirect, which is not followed", id="redirects"),
        pytest.param(huge, "more than 64 KiB", id="sends 10 MB"),
        pytest.param(packed, "compressed", id="sends little that unpacks to 50 MB"),
        pytest.param(nan, "no JSON object", id="sends NaN"),
        pytest.param(deep, "no JSON object", id="sends 60,000 arrays in each other"),
    ],
)
async def test_a_webhook_that_lies_is_trouble(answer: Any, why: str) -> None:
    async def answered(request: web.BaseRequest) -> web.StreamResponse:
        response: web.StreamResponse = answer(request)
        return response

    async with answering(answered) as stranger:
        signal = await reviewed(stranger.origin)

    assert signal.value is None
    assert why in signal.trouble
    assert stranger.origin.removeprefix("http://") in signal.trouble


async def test_an_answer_too_deep_to_be_looked_at_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How deep that is every Python knows otherwise."""

    def too_deep(*args: Any, **more: Any) -> None:
        raise RecursionError

    monkeypatch.setattr(asking, "json", SimpleNamespace(loads=too_deep))
    async with answering(json_answer({"replicas": 3})) as stranger:
        signal = await reviewed(stranger.origin)
    assert signal.value is None
    assert "answers with JSON that is too deep to be looked at" in signal.trouble


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(json_answer({"replicas": 3}, 500), "answers 500", id="fails"),
        pytest.param(json_answer({"replicas": 3}, 404), "answers 404", id="is not there"),
        pytest.param(json_answer([1]), "no JSON object", id="answers a list"),
        pytest.param(json_answer(None), "no JSON object", id="answers null"),
    ],
)
async def test_a_webhook_that_answers_nothing_of_use_is_trouble(
    answer: Answering, why: str
) -> None:
    async with answering(answer) as stranger:
        signal = await reviewed(stranger.origin)

    assert (signal.value, signal.at) == (None, NOW)
    assert why in signal.trouble


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(b"", "closed the connection", id="nothing at all"),
        pytest.param(b"HTTP/1.1 200", "closed the connection", id="half a head"),
        pytest.param(HEAD + b'Content-Length: 40\r\n\r\n{"replicas": 1}', "closed the connection",
                     id="less than it says"),
        pytest.param(HEAD + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"rep',
                     "closed the connection", id="a chunk and no end"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", "no HTTP", id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "no HTTP",
                     id="a head of 100 KB"),
    ],
)  # fmt: skip
async def test_a_connection_that_is_cut_is_trouble(words: bytes, why: str) -> None:
    async with saying(words) as stranger:
        signal = await reviewed(stranger.origin)

    assert why in signal.trouble


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(b"", id="before the head"),
        pytest.param(HEAD, id="in the head"),
        pytest.param(HEAD + b"Content-Length: 40\r\n\r\n{", id="in the body"),
    ],
)
async def test_one_deadline_ends_whatever_stalls(words: bytes) -> None:
    async with saying(words, hangs=True) as stranger:
        signal = await reviewed(stranger.origin, deadline_seconds=IMPATIENT_SECONDS)

    assert "did not answer within 0.2 s" in signal.trouble


async def test_a_host_that_is_not_listed_is_not_spoken_to() -> None:
    async with answering(json_answer({"replicas": 9})) as stranger, outside() as made:
        signal = await made.review(f"{stranger.origin}/x", {}, NOW)

    assert f"--egress-hosts {stranger.origin}" in signal.trouble
    assert stranger.asked == []


async def test_a_name_that_leads_to_this_machine_is_not_followed() -> None:
    async with answering(json_answer({"replicas": 9})) as stranger:
        named = stranger.origin.replace("127.0.0.1", "localhost")
        signal = await reviewed(named)
        assert "this machine itself" in signal.trouble
        assert stranger.asked == []
        signal = await reviewed(named, checked=False)
        assert signal.value == {"replicas": 9}, "the name led there"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        pytest.param("http://169.254.169.254/latest/meta-data", "asked for nobody",
                     id="a cloud's metadata, though it is listed"),
        pytest.param("http://[::ffff:169.254.169.254]/", "asked for nobody", id="mapped"),
        pytest.param("http://0.0.0.0/", "asked for nobody", id="unspecified"),
        pytest.param("http://127.1/", "cannot be read", id="an address in a form of old"),
        pytest.param("http://2130706433/", "cannot be read", id="an address as a number"),
        pytest.param("http://nobody.invalid/", "leads nowhere", id="a name that is none"),
    ],
)  # fmt: skip
async def test_an_address_that_is_asked_for_nobody(url: str, why: str) -> None:
    listed = ("http://169.254.169.254", "http://[::ffff:169.254.169.254]", "http://0.0.0.0")
    async with outside(*listed, "http://nobody.invalid") as made:
        signal = await made.review(url, {}, NOW)

    assert why in signal.trouble


async def test_a_port_where_nobody_listens_is_trouble() -> None:
    async with saying(b"") as stranger:
        gone = stranger.origin
    signal = await reviewed(gone)

    assert "cannot be connected to" in signal.trouble


async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with saying(b"") as proxy, answering(json_answer({"replicas": 9})) as stranger:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.origin)
        assert (await reviewed(stranger.origin)).value == {"replicas": 9}


async def test_a_certificate_is_checked_and_may_be_vouched_for(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    settings = Settings(egress_certificate_authority_file=str(certificate))
    tls = server_context(certificate)
    async with answering(json_answer({"replicas": 9}), tls) as stranger:
        signal = await reviewed(stranger.origin)
        assert "certificate" in signal.trouble
        listed = Settings(
            egress_hosts=(stranger.origin,),
            egress_certificate_authority_file=settings.egress_certificate_authority_file,
        )
        made = make_outside(listed)
        assert (await made.review(stranger.origin, {}, NOW)).value == {"replicas": 9}
        await made.close()


def vector(*values: str) -> dict[str, Any]:
    result = [{"metric": {}, "value": [NOW - 1, value]} for value in values]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


async def queried(answer: Answering, token: str = "", prefix: str = "") -> tuple[Signal, Any]:
    async with answering(answer) as stranger:
        prometheus = Prometheus(stranger.origin + prefix, lambda: token)
        async with outside(prometheus=prometheus) as made:
            return await made.query('sum(queue{game="a b"})', NOW), stranger.asked


async def test_prometheus_is_asked_for_one_number() -> None:
    signal, (asked,) = await queried(json_answer(vector("12.5")), TOKEN, "/prom")

    assert signal == Signal(NOW - 1, 12.5)
    assert (asked["method"], asked["path"]) == ("GET", "/prom/api/v1/query")
    assert asked["query"] == {"query": 'sum(queue{game="a b"})', "timeout": "5s"}
    assert asked["headers"]["Authorization"] == f"Bearer {TOKEN}"


REFUSED = {"status": "error", "errorType": "bad_data", "error": "parse error: unexpected <eof>"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(json_answer(vector()), "gives nothing", id="an empty vector"),
        pytest.param(json_answer(vector(*["1"] * 5)), "gives 5 series", id="several series"),
        pytest.param(json_answer(vector(*["1"] * 5000)), "more than 64 KiB", id="thousands"),
        pytest.param(json_answer(REFUSED, 400), "refuses the query: parse error", id="a bad query"),
        pytest.param(json_answer({"error": f"no {TOKEN} here"}, 422), "no *** here", id="an echo"),
        pytest.param(json_answer({}, 401), "--prometheus-token-file", id="no token"),
        pytest.param(json_answer({}, 403), "--prometheus-token-file", id="a wrong token"),
        pytest.param(json_answer({}, 404), "--prometheus-url", id="another path"),
        pytest.param(json_answer({}, 503), "answers 503", id="starting"),
        pytest.param(json_answer("<html>"), "none of Prometheus' API", id="something else"),
    ],
)
async def test_what_prometheus_cannot_answer_is_trouble(answer: Answering, why: str) -> None:
    signal, _ = await queried(answer, TOKEN)

    assert signal.value is None
    assert why in signal.trouble
    assert TOKEN not in signal.trouble


@pytest.mark.parametrize("token", ["error", "parse error"])
async def test_a_refusal_is_judged_as_it_came_and_told_without_the_token(token: str) -> None:
    signal, _ = await queried(json_answer(REFUSED, 400), token)

    assert "refuses the query: ***" in signal.trouble.replace("parse ***", "***")
    assert token not in signal.trouble


async def test_a_token_goes_nowhere_else() -> None:
    async def redirected(request: web.BaseRequest) -> web.StreamResponse:
        return redirect(request)

    signal, asked = await queried(redirected, TOKEN)

    assert "a redirect" in signal.trouble
    assert len(asked) == 1


async def test_without_a_prometheus_the_flag_is_named() -> None:
    async with outside() as made:
        assert "--prometheus-url" in (await made.query("up", NOW)).trouble


async def test_a_token_that_cannot_be_read_is_trouble() -> None:
    def unreadable() -> str:
        raise Misconfigured("--prometheus-token-file /no cannot be read")

    async with outside(prometheus=Prometheus("http://127.0.0.1:9", unreadable)) as made:
        assert "--prometheus-token-file" in (await made.query("up", NOW)).trouble
