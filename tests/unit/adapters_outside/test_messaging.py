"""People are told over real connections: what arrives, what is signed, and what goes wrong."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from reconciler.adapters.outside.exchange import Exchange
from reconciler.adapters.outside.messaging import HttpMessenger
from reconciler.adapters.outside.posting import MOST_RETRY_SECONDS, refusal_of
from reconciler.adapters.outside.resolver import CheckedResolver
from reconciler.core.news_text import message_of
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.notifications import Form, Message, News, Origin, Target, Topic
from tests.canaries.places import canary
from tests.unit.adapters_outside.servers import Answering, answering, saying
from tests.unit.core.making import a_key

PAGE = (Path(__file__).parents[3] / "docs" / "notifications.md").read_text()
ORIGIN = Origin("main", "local", "https://git.example.com/studio/fleet.git", "main")
NEWS = News(
    Topic.REFUSED,
    a_key(),
    "place",
    "identity",
    "takes <12> of 40 rooms",
    "over-budget",
    "bd7085a350de",
)
SECRET = canary("notification secret")
SECRET_PATH = f"/services/T0/B0/{canary('notification URL')}"


def a_message(left_out: int = 0) -> Message:
    return message_of(NEWS, ORIGIN, "ab" * 20, "2026-01-02T03:04:05Z", left_out)


@asynccontextmanager
async def messenger(deadline_seconds: float = 30.0) -> AsyncIterator[HttpMessenger]:
    made = HttpMessenger(Exchange(CheckedResolver(refusal_of), None, deadline_seconds))
    try:
        yield made
    finally:
        await made.close()


def status(number: int, **headers: str) -> Answering:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=number, text="the body is hunter2", headers=named)

    return answer


def webhook(origin: str, **changes: Any) -> Target:
    return Target("ops", Form.WEBHOOK, url=f"{origin}/hook", **changes)


async def test_a_webhook_is_sent_what_the_page_shows_and_its_receiver_takes_it(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    async with answering(status(204)) as server, messenger() as made:
        await made.send(webhook(server.origin, secret_file=str(secret)), a_message())
    (asked,) = server.asked
    assert (asked["method"], asked["path"]) == ("POST", "/hook")
    assert asked["headers"]["Content-Type"] == "application/json"

    (sample,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    got, shown = json.loads(asked["text"]), json.loads(sample)
    assert got.pop("id")
    assert shown.pop("id")
    assert got == shown

    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    receiver: dict[str, Any] = {"__name__": "receiver"}
    exec(program, receiver)
    body, signature = asked["text"].encode(), asked["headers"]["X-Gamekeeper-Signature"]
    is_signed = receiver["is_signed"]
    assert is_signed(body, signature, SECRET.encode())
    assert not is_signed(body + b" ", signature, SECRET.encode())
    assert not is_signed(body, signature, b"another")
    assert not is_signed(body, "", SECRET.encode())


async def test_nothing_is_signed_without_a_secret() -> None:
    async with answering(status(200)) as server, messenger() as made:
        await made.send(webhook(server.origin), a_message())
    assert "X-Gamekeeper-Signature" not in server.asked[0]["headers"]


async def test_slack_is_sent_a_text_in_which_it_sees_no_markup(tmp_path: Path) -> None:
    file = tmp_path / "url"
    async with answering(status(200)) as server, messenger() as made:
        file.write_text(f"{server.origin}{SECRET_PATH}\n")
        await made.send(Target("chat", Form.SLACK, url_file=str(file)), a_message(3))
    (asked,) = server.asked
    assert asked["path"] == SECRET_PATH
    assert json.loads(asked["text"]) == {
        "text": "[main/local] refused Scheduler/arena: takes &lt;12&gt; of 40 rooms "
        "(gamekeeper approve bd7085a350de) (and 3 more before it)"
    }


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        pytest.param(status(500), Unavailable, "ops answers 500", id="a failure"),
        pytest.param(status(429), Unavailable, "ops answers 429", id="too many"),
        pytest.param(status(401), Denied, "ops answers 401: it refuses us", id="no right"),
        pytest.param(status(404), Misconfigured, "ops answers 404", id="nothing there"),
        pytest.param(status(302, Location="http://127.0.0.1/x"), Unavailable, "a redirect, which",
                     id="a redirect is not followed"),
    ],
)  # fmt: skip
async def test_what_goes_wrong_is_told_and_nothing_of_the_answer(
    answer: Answering, kind: type[PortError], why: str
) -> None:
    async with answering(answer) as server, messenger() as made:
        with pytest.raises(kind, match=why) as refused:
            await made.send(webhook(server.origin), a_message())
    assert "hunter2" not in str(refused.value)
    assert server.origin not in str(refused.value)
    assert len(server.asked) == 1


SOON = format_datetime(datetime.now(UTC) + timedelta(seconds=3000), usegmt=True)


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        pytest.param("30", 30, 30, id="seconds"),
        pytest.param("99999999999999999999", MOST_RETRY_SECONDS, MOST_RETRY_SECONDS, id="ages"),
        pytest.param(SOON, 1, 3000, id="a date"),
        pytest.param("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0, id="a date that is over"),
    ],
)
async def test_when_to_ask_again_is_passed_on(said: str, least: float, most: float) -> None:
    async with answering(status(503, Retry_After=said)) as server, messenger() as made:
        with pytest.raises(Unavailable) as refused:
            await made.send(webhook(server.origin), a_message())
    assert refused.value.retry_after_seconds is not None
    assert least <= refused.value.retry_after_seconds <= most


async def test_who_comes_too_often_is_told_when_to_come_back_and_not_refused() -> None:
    async with answering(status(403, Retry_After="60")) as server, messenger() as made:
        with pytest.raises(Unavailable) as refused:
            await made.send(webhook(server.origin), a_message())
    assert refused.value.retry_after_seconds == 60


async def test_nonsense_is_no_time() -> None:
    async with answering(status(503, Retry_After="soon")) as server, messenger() as made:
        with pytest.raises(Unavailable) as refused:
            await made.send(webhook(server.origin), a_message())
    assert refused.value.retry_after_seconds is None


async def test_who_says_nothing_is_left_after_the_deadline() -> None:
    async with saying(b"HTTP/1.1 200 OK\r\n", hangs=True) as server, messenger(0.2) as made:
        with pytest.raises(Unavailable, match=r"ops did not answer within 0\.2 s"):
            await made.send(webhook(server.origin), a_message())


@pytest.mark.parametrize(
    ("url", "why"),
    [
        pytest.param("http://169.254.169.254/latest", "link-local", id="a cloud's metadata"),
        pytest.param("http://[fd00:ec2::254]/", "a cloud's metadata", id="Amazon's"),
        pytest.param("http://0.0.0.0/", "unspecified", id="no address"),
    ],
)
async def test_nobody_is_told_where_secrets_are(url: str, why: str) -> None:
    async with messenger() as made:
        with pytest.raises(Misconfigured, match=why):
            await made.send(Target("ops", Form.WEBHOOK, url=url), a_message())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("http://hooks.example.com/hunter2", "over https only", id="for all to read"),
        pytest.param("hunter2", "is none that is asked", id="no address"),
        pytest.param("https://a/hunter2 https://b", "holds none", id="two"),
        pytest.param("", "holds none", id="nothing"),
    ],
)
async def test_an_address_in_a_file_is_a_secret(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "url"
    file.write_text(text)
    async with messenger() as made:
        with pytest.raises(Misconfigured, match=why) as refused:
            await made.send(Target("chat", Form.SLACK, url_file=str(file)), a_message())
        assert "hunter2" not in str(refused.value)
        with pytest.raises(Misconfigured, match="cannot be read"):
            await made.send(Target("chat", Form.SLACK, url_file=str(file) + "-"), a_message())
