"""Who sent a webhook: what each code host sends is believed, and nothing that is near it."""

import base64
import hashlib
import hmac
import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from multidict import CIMultiDict

from reconciler.core.hook_signatures import OLDEST_SECONDS, is_signed
from tests.scorecard import score

NOW = 1_790_000_000.0
PLAIN = b"a secret of the studio"
KEY = bytes(range(32))
SIGNING = b"whsec_" + base64.b64encode(KEY)
BODY = b'{"ref": "refs/heads/main"'  # no JSON: it must never be parsed
FORGED = 100_000


def by_body(body: bytes = BODY, secret: bytes = PLAIN) -> dict[str, str]:
    digest = hmac.new(secret, body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={digest}"}


def standard(
    body: bytes = BODY, key: bytes = KEY, message: str = "msg_1", at: float = NOW
) -> dict[str, str]:
    signed = f"{message}.{at:.0f}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message,
        "webhook-timestamp": f"{at:.0f}",
        "webhook-signature": f"v1,{digest}",
    }


def plain(secret: bytes = PLAIN) -> dict[str, str]:
    return {"X-Gitlab-Token": secret.decode()}


WAYS: list[tuple[bytes, dict[str, str]]] = [
    (PLAIN, by_body()),
    (SIGNING, standard()),
    (PLAIN, plain()),
]


@pytest.mark.parametrize(
    ("secret", "headers"),
    [
        *WAYS,
        pytest.param(PLAIN, {"X-Gamekeeper-Signature": by_body()["X-Hub-Signature-256"]}, id="own"),
        pytest.param(SIGNING, by_body(secret=SIGNING), id="GitHub with a key of that shape"),
        pytest.param(SIGNING, standard(at=NOW - OLDEST_SECONDS), id="five minutes old"),
        pytest.param(
            SIGNING,
            {
                **standard(),
                "webhook-signature": "v1,AAAA v1a,BBBB " + standard()["webhook-signature"],
            },
            id="while a key is rotated",
        ),
    ],
)
def test_whoever_knows_the_secret_is_believed(secret: bytes, headers: dict[str, str]) -> None:
    assert is_signed(BODY, CIMultiDict(headers), secret, NOW)


@pytest.mark.parametrize(
    ("secret", "headers"),
    [
        pytest.param(PLAIN, {}, id="nothing"),
        pytest.param(b"", by_body(secret=b""), id="no secret here, signed with none"),
        pytest.param(b"", plain(b""), id="no secret here, and none sent"),
        pytest.param(SIGNING, standard(at=NOW - OLDEST_SECONDS - 1), id="sent again too late"),
        pytest.param(SIGNING, standard(at=NOW + OLDEST_SECONDS + 1), id="of the future"),
        pytest.param(PLAIN, standard(key=PLAIN), id="signed with what is no signing token"),
        pytest.param(b"whsec_", standard(key=b""), id="a signing token without a key"),
        pytest.param(b"whsec_%%", standard(key=b""), id="a signing token that is no base64"),
        pytest.param(PLAIN, {**plain(), **by_body(b"else")}, id="a token beside a wrong signature"),
        pytest.param(
            SIGNING, {**plain(SIGNING), **standard(b"else")}, id="a token beside another signature"
        ),
        pytest.param(
            SIGNING,
            {**standard(), "webhook-signature": "x " * 8 + standard()["webhook-signature"]},
            id="behind more signatures than are read",
        ),
        pytest.param(SIGNING, {**standard(), "webhook-timestamp": "١٧٩"}, id="other digits"),
        pytest.param(SIGNING, {**standard(), "webhook-timestamp": "9" * 5000}, id="a huge time"),
    ],
)
def test_nobody_else_is(secret: bytes, headers: dict[str, str]) -> None:
    assert not is_signed(BODY, CIMultiDict(headers), secret, NOW)


@pytest.mark.parametrize(("secret", "headers"), WAYS, ids=["signature", "standard", "token"])
@pytest.mark.parametrize("shown", ["good", "near", "short"])
def test_what_is_shown_is_compared_in_constant_time_alone(
    secret: bytes, headers: dict[str, str], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = list(headers)[-1]
    good = headers[name]
    given = {"good": good, "near": f"{good[:-1]}\N{SNOWMAN}", "short": good[:4]}[shown]
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return False

    told = SimpleNamespace(new=hmac.new, compare_digest=compare)
    monkeypatch.setattr("reconciler.core.hook_signatures.hmac", told)

    # What it says is what the request comes to: no other comparison lets anybody in.
    assert not is_signed(BODY, CIMultiDict({**headers, name: given}), secret, NOW)
    assert compared == [(given.encode(), good.encode())]


def test_of_many_signatures_each_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return hmac.compare_digest(one, other)

    told = SimpleNamespace(new=hmac.new, compare_digest=compare)
    monkeypatch.setattr("reconciler.core.hook_signatures.hmac", told)
    good = standard()["webhook-signature"]
    both = CIMultiDict({**standard(), "webhook-signature": f"{good} v1,AAAA"})

    assert is_signed(BODY, both, SIGNING, NOW)
    assert compared == [good.encode(), b"v1,AAAA"]


def changed(chance: random.Random, text: str) -> str:
    """Return another text: a letter more, less or other, or its case."""
    at = chance.randrange(len(text)) if text else 0
    other = chance.choice("0123456789abcdefABCDEF=+/,. é\udcff\x00")
    ways: list[Callable[[], str]] = [
        lambda: text[:at] + other + text[at:],
        lambda: text[:at] + other + text[at + 1 :],
        lambda: text[:at] + text[at + 1 :],
        lambda: text[:at],
        lambda: text.swapcase(),
        lambda: text[::-1],
    ]
    return chance.choice(ways)()


def forgeries(chance: random.Random) -> Iterator[tuple[bytes, bytes, dict[str, str]]]:
    """Yield secret, body and headers of whoever saw one good request, and has no secret."""
    while True:
        secret, good = chance.choice(WAYS)
        headers, body = dict(good), BODY
        for _ in range(chance.randint(1, 3)):
            name = chance.choice(list(headers)) if headers else ""
            way = chance.randrange(4)
            if way == 0 and "X-Gitlab-Token" not in headers:
                body = changed(chance, body.decode("latin-1")).encode("latin-1", "replace")
            elif way == 1 and name:
                headers.pop(name)
            elif way == 2:
                guess = chance.randbytes(chance.choice([0, 1, 16, 32]))
                made = chance.choice([by_body(body, guess), standard(body, guess)])
                headers = {**headers, **made}
            elif name:
                headers[name] = changed(chance, headers[name])
        # Whoever shows the token itself knows it; so does who sent just what was good.
        believed = headers.get("X-Gitlab-Token") == secret.decode()
        signs = {"X-Hub-Signature-256", "webhook-signature"} & set(headers)
        same = body == BODY and good.items() <= headers.items()
        if not same and not (believed and not signs):
            yield secret, body, headers


@pytest.mark.long
def test_a_hundred_thousand_forgeries_are_not_believed() -> None:
    # Secrets are of random texts: the seed cannot meet one by chance.
    made = forgeries(random.Random(20))
    accepted = [
        (body, headers)
        for _, (secret, body, headers) in zip(range(FORGED), made, strict=False)
        if is_signed(body, CIMultiDict(headers), secret, NOW)
    ]
    score(20, forged=FORGED, forged_accepted=len(accepted))
    assert accepted == []
