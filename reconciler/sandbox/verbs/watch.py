"""Watches: changes of one kind as they happen, one JSON object a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconciler.sandbox import answers, refusals
from reconciler.sandbox.filters import check_fields, filter_of
from reconciler.sandbox.options import positive, whole
from reconciler.sandbox.requests import JSON_TYPE, flag
from reconciler.sandbox.store import Shelf, TooOld
from reconciler.sandbox.verbs import versions
from reconciler.sandbox.verbs.watched import Lines, too_old
from reconciler.sandbox.world import Call

_BATCH = 500  # events a take, so that one reader does not hold up the loop
_LAST_MARK_SECONDS = 2.0  # a last bookmark comes so long before the end


class Watch:
    """One reader of one kind's changes. It keeps a position in the history and no copies."""

    def __init__(self, call: Call, lines: Lines, *, cut_after: int | None) -> None:
        self.content_type = JSON_TYPE
        self.delay_seconds = 0.0
        self.wake: Callable[[], None] | None = None
        self._store = call.world.store
        self._shelf: Shelf = self._store.shelves[call.kind]
        self._lines, self._left = lines, cut_after
        self._bookmark_seconds = call.world.behaviour.bookmark_seconds
        timeout = whole(call.request, "timeoutSeconds")
        self._until = call.now + timeout if timeout else None
        self._marks = flag(call.request, "allowWatchBookmarks")
        self._bookmark_at = self._next_mark(call.now)
        self._opening: list[bytes] = []
        self._ended = False
        self._position = self._shelf.end
        self._shelf.watchers[self] = None

    def begin(self, call: Call) -> None:
        """Say what was there already, or go back to the revision that is asked for."""
        asked, wanted = versions.number(call.request), versions.wants_initial(call.request)
        initial = wanted if wanted is not None else asked in (versions.LATEST, 0)
        if initial:
            chosen = filter_of(call.request, call.target)
            walked = self._shelf.within(chosen.namespace)
            found = [one for one in walked if chosen.matches(one)]
            self._opening = [self._lines.event("ADDED", one, call.now) for one in found]
            if self._marks:
                self._opening.append(self._lines.bookmark(self._store.revision, ends_initial=True))
        elif asked > 0:
            try:
                self._position = self._shelf.position_after(asked)
            except TooOld:
                self._opening = [too_old(asked, self._shelf.forgotten)]
                self.close()

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
            yield too_old(shelf.forgotten - 1, shelf.forgotten)
            self.close()
            return
        start = self._position - shelf.first
        changes = shelf.log[start : start + _BATCH]
        for change in changes:
            self._position += 1
            line = self._lines.change(change, now)
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
            lines.append(self._lines.bookmark(self._store.revision))
            self._bookmark_at = self._next_mark(now)

    def _next_mark(self, now: float) -> float | None:
        if not self._marks:
            return None
        last = None if self._until is None else self._until - _LAST_MARK_SECONDS
        if last is None:
            return now + self._bookmark_seconds
        return min(last, now + self._bookmark_seconds) if now < last else None

    def close(self) -> None:
        """End this watch."""
        self._ended = True
        self._shelf.watchers.pop(self, None)


def watch(call: Call, *, cut_after: int | None = None) -> Watch:
    """Open a watch. Raises Refused."""
    positive(call.request, "limit")
    versions.check_watch_version(call.request)
    chosen = filter_of(call.request, call.target)
    check_fields(chosen)
    form = answers.form_of(call.request)
    if call.target.name:
        raise refusals.method_not_allowed()
    opened = Watch(call, Lines(call.kind, chosen, form), cut_after=cut_after)
    try:
        opened.begin(call)
    except refusals.Refused:
        opened.close()
        raise
    return opened
