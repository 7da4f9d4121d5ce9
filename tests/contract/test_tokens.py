"""Tokens of service accounts, on the sandbox and on the real API server: made, told, reviewed."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model.errors import Gone
from reconciler.room_ports import Credential, NotAdmitted
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.door import Rules, open_door
from reconciler.service.doors.reviews import Reviews
from reconciler.service.live_records import pod_of
from reconciler.service.views import ClusterView
from reconciler.wiring.clock import SystemClock
from tests.contract.api_server_world import Json, Reply, Speaker
from tests.contract.cluster_world import pod as a_pod

AUDIENCE = "gamekeeper.dev/main"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def a_room(api: Speaker, space: str, name: str = "arena-1") -> Json:
    """Make a pod of a service account of its own; no scheduler takes it."""
    if api.ask("GET", f"{space}/serviceaccounts/arena").status == 404:
        api.make(f"{space}/serviceaccounts", {"metadata": {"name": "arena"}})
    container = {"name": "c", "image": "game:1"}
    spec = {"serviceAccountName": "arena", "schedulerName": "nobody", "containers": [container]}
    return api.make(f"{space}/pods", {"metadata": {"name": name}, "spec": spec})


def token_request(api: Speaker, space: str, account: str = "arena", **spec: Any) -> Reply:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return api.ask("POST", f"{space}/serviceaccounts/{account}/token", body)


def bound_to(pod: Json, **changes: str) -> Json:
    metadata = pod["metadata"]
    named = {"name": metadata["name"], "uid": metadata["uid"], **changes}
    return {"kind": "Pod", "apiVersion": "v1", **named}


def token_of(api: Speaker, space: str, pod: Json, **spec: Any) -> str:
    asked = {"audiences": [AUDIENCE], "expirationSeconds": 3600, "boundObjectRef": bound_to(pod)}
    reply = token_request(api, space, **{**asked, **spec})
    assert reply.status == 201, reply.body
    token: str = reply.body["status"]["token"]
    return token


def part_of(token: str, number: int) -> Json:
    text = token.split(".")[number]
    part: Json = json.loads(base64.urlsafe_b64decode(text + "=="))
    return part


def review(api: Speaker, token: str, *audiences: str) -> Json:
    spec = {"token": token, **({"audiences": list(audiences)} if audiences else {})}
    reply = api.ask("POST", REVIEWS, {"spec": spec})
    assert reply.status == 201, reply.body
    status: Json = reply.body["status"]
    return status


def test_a_bound_token_says_whose_it_is(api: Speaker, space: str) -> None:
    pod = a_room(api, space)
    claims = part_of(token_of(api, space, pod), 1)
    namespace = space.rpartition("/")[2]
    assert claims["aud"] == [AUDIENCE]
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["nbf"] == claims["iat"]
    assert claims["sub"] == f"system:serviceaccount:{namespace}:arena"
    bound = claims["kubernetes.io"]
    assert bound["namespace"] == namespace
    assert bound["pod"] == {"name": "arena-1", "uid": pod["metadata"]["uid"]}
    assert bound["serviceaccount"]["name"] == "arena"


def test_the_pages_verify_it(api: Speaker, space: str) -> None:
    token = token_of(api, space, a_room(api, space))
    configuration = api.ask("GET", "/.well-known/openid-configuration")
    page = api.ask("GET", "/openid/v1/jwks")
    assert (configuration.status, page.status) == (200, 200)
    assert page.headers["content-type"] == "application/jwk-set+json"
    keys = {entry["kid"]: jwt.PyJWK(entry) for entry in page.body["keys"]}
    header = part_of(token, 0)
    assert set(header) == {"alg", "kid"}
    assert header["alg"] in configuration.body["id_token_signing_alg_values_supported"]
    key, issuer = keys[header["kid"]], configuration.body["issuer"]
    claims = jwt.decode(token, key, algorithms=[header["alg"]], audience=AUDIENCE, issuer=issuer)
    assert claims["kubernetes.io"]["pod"]["name"] == "arena-1"


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        pytest.param({"expirationSeconds": 10}, 422, "Invalid", id="too short"),
        pytest.param({"uid": "another"}, 409, "Conflict", id="bound to an earlier pod"),
        pytest.param({"name": "arena-2"}, 404, "NotFound", id="bound to no pod"),
        pytest.param({"account": "default"}, 400, "BadRequest", id="another's pod"),
        pytest.param({"account": "nobody"}, 404, "NotFound", id="of no account"),
    ],
)
def test_no_token_is_made(
    api: Speaker, space: str, changes: dict[str, Any], status: int, reason: str
) -> None:
    pod = a_room(api, space)
    named = {key: changes[key] for key in ("name", "uid") if key in changes}
    seconds = changes.get("expirationSeconds", 3600)
    reply = token_request(
        api,
        space,
        changes.get("account", "arena"),
        audiences=[AUDIENCE],
        expirationSeconds=seconds,
        boundObjectRef=bound_to(pod, **named),
    )
    assert (reply.status, reply.body["reason"]) == (status, reason), reply.body


def test_a_review_tells_the_pod(api: Speaker, space: str) -> None:
    pod = a_room(api, space)
    status = review(api, token_of(api, space, pod), AUDIENCE)
    assert status["authenticated"] is True
    assert status["audiences"] == [AUDIENCE]
    extra = status["user"]["extra"]
    assert extra["authentication.kubernetes.io/pod-name"] == ["arena-1"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [pod["metadata"]["uid"]]
    assert "system:serviceaccounts" in status["user"]["groups"]


def test_a_review_knows_no_others(api: Speaker, space: str) -> None:
    token = token_of(api, space, a_room(api, space))
    broken = token[:-8] + ("AAAAAAAA" if token[-8:] != "AAAAAAAA" else "BBBBBBBB")
    for shown, audiences in [
        ("junk", ()),
        (broken, (AUDIENCE,)),
        (token, ()),  # it is not made for the API server
        (token, ("gamekeeper.dev/other",)),
    ]:
        status = review(api, shown, *audiences)
        assert "authenticated" not in status
        assert status["user"] == {}
        assert "invalid bearer token" in status["error"]


def test_a_review_of_nothing_is_refused(api: Speaker) -> None:
    reply = api.ask("POST", REVIEWS, {"spec": {}})
    assert (reply.status, reply.body["reason"]) == (400, "BadRequest")


def test_who_may_what(api: Speaker) -> None:
    rooms = {"group": "gamekeeper.dev", "resource": "rooms", "verb": "get", "namespace": "arena"}
    cases: list[tuple[Json, bool]] = [
        ({"user": "nobody-in-particular"}, False),
        ({"user": "anna", "groups": ["system:masters"]}, True),
    ]
    for spec, allowed in cases:
        reply = api.ask("POST", ACCESS, {"spec": {**spec, "resourceAttributes": rooms}})
        assert reply.status == 201, reply.body
        assert reply.body["status"]["allowed"] is allowed
    refused: list[Json] = [{"resourceAttributes": rooms}, {"user": "anna"}]
    for spec in refused:
        reply = api.ask("POST", ACCESS, {"spec": spec})
        assert (reply.status, reply.body["reason"]) == (422, "Invalid"), reply.body


async def test_the_door_lets_in_the_pods_own_token_and_no_other(
    cluster: KubernetesCluster, namespace: str
) -> None:
    rooms = [await cluster.create(a_pod(namespace, name)) for name in ("arena-1", "arena-2")]
    tokens = [await _token(cluster, namespace, room) for room in rooms]
    live = [pod_of(room) for room in rooms]
    clock = SystemClock()
    view = ClusterView(cluster, "main", clock, lambda keys: None)
    codes = RoomCodes(cluster, namespace)
    door = open_door(cluster, view, clock, lambda: 0.0, Rules("main"), codes)

    own = Credential("bearer", tokens[0])
    await door.admit_room(namespace, "arena-1", live[0], own, "10.0.0.1")
    for name, pod in (("arena-2", live[1]), ("arena-9", None)):
        with pytest.raises(NotAdmitted) as refused:
            await door.admit_room(namespace, name, pod, own, "10.0.0.1")
        assert refused.value.status == 403
    with pytest.raises(Gone):
        await door.admit_room(namespace, "arena-1", None, own, "10.0.0.1")

    code = Credential("code", await codes.of(namespace, "arena-1"))
    await door.admit_room(namespace, "arena-1", live[0], code, "10.0.0.1")
    again = RoomCodes(cluster, namespace)
    assert await again.of(namespace, "arena-1") == code.secret, "the Secret holds the key"


async def test_the_reviews_that_the_door_asks_for_are_answered(
    cluster: KubernetesCluster, namespace: str
) -> None:
    token = await _token(cluster, namespace, await cluster.create(a_pod(namespace, "arena-1")))
    reviews = Reviews(cluster)
    who = await reviews.who(token, AUDIENCE)
    assert who.name == f"system:serviceaccount:{namespace}:rooms"
    assert who.first("authentication.kubernetes.io/pod-name") == "arena-1"
    assert not await reviews.may(who, "get", namespace)
    assert (await reviews.who(token)).name == ""
    assert (await reviews.who("junk", AUDIENCE)).name == ""


async def _token(cluster: KubernetesCluster, namespace: str, pod: Json) -> str:
    """Ask for a token as a kubelet does: a path that the port has no need of."""
    spec = {"audiences": [AUDIENCE], "boundObjectRef": bound_to(pod)}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/rooms/token"
    made = await cluster._write(Call("create", "POST", "TokenRequest", path, "a token", body))
    token: str = made["status"]["token"]
    return token
