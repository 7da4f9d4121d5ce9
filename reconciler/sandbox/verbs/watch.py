"""Watches: changes of one kind as they happen, one JSON object a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconciler.sandbox import answers, refusals, tables
from reconciler.sandbox.answers import Form
from reconciler.sandbox.filters import Filter, check_fields, filter_of
from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.options import positive
from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import JSON_TYPE, Json
from reconciler.sandbox.store import Change, Shelf, Stored, TooOld
from reconciler.sandbox.store import encode as store_encode
from reconciler.sandbox.verbs import versions
from reconciler.sandbox.world import Call

_INITIAL_END = "k8s.io/initial-events-end"
_BATCH = 500  # events a take, so that one reader does not hold up the loop


class Watch:
    """One reader of one kind's changes. It keeps a position in the history and no copies."""

    def __init__(self, call: Call, chosen: Filter, form: Form, *, cut_after: int | None) -> None:
        self.content_type = JSON_TYPE
        self.delay_seconds = 0.0
        self.wake: Callable[[], None] | None = None
        self._store = call.world.store
        self._shelf: Shelf = self._store.shelves[call.kind]
        self._filter, self._form, self._kind = chosen, form, call.kind
        self._left, self._first = cut_after, True
        self._bookmark_seconds = call.world.behaviour.bookmark_seconds
        timeout = positive(call.request, "timeoutSeconds")
        self._until = call.now + timeout if timeout else None
        marked = call.request.query.get("allowWatchBookmarks") in ("true", "1")
        self._bookmark_at = call.now + self._bookmark_seconds if marked else None
        self._marks = marked
        self._opening: list[bytes] = []
        self._ended = False
        self._position = self._shelf.end
        self._begin(call)
        self._shelf.watchers.add(self)

    def _begin(self, call: Call) -> None:
        asked, wanted = versions.number(call.request), versions.wants_initial(call.request)
        initial = wanted if wanted is not None else asked in (versions.LATEST, 0)
        if initial:
            walked = self._shelf.within(self._filter.namespace)
            found = [one for one in walked if self._filter.matches(one)]
            self._opening = [self._line("ADDED", one, call.now) for one in found]
            if wanted and self._marks:
                self._opening.append(self._bookmark({_INITIAL_END: "true"}))
        elif asked > 0:
            try:
                self._position = self._shelf.position_after(asked)
            except TooOld:
                self._opening = [_too_old(asked, self._shelf.forgotten)]
                self._ended = True

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will come."""
        return self._ended and not self._opening

    @property
    def due(self) -> float | None:
        """Tell when to look again though nothing woke (Unix seconds)."""
        moments = [one for one in (self._until, self._bookmark_at) if one is not None]
        return min(moments, default=None)

    def take(self, now: float) -> bytes:
        """Take the lines of everything that has happened since."""
        lines, self._opening = self._opening[:_BATCH], self._opening[_BATCH:]
        if self._opening:
            return self._more(lines)
        if not self._ended:
            lines.extend(self._news(now))
            self._mark(lines, now)
        if self._until is not None and now >= self._until and not self._behind:
            self.close()
        return b"".join(lines)

    def _more(self, lines: list[bytes]) -> bytes:
        if self.wake:
            self.wake()
        return b"".join(lines)

    @property
    def _behind(self) -> bool:
        return self._position < self._shelf.end

    def _news(self, now: float) -> Iterable[bytes]:
        shelf = self._shelf
        if self._position < shelf.first:
            yield _too_old(shelf.forgotten - 1, shelf.forgotten)
            self.close()
            return
        start = self._position - shelf.first
        changes = shelf.log[start : start + _BATCH]
        for change in changes:
            self._position += 1
            line = self._change(change, now)
            if line is None:
                continue
            if self._left is not None and self._left <= 0:
                self.close()
                return
            self._left = None if self._left is None else self._left - 1
            yield line
        if self._behind and self.wake:
            self.wake()

    def _mark(self, lines: list[bytes], now: float) -> None:
        if self._bookmark_at is not None and now >= self._bookmark_at and not self._behind:
            lines.append(self._bookmark({}))
            self._bookmark_at = now + self._bookmark_seconds

    def close(self) -> None:
        """End this watch."""
        self._ended = True
        self._shelf.watchers.discard(self)

    def _change(self, change: Change, now: float) -> bytes | None:
        chosen = self._filter
        is_in = change.verb != "DELETED" and chosen.matches(change.stored)
        was_in = change.before is not None and chosen.matches(change.before)
        if is_in:
            return self._line("MODIFIED" if was_in else "ADDED", change.stored, now)
        if not was_in or change.before is None:
            return None
        last = change.stored
        if change.verb != "DELETED":
            last = _moved(self._kind, change.before, change.revision)
        return self._line("DELETED", last, now)

    def _line(self, verb: str, stored: Stored, now: float) -> bytes:
        if not self._form.as_kind:
            head = b'{"type":"%s","object":' % verb.encode()
            return b"".join((head, self._kind.prefix, stored.text, b"}\n"))
        if self._form.as_kind == "Table":
            value = tables.table(
                self._kind,
                [stored],
                {"resourceVersion": str(stored.revision)},
                include=self._form.include,
                now=now,
                with_columns=self._first,
            )
            self._first = False
        else:
            value = tables.partial(self._kind, stored)
        return encode({"type": verb, "object": value}) + b"\n"

    def _bookmark(self, annotations: Json) -> bytes:
        metadata: Json = {"resourceVersion": str(self._store.revision)}
        if annotations:
            metadata["annotations"] = annotations
        value: Json = {
            "kind": self._kind.kind,
            "apiVersion": self._kind.api_version,
            "metadata": metadata,
        }
        if self._form.as_kind == "PartialObjectMetadata":
            value |= {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        return encode({"type": "BOOKMARK", "object": value}) + b"\n"


def watch(call: Call, *, cut_after: int | None = None) -> Watch:
    """Open a watch. Raises Refused."""
    versions.check_watch_version(call.request)
    chosen = filter_of(call.request, call.target)
    check_fields(chosen)
    form = answers.form_of(call.request)
    if call.target.name:
        raise refusals.method_not_allowed()
    return Watch(call, chosen, form, cut_after=cut_after)


def _moved(kind: Kind, before: Stored, revision: int) -> Stored:
    value = before.decode(kind)
    value["metadata"]["resourceVersion"] = str(revision)
    return store_encode(kind, value, revision)


def _too_old(asked: int, oldest: int) -> bytes:
    message = f"too old resource version: {asked} ({oldest})"
    status = refusals.failure(410, "Expired", message).status
    return encode({"type": "ERROR", "object": status}) + b"\n"
