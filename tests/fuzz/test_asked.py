"""Who is asked beside the cluster and Git: a policy's webhook, and a kubeconfig's program."""

import asyncio
import json
import random
import ssl

from reconciler.adapters.kubernetes.credentials import Proof
from reconciler.adapters.kubernetes.exec_plugin import Plugin
from reconciler.adapters.kubernetes.kubeconfig import Chosen
from reconciler.adapters.outside.asking import HttpOutside
from reconciler.adapters.outside.exchange import Answer, Exchange, Question
from reconciler.adapters.outside.resolver import CheckedResolver
from reconciler.core.egress import Allowed, allowed_of
from reconciler.core.policies import reviews
from reconciler.core.policies.policy import MOST_ROOMS
from reconciler.model.errors import PortError
from reconciler.model.scaling import Signal
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search

NOW = 1_760_000_000.0
HOOK = "https://scaler.example.com"
UID = "0f8fad5b-d9cb-469f-a165-70867728950e"
REVIEWS = (
    {"replicas": 12, "reason": "a match begins"},
    {"response": {"uid": UID, "scale": True, "replicas": 12}},
    {"response": {"uid": UID, "scale": False}},
)
COUNTS = (MOST_ROOMS, MOST_ROOMS + 1, 1e999, float("nan"), 12.0, 12.5, "12", UID, 10**400)
TWICE = Forge([json.dumps(each).encode() for each in REVIEWS], (b'"replicas": 9, ', b"[" * 5000))
V1 = "client.authentication.k8s.io/v1"
CREDENTIAL = {
    "apiVersion": V1,
    "kind": "ExecCredential",
    "status": {"token": "t", "expirationTimestamp": "2025-10-09T08:53:20Z"},
}
WITH_A_CERTIFICATE = {
    **CREDENTIAL,
    "status": {"clientCertificateData": "-----BEGIN CERTIFICATE-----\n", "clientKeyData": "k"},
}
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
STATUSES = (
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2025-10-09",
    "-----BEGIN PRIVATE KEY-----\nENCRYPTED",
    "é\n",
    {"token": "t"},
)
DEEP = Forge([json.dumps(CREDENTIAL).encode()], (b"[" * 50_000, b'{"a":' * 5000, b"\xff\xfe"))


class Said(Exchange):
    """Somebody who gives one answer to whatever is asked."""

    def __init__(self, body: bytes) -> None:
        super().__init__(CheckedResolver(lambda address: ""))
        self._body = body

    async def ask(self, question: Question) -> Answer:
        return Answer(200, self._body)


class Prints(Plugin):
    """A program that has printed something."""

    def __init__(self, printed: bytes) -> None:
        entry = {"command": "login", "apiVersion": V1}
        super().__init__(Chosen({}, {"exec": entry}, "one"), CONTEXT)
        self._printed = printed

    async def _run(self) -> bytes:
        return self._printed


def review_of(chance: random.Random) -> bytes:
    """Return what a webhook answers."""
    if chance.random() < 0.3:
        return TWICE(chance)
    return written(altered(chance.choice(REVIEWS), chance, COUNTS), chance)


async def reviewed(data: bytes) -> None:
    """An answer is one count that rooms can be made by, or trouble in words, in either form."""
    said = Said(data)
    outside = HttpOutside(said, allowed(), said, None)
    signal = await outside.review(f"{HOOK}/arena", {}, NOW)
    assert isinstance(signal, Signal)
    assert isinstance(signal.value, dict) != bool(signal.trouble)
    assert signal.trouble.isprintable()
    ours, theirs = reviews.pertinent(signal.value), reviews.agones_pertinent(signal.value)
    reviews.agones_doubt(signal.value, UID).encode()
    for kept, (count, why) in (
        (ours, reviews.answer_of(ours)),
        (theirs, reviews.agones_answer_of(theirs, 3)),
    ):
        assert count is None or (type(count) is int and 0 <= count <= MOST_ROOMS)
        assert why.isprintable()
        assert len(why) <= 200
        if count is not None:
            assert signal.trouble == ""
            assert kept is not None


def allowed() -> tuple[Allowed, ...]:
    entry = allowed_of(HOOK)
    assert entry is not None
    return (entry,)


def credential_of(chance: random.Random) -> bytes:
    """Return what a program prints that a kubeconfig names."""
    if chance.random() < 0.3:
        return DEEP(chance)
    seed = chance.choice((CREDENTIAL, CREDENTIAL, WITH_A_CERTIFICATE))
    return written(altered(seed, chance, STATUSES), chance)


async def proven(data: bytes) -> None:
    """A program gives a proof that can be sent, for a time that is one, or is refused in words."""
    try:
        proof = await Prints(data)()
    except PortError as error:
        str(error).encode("utf-8", "surrogatepass")
        return
    assert isinstance(proof, Proof)
    assert proof.headers or proof.certificate
    assert proof.good_for_seconds >= 1.0
    for name, value in proof.headers.items():
        f"{name}: {value}".encode("ascii")


def test_what_is_changed_here_is_taken_unchanged() -> None:
    for each in REVIEWS:
        asyncio.run(reviewed(json.dumps(each).encode()))
    assert asyncio.run(Prints(json.dumps(CREDENTIAL).encode())()).headers


def test_no_answer_of_a_policy_s_webhook_is_too_much() -> None:
    with asyncio.Runner() as runner:
        search(Target("review", 210_000, review_of, lambda data: runner.run(reviewed(data))))


def test_nothing_that_a_credentials_plugin_prints_is_too_much() -> None:
    with asyncio.Runner() as runner:
        target = Target("credential", 84_000, credential_of, lambda d: runner.run(proven(d)))
        search(target)
