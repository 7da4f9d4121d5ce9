"""Forged webhooks that reach the server: none makes us look at Git, and a genuine one does."""

import base64
import io
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from reconciler.core.hook_signatures import BODY_SIGNATURES, GITLAB
from reconciler.service.faces import Faces, serving
from reconciler.service.health import Health
from reconciler.service.metrics import Metrics
from tests.canaries.places import canary
from tests.scorecard import score
from tests.unit.core.test_hook_signatures import by_body, plain, standard

pytestmark = pytest.mark.long

Headers = dict[str, str]
STANDARD = "webhook-signature"
SECRET = canary("webhook secret").encode()
KEY = canary("webhook secret", "signing").encode()
EACH = 80
"""So many bodies of each kind of host, each with five forgeries: 1,200 in all."""


@dataclass(frozen=True)
class Host:
    """A kind of code host: the `secret` that we know, and how a body is sent `by` who has a key.

    `others` are headers in which other kinds of hosts show what they know.
    """

    secret: bytes
    key: bytes
    by: Callable[[bytes, bytes], Headers]
    others: tuple[str, ...]


SIGNS = Host(SECRET, SECRET, by_body, (STANDARD, GITLAB))
SIGNS_BY_STANDARD = Host(
    b"whsec_" + base64.b64encode(KEY),
    KEY,
    lambda body, key: standard(body, key, at=time.time()),
    (*BODY_SIGNATURES, GITLAB),
)
SHOWS = Host(SECRET, SECRET, lambda body, key: plain(key), (*BODY_SIGNATURES, STANDARD))


def forgeries(host: Host, body: bytes, chance: random.Random) -> Iterator[Headers]:
    """Yield a forgery of each kind, by who saw genuine ones and knows no secret."""
    good = host.by(body, host.key)
    name = list(good)[-1]
    wrong = host.by(body, chance.randbytes(16).hex().encode())
    missing = {each: text for each, text in good.items() if each != name}
    truncated = {**good, name: good[name][: chance.randrange(len(good[name]))]}
    of_another_host = {**missing, chance.choice(host.others): good[name]}
    other = host.by(body + b" ", host.key)
    # A token says nothing of a body; a signature beside it does.
    of_another_body = other if other != good else {**good, **by_body(body + b" ", host.key)}
    yield from (wrong, missing, truncated, of_another_host, of_another_body)


@pytest.mark.parametrize(
    "host",
    [
        pytest.param(SIGNS, id="GitHub, Gitea"),
        pytest.param(SIGNS_BY_STANDARD, id="GitLab with a signing token"),
        pytest.param(SHOWS, id="GitLab with a secret token"),
    ],
)
async def test_of_all_that_is_delivered_what_is_genuine_alone_wakes(
    host: Host, tmp_path: Path
) -> None:
    woken: list[float] = []

    async def wake() -> None:
        woken.append(time.monotonic())

    file, chance, answers = tmp_path / "secret", random.Random(20), Counter[int]()
    file.write_bytes(host.secret + b"\n")
    shown = Faces(Health(lambda: 0.0), Metrics(), lambda: "", wake, str(file))
    async with serving(shown, "127.0.0.1:0") as address, aiohttp.ClientSession() as session:

        async def deliver(body: bytes, headers: Headers) -> int:
            url, data = f"http://{address}/webhook", io.BytesIO(body)
            async with session.post(url, data=data, headers=headers) as answer:
                return answer.status

        for number in range(EACH):
            # Of a body of its own each: none is left out as one that was sent before.
            body = b'{"number": %d}' % number
            for headers in forgeries(host, body, chance):
                answers[await deliver(body, headers)] += 1
        score(20, forged_deliveries=answers.total(), forged_that_woke=len(woken))
        assert woken == []
        assert answers == {401: 5 * EACH}

        body = b'{"number": 0}'
        assert await deliver(body, host.by(body, host.key)) == 202
        assert len(woken) == 1
