"""What each compared request was about, so that a run says how thick every claim is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.contract.differential.steps import APPLY, Json, Step

LEAST = 50
"""A claim with fewer requests than this is not proven."""

CLAIMS = (
    "watch: what is there already",
    "watch: resumed from a revision",
    "watch: too old, 410",
    "watch: sendInitialEvents",
    "watch: bookmarks",
    "watch: ADDED",
    "watch: MODIFIED",
    "watch: DELETED",
    "watch: out of a selection",
    "watch: into a selection",
    "watch: ends at timeoutSeconds",
    "page: begun",
    "page: continued",
    "page: expired, 410",
    "eviction: granted",
    "eviction: refused, 429",
    "precondition: held",
    "precondition: failed, 409",
    "dry run: accepted",
    "dry run: refused",
    "apply: created",
    "apply: changed",
    "apply: conflicts, 409",
    "apply: forced",
    "apply: several managers",
    "apply: lists by their keys",
    "apply: fields given up",
)


def claims(step: Step, answer: Json) -> Iterator[str]:
    """Name the claims that a request was about, by what the real server answered to it."""
    body, status = answer["body"], answer["status"]
    if not isinstance(body, dict):
        return
    if step.claim in CLAIMS and status < 300:
        yield step.claim
    if "watch=true" in step.path:
        yield from _watch(step, body, status)
    elif step.method == "GET":
        yield from _page(step, body, status)
    if step.path.partition("?")[0].endswith("/eviction"):
        yield from _one_of("eviction", status, {201: "granted", 429: "refused, 429"})
    if _is_conditional(step.body):
        yield from _one_of("precondition", status, {200: "held", 201: "held", 409: "failed, 409"})
    if "dryRun=" in step.path or (isinstance(step.body, dict) and "dryRun" in step.body):
        yield "dry run: accepted" if status < 300 else "dry run: refused"
    if step.media == APPLY:
        yield from _apply(step, body, status)


def _one_of(about: str, status: int, known: dict[int, str]) -> Iterator[str]:
    if status in known:
        yield f"{about}: {known[status]}"


def _watch(step: Step, body: Json, status: int) -> Iterator[str]:
    if status != 200:
        return
    events = body.get("watch", [body])
    told = {one.get("type") for one in events}
    if "ERROR" in told:
        yield "watch: too old, 410"
        return
    yield "watch: ends at timeoutSeconds"
    if "sendInitialEvents=true" in step.path:
        yield "watch: sendInitialEvents"
    elif "resourceVersion=$" in step.path:
        yield "watch: resumed from a revision"
    else:
        yield "watch: what is there already"
    if "BOOKMARK" in told:
        yield "watch: bookmarks"
    yield from (f"watch: {verb}" for verb in ("ADDED", "MODIFIED", "DELETED") if verb in told)
    if "labelSelector=" in step.path:
        yield from ("watch: into a selection",) if "ADDED" in told else ()
        yield from ("watch: out of a selection",) if "DELETED" in told else ()


def _page(step: Step, body: Json, status: int) -> Iterator[str]:
    if "continue=" in step.path:
        yield from _one_of("page", status, {200: "continued", 410: "expired, 410"})
    elif status == 410:
        yield "page: expired, 410"
    elif "limit=" in step.path and "continue" in body.get("metadata", {}):
        yield "page: begun"


def _is_conditional(body: Any) -> bool:
    if not isinstance(body, dict):
        return False
    metadata, options = body.get("metadata"), body.get("deleteOptions")
    named = isinstance(metadata, dict) and ("resourceVersion" in metadata or "uid" in metadata)
    return named or "preconditions" in body or _is_conditional(options)


def _apply(step: Step, body: Json, status: int) -> Iterator[str]:
    yield from _one_of("apply", status, {201: "created", 200: "changed", 409: "conflicts, 409"})
    if status >= 300:
        return
    if "force=true" in step.path:
        yield "apply: forced"
    owners = body.get("metadata", {}).get("managedFields", ())
    if sum(one["operation"] == "Apply" for one in owners) > 1:
        yield "apply: several managers"
