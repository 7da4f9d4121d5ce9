"""Which verb a request means."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reconciler.sandbox import refusals
from reconciler.sandbox.faults import Fault
from reconciler.sandbox.kinds import BINDING, SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW, Kind
from reconciler.sandbox.requests import Answer, flag
from reconciler.sandbox.verbs import (
    bind,
    create,
    evict,
    logs,
    patch,
    read,
    remove,
    review,
    tokens,
    update,
)
from reconciler.sandbox.verbs.watch import watch
from reconciler.sandbox.world import Call

Verb = Callable[[Call], Answer]

_WHOLE: Mapping[str, Verb] = {"PUT": update.update, "PATCH": patch.patch, "DELETE": remove.delete}
_BELOW: Mapping[tuple[str, str], Verb] = {
    ("POST", "binding"): bind.bind,
    ("POST", "eviction"): evict.evict,
    ("POST", "token"): tokens.request_token,
    ("GET", "log"): logs.read_log,
    ("GET", "status"): read.get,
    ("PUT", "status"): update.update,
    ("PATCH", "status"): patch.patch,
    ("PUT", "finalize"): update.update,
}

_UNSTORED: Mapping[Kind, Verb] = {
    BINDING: bind.bind,
    TOKEN_REVIEW: tokens.review_token,
    SUBJECT_ACCESS_REVIEW: tokens.review_access,
}


def perform(call: Call, fault: Fault) -> Answer:
    """Carry out a request. Raises Refused."""
    method, target = call.request.method, call.target
    if target.subresource:
        verb = _BELOW.get((method, target.subresource))
    elif not call.kind.stored:
        verb = _unstored(call)
    elif target.name:
        if method == "GET":
            return read.get(call, stale_revisions=fault.stale_revisions)
        verb = _WHOLE.get(method)
    else:
        return _collection(call, fault)
    if verb is None:
        raise refusals.method_not_allowed()
    return verb(call)


def _unstored(call: Call) -> Verb | None:
    if call.request.method != "POST" or call.target.name:
        return None
    return _UNSTORED.get(call.kind, review.review)


def _collection(call: Call, fault: Fault) -> Answer:
    method = call.request.method
    if method == "GET" and flag(call.request, "watch"):
        return watch(call, cut_after=fault.cut_after)
    if method == "GET":
        return read.list_objects(call, stale_revisions=fault.stale_revisions)
    if method == "POST" and (call.target.namespace or not call.kind.namespaced):
        return create.create(call)
    if method == "DELETE" and (call.target.namespace or not call.kind.namespaced):
        return remove.delete_collection(call)
    raise refusals.method_not_allowed()
