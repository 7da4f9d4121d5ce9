"""GET: one object, or a list of them in pages."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from itertools import islice

from reconciler.sandbox import answers, refusals
from reconciler.sandbox.filters import Filter, check_fields, filter_of
from reconciler.sandbox.options import positive
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Shelf, Stored, TooOld
from reconciler.sandbox.verbs import write
from reconciler.sandbox.verbs.versions import (
    check_list_version,
    check_no_version,
    check_reached,
    list_revision,
)
from reconciler.sandbox.world import Call

_LATEST = -1
_NOT_A_PLACE = "invalid continue token: continue key is not valid"
_TOO_OLD = "The provided continue parameter is too old to display a consistent list result."
_START_AGAIN = (
    " You can start a new list without the continue parameter, or use the continue token in this "
    "response to retrieve the remainder of the results. Continuing with the provided token results "
    "in an inconsistent list - objects that were created, modified, or deleted between the time "
    "the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class Page:
    """Where a page begins: a revision (-1 for the latest) and the first key after `start`."""

    revision: int
    start: str


def get(call: Call, *, stale_revisions: int = 0) -> Response:
    """Answer one object. Raises Refused (404)."""
    if stale_revisions:
        store, target = call.world.store, call.target
        shelf = store.shelves[call.kind]
        key = f"{target.namespace}/{target.name}" if target.namespace else target.name
        found = _past(shelf, store.revision - stale_revisions).get(key)
        if found is None:
            raise refusals.not_found(call.kind, target.name)
        return answers.one(call.request, call.kind, found, now=call.now)
    answers.form_of(call.request, of_many=False)
    stored = write.live_object(call)
    return answers.one(call.request, call.kind, stored, now=call.now)


def list_objects(call: Call, *, stale_revisions: int = 0) -> Response:
    """Answer a list, or one page of it. Raises Refused."""
    store = call.world.store
    form = answers.form_of(call.request)
    limit = positive(call.request, "limit")
    positive(call.request, "timeoutSeconds")
    chosen = filter_of(call.request, call.target)
    check_list_version(call.request)
    check_fields(chosen)
    token = call.request.query.get("continue", "")
    shelf = store.shelves[call.kind]
    page = _page(token) if token else Page(_LATEST, "")
    if token:
        check_no_version(call.request)
        check_reached(page.revision, store.revision)
    asked = page.revision if token else list_revision(call.request, store.revision)
    if stale_revisions and asked == _LATEST:
        asked = max(shelf.forgotten, store.revision - stale_revisions)
    if call.request.query.get("resourceVersion") == "0":
        limit = 0
    walked = _walked(shelf, chosen, page, asked, token)
    revision = store.revision if asked == _LATEST else asked
    return answers.many(call.kind, *_cut(walked, limit, revision, chosen), form, now=call.now)


def _walked(shelf: Shelf, chosen: Filter, page: Page, asked: int, token: str) -> list[Stored]:
    if asked == _LATEST:
        walked = (one for one in shelf.within(chosen.namespace) if chosen.indexed(one))
    else:
        try:
            objects = shelf.at(asked)
        except TooOld as error:
            raise _expired(chosen, page, token) from error
        ours = (objects[key] for key in sorted(objects))
        walked = (one for one in ours if chosen.namespace in ("", one.namespace))
    start = f"{chosen.namespace}/{page.start}" if chosen.namespace else page.start
    if page.start:
        walked = (one for one in walked if one.key >= start)
    return [*walked]


def _cut(
    walked: list[Stored], limit: int, revision: int, chosen: Filter
) -> tuple[list[Stored], Json]:
    metadata: Json = {"resourceVersion": str(revision)}
    found = [one for one in walked if chosen.matches(one)]
    # A full page is followed by another wherever anything follows, be it not selected.
    if chosen.single or not limit or len(found) < limit or walked[-1] is found[limit - 1]:
        return found, metadata
    last = found[limit - 1].key
    start = last.removeprefix(f"{chosen.namespace}/") if chosen.namespace else last
    metadata["continue"] = _token(Page(revision, f"{start}\x00"))
    if not chosen.selects:
        metadata["remainingItemCount"] = len(found) - limit
    return list(islice(found, limit)), metadata


def _expired(chosen: Filter, page: Page, token: str) -> refusals.Refused:
    if not token:
        return refusals.expired("The resourceVersion for the provided list is too old.")
    return refusals.expired(_TOO_OLD + _START_AGAIN, _token(Page(_LATEST, page.start)))


def _past(shelf: Shelf, revision: int) -> dict[str, Stored]:
    return shelf.at(max(shelf.forgotten, revision))


def _token(page: Page) -> str:
    start = page.start if page.start.startswith("/") else f"/{page.start}"
    value = {"v": "meta.k8s.io/v1", "rv": page.revision, "start": start}
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _page(token: str) -> Page:
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        value = json.loads(text)
        page = Page(int(value["rv"]), str(value["start"]).removeprefix("/"))
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise refusals.bad_request(f"{_NOT_A_PLACE}: {_why_unread(token)}") from error
    if page.revision == 0 or not page.start:
        raise refusals.bad_request(f"{_NOT_A_PLACE}: it names no place to go on from")
    return page


def _why_unread(token: str) -> str:
    whole = len(token) - len(token) % 4
    if len(token) % 4 == 1:
        return f"illegal base64 data at input byte {whole}"
    return "it was not made here"
