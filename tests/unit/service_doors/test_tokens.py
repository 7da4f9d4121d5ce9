"""A room's own token, verified here, and where it cannot be: asked about, and not too often."""

import asyncio
import base64
import json
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import RSAAlgorithm

from reconciler.model.errors import Denied, Gone, Unavailable
from reconciler.model.refs import Json
from reconciler.room_ports import NotAdmitted
from reconciler.sandbox import openid
from reconciler.service.doors.issuer import keys_of
from reconciler.service.doors.reviews import Reviews
from tests.unit.service_doors.gate import AUDIENCE, START, Gate, bearer, refusal
from tests.unit.service_views.scripted import NoCluster


def signed(gate: Gate, key: Any = None, algorithm: str = "ES256", **changes: Any) -> str:
    """A token of arena-1 with something changed; `claims` of None are left out."""
    own = openid.signer(gate.sandbox.world.ids.seed)
    claims = jwt.decode(gate.token("arena-1"), options={"verify_signature": False})
    kid = changes.pop("kid", own.kid)
    claims = {name: value for name, value in {**claims, **changes}.items() if value is not None}
    return jwt.encode(claims, key or own.key, algorithm=algorithm, headers={"kid": kid})


async def test_a_room_speaks_for_itself_and_the_api_server_is_asked_once() -> None:
    gate = Gate()
    pods = [await gate.room("arena-1"), await gate.room("arena-2")]
    before = len(gate.asked())
    for pod in pods:
        for _ in range(3):
            assert await refusal(gate.door, pod, bearer(gate.token(pod.name)), pod.name) == (
                200,
                "",
            )
    assert gate.asked()[before:] == [
        "read /.well-known/openid-configuration",
        "read /openid/v1/jwks",
    ]


async def test_a_token_that_was_verified_is_known_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    pod, shown = await gate.room("arena-1"), bearer(gate.token("arena-1"))
    assert await refusal(gate.door, pod, shown) == (200, "")
    monkeypatch.delattr(jwt, "decode")
    assert await refusal(gate.door, pod, shown) == (200, "")


async def test_for_another_room_it_is_refused_alike_whether_that_is_there_or_not() -> None:
    gate = Gate()
    await gate.room("arena-1")
    other, shown = await gate.room("arena-2"), bearer(gate.token("arena-1"))
    there = await refusal(gate.door, other, shown, "arena-2")
    absent = await refusal(gate.door, None, shown, "arena-3")
    assert there == absent
    assert there[0] == 403
    namesake = replace(gate.live("arena-1"), namespace="duel")
    with pytest.raises(NotAdmitted) as refused:
        await gate.door.admit_room("duel", "arena-1", namesake, shown, "10.0.0.1")
    assert (refused.value.status, str(refused.value)) == there


async def test_nobody_learns_from_a_wrong_token_which_rooms_there_are() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    answers = {
        await refusal(gate.door, pod, bearer("junk")),
        await refusal(gate.door, None, bearer("junk"), "arena-3"),
        await refusal(gate.door, pod, bearer(signed(gate, aud=["other"]))),
        await refusal(gate.door, None, bearer(signed(gate, aud=["other"])), "arena-3"),
    }
    assert [status for status, _ in answers] == [401]


async def test_the_token_of_an_earlier_pod_of_that_name_is_told_that_it_is_gone() -> None:
    gate = Gate()
    await gate.room("arena-1")
    shown = bearer(gate.token("arena-1"))
    gate.ask("DELETE", "/api/v1/namespaces/arena/pods/arena-1")
    gate.pass_time(60.0)
    for pod in (None, await gate.room("arena-1")):
        with pytest.raises(Gone, match="arena-1"):
            await gate.door.admit_room("arena", "arena-1", pod, shown, "10.0.0.1")


@pytest.mark.parametrize(
    ("after_seconds", "status"),
    [
        pytest.param(3590.0, 200, id="good until it runs out"),
        pytest.param(3659.0, 200, id="and a minute longer, for clocks differ"),
        pytest.param(3661.0, 401, id="then no more"),
    ],
)
@pytest.mark.parametrize("known", [True, False], ids=["known before", "never seen"])
async def test_a_token_runs_out(after_seconds: float, status: int, known: bool) -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    shown = bearer(gate.token("arena-1"))
    if known:
        assert await refusal(gate.door, pod, shown) == (200, "")
    gate.time.passed += after_seconds
    assert (await refusal(gate.door, pod, shown))[0] == status


@pytest.mark.parametrize(
    ("jump_seconds", "says"),
    [
        pytest.param(-90_000.0, "which is behind the API server's: set it right", id="set back"),
        pytest.param(90_000.0, "GAMEKEEPER_TOKEN_FILE names anew", id="set forward"),
    ],
)
@pytest.mark.parametrize("keys", [True, False], ids=["verified here", "asked about"])
async def test_a_clock_that_was_set_mutes_rooms_and_the_log_says_so_once_a_minute(
    jump_seconds: float,
    says: str,
    keys: bool,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    pod, shown = await gate.room("arena-1"), bearer(gate.token("arena-1"))
    if not keys:
        gate.fails("openid", lambda: Denied("may not read"))
    monkeypatch.setattr(gate.time, "now", lambda: START + gate.time.passed + jump_seconds)
    for _ in range(3):
        assert (await refusal(gate.door, pod, shown))[0] == 401
    assert caplog.text.count(says) == 1
    assert ("room arena/arena-1 is refused with 401" in caplog.text) is keys
    gate.time.passed += 61.0
    await refusal(gate.door, pod, shown)
    assert caplog.text.count(says) == 2


async def test_a_token_of_nobody_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    forged = signed(gate, NOBODYS_KEY, nbf=int(START) + 90_000)
    assert (await refusal(gate.door, pod, bearer(forged)))[0] == 401
    assert "refused with 401" not in caplog.text


NOBODYS_KEY = ec.generate_private_key(ec.SECP256R1())


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"aud": ["https://kubernetes.default.svc"]}, id="made for the API server"),
        pytest.param({"aud": ["gamekeeper.dev/other"]}, id="made for another instance"),
        pytest.param({"aud": None}, id="made for nobody"),
        pytest.param({"iss": "https://elsewhere.example"}, id="of another issuer"),
        pytest.param({"nbf": START + 500}, id="not good yet"),
        pytest.param({"exp": None}, id="without an end"),
        pytest.param({"exp": "never"}, id="with an end that is no number"),
        pytest.param({"exp": True}, id="with an end that is a truth"),
        pytest.param({"kubernetes.io": None}, id="that says no pod"),
        pytest.param(
            {"kubernetes.io": {"namespace": "arena", "serviceaccount": {"name": "arena"}}},
            id="bound to no pod",
        ),
        pytest.param(
            {"kubernetes.io": {"namespace": "arena", "pod": {"name": "arena-1", "uid": ""}}},
            id="bound to a pod without a uid",
        ),
        pytest.param({"kubernetes.io": ["arena"]}, id="of another shape"),
        pytest.param({"key": NOBODYS_KEY}, id="signed by somebody else"),
        pytest.param({"kid": "unknown"}, id="of a key that is not there"),
        pytest.param({"key": "s" * 64, "algorithm": "HS256"}, id="signed with a shared secret"),
        pytest.param({"more": "x" * 9000}, id="longer than any of Kubernetes"),
    ],
)
async def test_a_token_is_no_good(changes: dict[str, Any]) -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    assert (await refusal(gate.door, pod, bearer(signed(gate))))[0] == 200
    assert (await refusal(gate.door, pod, bearer(signed(gate, **changes))))[0] == 401


async def test_a_token_without_a_signature_is_no_good() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    head, body, _ = gate.token("arena-1").split(".")
    kid = json.loads(base64.urlsafe_b64decode(head + "=="))["kid"]
    none = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": kid}).encode()).decode()
    for token in (f"{none.rstrip('=')}.{body}.", f"{head}.{body}.", f"{head}.{body}"):
        assert (await refusal(gate.door, pod, bearer(token)))[0] == 401


async def test_what_is_no_token_is_no_good_and_breaks_nothing() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    strange = ["a.b.c", "..", "é\udc80.x.y", "x" * 100_000, "eyJhbGciOiJFUzI1NiJ9.W10.AA", "\0"]
    for token in strange:
        assert (await refusal(gate.door, pod, bearer(token)))[0] == 401


async def test_unknown_keys_are_looked_for_at_most_every_ten_seconds() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    before = len(gate.asked())
    for second in range(30):
        gate.time.passed += 1
        forged = bearer(signed(gate, kid=f"forged-{second}"))
        assert (await refusal(gate.door, pod, forged, peer=f"10.0.0.{second}"))[0] == 401
    assert len(gate.asked()[before:]) == 2 * 3


async def test_a_new_key_of_the_cluster_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    monkeypatch.setattr(gate.sandbox.world.ids, "_seed", 99)
    gate.time.passed += 11
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200


async def test_a_key_that_was_taken_back_is_good_for_an_hour_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    stolen = gate.token("arena-1", seconds=100_000)
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    monkeypatch.setattr(gate.sandbox.world.ids, "_seed", 99)
    gate.time.passed += 3601
    assert (await refusal(gate.door, pod, bearer(stolen)))[0] == 401


async def test_who_comes_while_the_keys_are_read_waits_for_them() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    shown = [bearer(gate.token("arena-1")) for _ in range(5)]
    answers = await asyncio.gather(*(refusal(gate.door, pod, each) for each in shown))
    assert answers == [(200, "")] * 5
    assert sum("openid" in call.path for call in gate.transport.calls) == 2


async def test_while_the_api_server_is_down_nobody_is_called_a_stranger() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    known = bearer(gate.token("arena-1"))
    assert (await refusal(gate.door, pod, known))[0] == 200
    gate.fails("openid", lambda: Unavailable("the API server is down"))
    assert (await refusal(gate.door, pod, known))[0] == 200
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    with pytest.raises(Unavailable, match="keys of tokens"):
        await refusal(gate.another_door(), pod, known)


async def test_keys_that_could_not_be_read_again_are_asked_for_ten_seconds_later() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    gate.fails("openid", lambda: Unavailable("down"))
    gate.time.passed += 3601
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    gate.transport.before = lambda number, call: None
    before = len(gate.asked())
    for _ in range(11):
        gate.time.passed += 1
        assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200
    assert len(gate.asked()) - before == 2


class Vouching(NoCluster):
    """An API server that answers every review with the same."""

    def __init__(self, status: Json) -> None:
        self.status = status

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        return {**body, "status": self.status}


@pytest.mark.parametrize(
    ("status", "name"),
    [
        pytest.param({"authenticated": True, "audiences": [AUDIENCE]}, "anna", id="vouched for"),
        pytest.param({"authenticated": True}, "", id="by a server that knows no audiences"),
        pytest.param({"authenticated": True, "audiences": ["api"]}, "", id="for another"),
        pytest.param({"audiences": [AUDIENCE]}, "", id="not vouched for"),
    ],
)
async def test_a_review_counts_when_it_is_for_us(status: Json, name: str) -> None:
    reviews = Reviews(Vouching({**status, "user": {"username": "anna"}}))
    assert (await reviews.who("token", AUDIENCE)).name == name


async def test_without_the_keys_tokens_are_reviewed_once_a_minute() -> None:
    gate = Gate()
    gate.fails("openid", lambda: Denied("no"))
    pod = await gate.room("arena-1")
    before = len(gate.asked())
    shown = bearer(gate.token("arena-1"))
    for _ in range(50):
        assert (await refusal(gate.door, pod, shown))[0] == 200
        gate.time.passed += 1
    assert gate.asked()[before:] == ["create TokenReview "]
    gate.time.passed += 11
    assert (await refusal(gate.door, pod, shown))[0] == 200
    assert gate.asked()[before:] == ["create TokenReview "] * 2


async def test_reviewed_tokens_are_held_to_the_same() -> None:
    gate = Gate()
    gate.fails("openid", lambda: Denied("no"))
    pod, other = await gate.room("arena-1"), await gate.room("arena-2")
    shown = bearer(gate.token("arena-1"))
    assert (await refusal(gate.door, other, shown, "arena-2"))[0] == 403
    with pytest.raises(Gone):
        await refusal(gate.door, None, shown)
    before = len(gate.asked())
    unlike = ["junk", signed(gate, aud=["other"]), signed(gate, exp=int(START) - 100)]
    for token in unlike:
        assert (await refusal(gate.door, pod, bearer(token)))[0] == 401
    assert gate.asked()[before:] == [], "what cannot be ours is worth no request"
    forged = bearer(signed(gate, NOBODYS_KEY))
    assert (await refusal(gate.door, pod, forged))[0] == 401
    assert (await refusal(gate.door, pod, forged))[0] == 401
    assert len(gate.asked()[before:]) == 1


async def test_where_nothing_may_be_asked_no_token_is_good() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    gate.fails("openid", lambda: Denied("no"))
    gate.transport.before = _denied_everything
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 401


def _denied_everything(number: int, call: Any) -> None:
    raise Denied("forbidden")


def test_keys_that_we_do_not_use_are_left_out() -> None:
    page = openid.signer(1).page()
    good = page["keys"][0]
    small = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    usual: Json = {**RSAAlgorithm.to_jwk(small, as_dict=True), "kid": "rsa", "alg": "RS256"}
    other: Json = {**usual, "kid": "other", "alg": "PS256"}
    unnamed = {name: value for name, value in good.items() if name != "kid"}
    shared = {"kty": "oct", "kid": "shared", "k": "c2VjcmV0", "alg": "HS256"}
    listed = [
        good,
        usual,
        other,
        unnamed,
        shared,
        {"kty": "strange"},
        {**good, "alg": "none"},
        {},
        "text",
        None,
    ]
    assert set(keys_of({"keys": listed})) == {good["kid"], "rsa"}
    assert keys_of({}) == keys_of({"keys": "text"}) == {}
