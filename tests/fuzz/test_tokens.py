"""Whose word it is: tokens that rooms show, and what programs say that check signatures."""

import base64
import json
import random
import tempfile
from collections.abc import Coroutine
from typing import Any, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from reconciler.adapters.git.commands import Output
from reconciler.adapters.git.commits import Signed
from reconciler.adapters.git.openpgp import OpenPgp
from reconciler.adapters.git.signatures import Signatures
from reconciler.model.refs import Json
from reconciler.model.trailers import Signer
from reconciler.sandbox import openid
from reconciler.service.doors import issuer
from reconciler.service.doors.tokens import RoomTokens, Speaker, audience_of
from tests.fuzz.forging import Forge, altered
from tests.fuzz.playing import Target, search
from tests.loop.world import START, Time
from tests.unit.service_views.scripted import NoCluster

T = TypeVar("T")
OURS = openid.signer(1)
HASHED = ec.ECDSA(SHA256(), deterministic_signing=True)
HEAD = {"alg": openid.ALGORITHM, "kid": OURS.kid}
ROOM = {"name": "arena-1", "uid": "5f0c1a2b"}
CLAIMS = {
    "iss": openid.ISSUER,
    "aud": [audience_of("main")],
    "exp": int(START) + 3600,
    "iat": int(START),
    "nbf": int(START),
    "sub": "system:serviceaccount:arena:default",
    "kubernetes.io": {"namespace": "arena", "pod": ROOM, "serviceaccount": {"name": "default"}},
}
OTHERS = (int(START), 2**40, "none", "HS256", "RS256", openid.ISSUER, OURS.kid, ROOM, ["arena"])
FINGERPRINT = "A" * 40
STATUS = (
    b"[GNUPG:] NEWSIG ada@example.com\n[GNUPG:] KEY_CONSIDERED %(key)s 0\n"
    b"[GNUPG:] SIG_ID abc 2026-11-25 1790000000\n[GNUPG:] GOODSIG AAAAAAAAAAAAAAAA Ada %%3Ca%%3E\n"
    b"[GNUPG:] VALIDSIG %(key)s 2026-11-25 1790000000 0 4 0 22 8 00 %(key)s\n"
    b"[GNUPG:] TRUST_ULTIMATE 0 pgp\n"
) % {b"key": FINGERPRINT.encode()}
GNUPG = Forge(
    [
        STATUS,
        STATUS.replace(b"GOODSIG", b"REVKEYSIG"),
        b"[GNUPG:] ERRSIG AAAAAAAAAAAAAAAA 22 8 00 1790000000 9 -\n[GNUPG:] NO_PUBKEY AAAA\n",
    ],
    (b"[GNUPG:] ", b"VALIDSIG ", b"GOODSIG ", b"NEWSIG\n", b"EXPSIG ", b" 01 ", b"%0A", b"%1b[31m"),
    20_000,
)
GOOD = b'Good "git" signature for %s with ED25519 key SHA256:' + b"a" * 43 + b"\n"
OPENSSH = Forge(
    [
        b"ada@example.com\nbob@example.com\n\0" + GOOD % b"ada@example.com",
        b"ada@example.com\n\0Could not verify signature.\n",
        b"\0" + GOOD % b'x" signature for y with z key SHA256:b',
    ],
    (b"\0", b'Good "git" signature for ', b" key SHA256:", b"\x1b[31m", b"\r"),
    20_000,
)


class Pages(NoCluster):
    """A cluster that tells its keys."""

    async def raw_get(self, path: str) -> Json | None:
        """Return one of both pages."""
        return {"issuer": openid.ISSUER} if path == issuer.CONFIGURATION else OURS.page()


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run what waits for nobody."""
    try:
        work.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    raise AssertionError("it waits")


def _text(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def signed(head: bytes, claims: bytes) -> bytes:
    """Return a token that our key signed: the same each time."""
    what = _text(head) + b"." + _text(claims)
    first, second = utils.decode_dss_signature(OURS.key.sign(what, HASHED))
    return what + b"." + _text(first.to_bytes(32, "big") + second.to_bytes(32, "big"))


BROKEN = Forge(
    [signed(json.dumps(HEAD).encode(), json.dumps(CLAIMS).encode())],
    (b".", b"..", b"==", _text(b'{"alg":"none"}'), _text(b'{"kid":[]}'), _text(b"[" * 3000)),
    9_000,
)


def token_of(chance: random.Random) -> bytes:
    """Return a token that is no longer as it was signed, or one that says strange things."""
    if chance.random() < 0.5:
        return BROKEN(chance)
    head, claims = HEAD, CLAIMS
    if chance.random() < 0.5:
        head = altered(HEAD, chance, OTHERS)
    else:
        claims = altered(CLAIMS, chance, OTHERS)
    return signed(json.dumps(head).encode(), json.dumps(claims).encode())


def believed(data: bytes) -> None:
    """Only what our key signed is believed, and of that what it says."""
    tokens = RoomTokens(Pages(), "main", Time(), lambda: 0.0)
    text = data.decode("utf-8", "surrogateescape")
    tokens._may_be_ours(text)  # where the cluster does not tell its keys
    speaker = at_once(tokens.speaker(text))
    if speaker is None:
        return
    what, _, signature = text.rpartition(".")
    claims = json.loads(_bytes(what.split(".")[1]))
    assert claims["iss"] == openid.ISSUER
    assert audience_of("main") in claims["aud"]
    bound = claims["kubernetes.io"]
    assert speaker == Speaker(bound["namespace"], bound["pod"]["name"], bound["pod"]["uid"])
    raw = _bytes(signature)
    halves = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    try:
        OURS.key.public_key().verify(utils.encode_dss_signature(*halves), what.encode(), HASHED)
    except InvalidSignature:
        raise AssertionError("nobody signed that") from None


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Told(OpenPgp):
    """A gpg that says what it is told to."""

    said = b""

    def _run(self, *words: str, stdin: bytes) -> Output:
        return Output(0, self.said, "")


def openpgp_says(data: bytes) -> None:
    """Whatever gpg says: a name in printable words and a key, or why nobody signed."""
    with tempfile.TemporaryDirectory() as folder:
        gpg = Told(folder, START)
        gpg.said = data
        signer, problem = gpg.signer(Signed(b"payload", b"signature", "openpgp"))
    _check(signer, problem)
    assert signer is None or signer.key in data.decode("utf-8", "replace")


class Keygen(Signatures):
    """An ssh-keygen that says what it is told to."""

    said = b""

    def _run(self, operation: str, more: tuple[str, ...], payload: bytes) -> Output:
        principals, _, verdict = self.said.partition(b"\0")
        said = principals if operation == "find-principals" else verdict
        return Output(0, said, said.decode("utf-8", "replace"))


def openssh_says(data: bytes) -> None:
    """Whatever ssh-keygen says: printable names and a key, or why nobody signed."""
    with tempfile.TemporaryDirectory() as folder:
        keygen = Keygen(folder, START, "signers")
        keygen.said = data
        signer, problem = keygen.signer(Signed(b"payload", b"signature", "ssh"))
    _check(signer, problem)
    assert signer is None or signer.key.startswith("SHA256:")


def _check(signer: Signer | None, problem: str) -> None:
    """A signer has a name, what is wrong has a sentence; nothing is neither or both."""
    assert (signer is None) is bool(problem)
    if signer is not None:
        assert signer.principals
        assert all(each.isprintable() for each in signer.principals)


def keys_of(chance: random.Random) -> bytes:
    """Return the page of keys of a cluster, with strange things in it."""
    return json.dumps(altered(OURS.page(), chance, (*OTHERS, "RSA", "AQAB", "P-521"))).encode()


def keys_read(data: bytes) -> None:
    """Whatever a page of keys says: keys by their ids, each for one of our ways to sign."""
    page = json.loads(data)
    found = issuer.keys_of(page) if isinstance(page, dict) else {}
    assert all(isinstance(kid, str) for kid in found)
    assert {key.algorithm_name for key in found.values()} <= issuer.ALGORITHMS


def test_no_page_of_keys_is_too_much() -> None:
    search(Target("keys", 42_000, keys_of, keys_read))


def test_no_token_is_believed_that_nobody_signed() -> None:
    search(Target("token", 105_000, token_of, believed))


def test_no_word_of_gnupg_is_taken_for_another() -> None:
    search(Target("gnupg", 210_000, GNUPG, openpgp_says))


def test_no_word_of_openssh_is_taken_for_another() -> None:
    search(Target("openssh", 210_000, OPENSSH, openssh_says))
