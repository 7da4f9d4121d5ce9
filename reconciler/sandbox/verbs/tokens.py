"""Tokens of service accounts: made on request, and reviewed; may somebody else do that."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.kube import apply as ownership
from reconciler.sandbox import bodies, clock, openid, refusals
from reconciler.sandbox.access import Asked
from reconciler.sandbox.impersonation import AUTHENTICATED, MASTERS
from reconciler.sandbox.kinds import POD, SERVICE_ACCOUNT, SUBJECT_ACCESS_REVIEW, TOKEN_REQUEST
from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.world import Call

_POD_NAME = "authentication.kubernetes.io/pod-name"
_POD_UID = "authentication.kubernetes.io/pod-uid"


def request_token(call: Call) -> Response:
    """Make a token of the service account that the path names. Raises Refused."""
    body = bodies.decode_plain(call.request, call.world.shapes, TOKEN_REQUEST)
    spec = body.get("spec") or {}
    stored = call.world.store.get(SERVICE_ACCOUNT, call.target.namespace, call.target.name)
    if stored is None:
        raise refusals.not_found(SERVICE_ACCOUNT, call.target.name)
    seconds = spec.get("expirationSeconds", openid.USUAL_SECONDS)
    if seconds < openid.LEAST_SECONDS:
        detail = "may not specify a duration less than 10 minutes"
        cause = refusals.invalid_value("spec.expirationSeconds", seconds, detail)
        raise refusals.invalid(TOKEN_REQUEST, "", [cause])
    account = stored.decode(SERVICE_ACCOUNT)
    reference = spec.get("boundObjectRef")
    pod = _bound(call, account, reference) if reference else None
    audiences = spec.get("audiences") or [openid.ISSUER]
    times = int(call.now), int(call.now) + seconds
    claims = openid.claims_of(account, pod, audiences, times, call.world.ids.uid())
    token = openid.signer(call.world.ids.seed).sign(claims)
    metadata = account["metadata"]
    named = {"name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
    answer = {
        "kind": "TokenRequest",
        "apiVersion": TOKEN_REQUEST.api_version,
        "metadata": {**named, "creationTimestamp": call.stamp},
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": reference},
        "status": {"token": token, "expirationTimestamp": clock.stamp(times[1])},
    }
    return Response(201, encode(answer))


def _bound(call: Call, account: Json, reference: Json) -> Json:
    """Find the pod that a token is bound to. Raises Refused."""
    name = reference.get("name", "")
    if reference.get("kind") != "Pod":
        raise refusals.bad_request(f"the sandbox binds tokens to pods, not to {reference}")
    stored = call.world.store.get(POD, call.target.namespace, name)
    if stored is None:
        raise refusals.not_found(POD, name)
    pod = stored.decode(POD)
    own = account["metadata"]["name"]
    if pod["spec"].get("serviceAccountName") != own:
        raise refusals.bad_request(
            f'cannot bind token for serviceaccount "{own}" to pod running with different '
            "serviceaccount name."
        )
    uid = reference.get("uid")
    if uid and uid != pod["metadata"]["uid"]:
        message = (
            f'Operation cannot be fulfilled on Pod "{name}": the UID in the bound object '
            f"reference ({uid}) does not match the UID in record. The object might have been "
            "deleted and then recreated"
        )
        raise refusals.failure(409, "Conflict", message, {"name": name, "kind": "Pod"})
    return pod


def review_token(call: Call) -> Response:
    """Say whose token this is. Raises Refused."""
    body = bodies.decode_plain(call.request, call.world.shapes, call.kind)
    spec = body.get("spec") or {}
    token, audiences = spec.get("token", ""), spec.get("audiences") or []
    if not token:
        raise refusals.bad_request("token is required for TokenReview in authentication")
    user = call.world.access.tokens.get(token)
    if user is not None and (not audiences or openid.ISSUER in audiences):
        found: Json = {"username": user.name, "groups": list(user.groups)}
        found |= {"uid": user.uid} if user.uid else {}
        status: Json = {"authenticated": True, "user": found, "audiences": [openid.ISSUER]}
    else:
        status = _status_of(call, token, audiences or [openid.ISSUER])
    return _answer(call, spec, status)


def _status_of(call: Call, token: str, audiences: Sequence[str]) -> Json:
    unknown: Json = {"user": {}, "error": "invalid bearer token"}
    claims = openid.signer(call.world.ids.seed).claims(token, call.now)
    if claims is None:
        return unknown
    shared = [audience for audience in claims["aud"] if audience in audiences]
    bound = claims["kubernetes.io"]
    namespace, account = bound["namespace"], bound["serviceaccount"]
    stored = call.world.store.get(SERVICE_ACCOUNT, namespace, account["name"])
    if not shared or stored is None or stored.uid != account["uid"]:
        return unknown
    extra = {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]}
    pod = bound.get("pod")
    if pod:
        there = call.world.store.get(POD, namespace, pod["name"])
        if there is None or there.uid != pod["uid"]:
            return unknown
        extra |= {_POD_NAME: [pod["name"]], _POD_UID: [pod["uid"]]}
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED]
    user = {"username": claims["sub"], "uid": account["uid"], "groups": groups, "extra": extra}
    return {"authenticated": True, "user": user, "audiences": shared}


def review_access(call: Call) -> Response:
    """Say whether somebody may do something. Raises Refused."""
    body = bodies.decode_plain(call.request, call.world.shapes, call.kind)
    spec = body.get("spec") or {}
    groups = spec.get("groups") or ()
    asked = spec.get("resourceAttributes")
    if ("resourceAttributes" in spec) == ("nonResourceAttributes" in spec):
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise _wrong(refusals.invalid_value("spec.resourceAttributes", asked, detail))
    if not spec.get("user") and not groups:
        detail = "at least one of user or group must be specified"
        raise _wrong(refusals.invalid_value("spec.user", "", detail))
    known = [one for one in call.world.access.tokens.values() if one.name == spec.get("user")]
    question = Asked(
        *((asked or {}).get(name, "") for name in ("verb", "group", "resource", "namespace"))
    )
    allowed = MASTERS in groups or (bool(asked) and any(one.allows(question) for one in known))
    return _answer(call, spec, {"allowed": allowed})


def _wrong(cause: refusals.Cause) -> refusals.Refused:
    group = SUBJECT_ACCESS_REVIEW.group
    refused = refusals.unprocessable(f".{group}", "", [cause], {"group": group})
    refused.status["details"].pop("kind")
    return refused


def _answer(call: Call, spec: Json, status: Json) -> Response:
    value: Json = {"kind": call.kind.kind, "apiVersion": call.kind.api_version, "spec": spec}
    owners = ownership.track_update(
        None,
        {**value, "metadata": {}},
        manager=call.options("CreateOptions").manager,
        schema=call.world.schema(call.kind),
        now=call.stamp,
    )
    return Response(201, encode({**value, "metadata": {"managedFields": owners}, "status": status}))
