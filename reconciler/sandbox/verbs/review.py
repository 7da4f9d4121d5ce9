"""Access reviews: may I do this, what may I do, who am I."""

from __future__ import annotations

from reconciler.kube import apply as ownership
from reconciler.sandbox import bodies, refusals
from reconciler.sandbox.access import Asked, User
from reconciler.sandbox.kinds import ACCESS_REVIEW, RULES_REVIEW
from reconciler.sandbox.refusals import encode, invalid_value
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.world import Call

_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
# What everybody who logged in may do, as the server's own roles have it.
_ABOUT_ONESELF = (
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    {
        "verbs": ["create"],
        "apiGroups": ["authentication.k8s.io"],
        "resources": ["selfsubjectreviews"],
    },
)
_HEALTH = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY = (
    *("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*"),
    *("/readyz", "/version", "/version/"),
)


def review(call: Call) -> Response:
    """Answer a review. Raises Refused (400)."""
    body = bodies.decode_plain(call.request, call.world.shapes, call.kind)
    value: Json = {"kind": call.kind.kind, "apiVersion": call.kind.api_version, "metadata": {}}
    if call.kind is ACCESS_REVIEW:
        _check_question(body.get("spec") or {})
        value["spec"] = body.get("spec") or {}
        value["metadata"]["managedFields"] = ownership.track_update(
            None,
            {**value, "spec": value["spec"]},
            manager=call.options("CreateOptions").manager,
            schema=call.world.schema(call.kind),
            now=call.stamp,
        )
        value["status"] = _answer(call, value["spec"])
    elif call.kind is RULES_REVIEW:
        value["spec"] = {}
        value["status"] = _rules(call)
    else:
        value["metadata"]["creationTimestamp"] = call.stamp
        value["status"] = {"userInfo": _seen(call.user)}
    return Response(201, encode(value))


def _seen(user: User) -> Json:
    seen: Json = {"username": user.name}
    seen |= {"uid": user.uid} if user.uid else {}
    seen["groups"] = list(user.groups)
    return seen | ({"extra": dict(user.extra)} if user.extra else {})


def _check_question(spec: Json) -> None:
    if ("resourceAttributes" in spec) == ("nonResourceAttributes" in spec):
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        asked = spec.get("resourceAttributes")
        cause = invalid_value("spec.resourceAttributes", asked, detail)
        details = {"group": ACCESS_REVIEW.group}
        refused = refusals.unprocessable(f".{ACCESS_REVIEW.group}", "", [cause], details)
        refused.status["details"].pop("kind")
        raise refused


def _answer(call: Call, spec: Json) -> Json:
    asked = spec.get("resourceAttributes")
    if asked is None:
        return {"allowed": True}
    resource = asked.get("resource", "")
    if asked.get("subresource"):
        resource = f"{resource}/{asked['subresource']}"
    allowed = call.user.allows(
        Asked(
            asked.get("verb", ""),
            asked.get("group", ""),
            resource,
            asked.get("namespace", ""),
            asked.get("name", ""),
        )
    )
    return {"allowed": allowed}


def _rules(call: Call) -> Json:
    user = call.user
    rules = [_EVERYTHING] if user.rules is None else [rule.as_json() for rule in user.rules]
    paths = [{"verbs": ["get"], "nonResourceURLs": list(_HEALTH)}]
    if user.known:
        rules = [*_ABOUT_ONESELF, *rules]
        paths.append({"verbs": ["get"], "nonResourceURLs": list(_DISCOVERY)})
    if user.rules is None:
        paths.insert(0, {"verbs": ["*"], "nonResourceURLs": ["*"]})
    return {"resourceRules": rules, "nonResourceRules": paths, "incomplete": False}
