"""The objects of the sandbox, their revisions and their recent history.

An object is kept as its JSON text, encoded once: a reader copies bytes, a writer decodes a
private copy, and nobody shares a mutable object.
"""

from __future__ import annotations

import json
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from reconciler.sandbox.kinds import STORED, Kind
from reconciler.sandbox.requests import Json

Verb = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of one object; `text` lacks the kind and apiVersion that open it."""

    key: str
    namespace: str
    name: str
    uid: str
    revision: int
    text: bytes
    labels: Mapping[str, str]
    fields: tuple[str, ...]
    ready: bool = False  # its condition Ready is True
    ending: bool = False  # it has a deletionTimestamp

    def decode(self, kind: Kind) -> Json:
        """Decode a copy that the caller may change."""
        value: Json = json.loads(kind.prefix + self.text)
        return value


@dataclass(frozen=True, slots=True)
class Change:
    """One write: what an object became, and what it was before."""

    kind: Kind
    verb: Verb
    stored: Stored
    before: Stored | None

    @property
    def revision(self) -> int:
        """Give the revision of this write."""
        return self.stored.revision


class TooOld(Exception):
    """The asked revision has left the history."""


class Watcher(Protocol):
    """Whoever wants to know that a kind has changed."""

    wake: Callable[[], None] | None


def key_of(namespace: str, name: str) -> str:
    """Make the key of an object; keys sort as etcd sorts them."""
    return f"{namespace}/{name}" if namespace else name


class Shelf:
    """All objects of one kind and the last changes of them."""

    def __init__(self, kind: Kind, window: int) -> None:
        self.kind = kind
        self.objects: dict[str, Stored] = {}
        self.keys: list[str] = []
        self.log: list[Change] = []
        self.first = 0  # position of log[0] since the beginning
        self.forgotten = 0  # states before this revision cannot be told any more
        # In order, as a set is not: who watched first is told first, and a seed is one run.
        self.watchers: dict[Watcher, None] = {}
        self._window = window

    @property
    def end(self) -> int:
        """Give the position after the newest change."""
        return self.first + len(self.log)

    def record(self, change: Change) -> None:
        """Keep a change and drop the oldest ones."""
        self.log.append(change)
        if len(self.log) > self._window + self._window // 4:
            self.forget(len(self.log) - self._window)

    def forget(self, count: int) -> None:
        """Drop the oldest changes of the history."""
        if count:
            self.forgotten = self.log[count - 1].revision
            del self.log[:count]
            self.first += count

    def position_after(self, revision: int) -> int:
        """Find where the changes after a revision begin. Raises TooOld."""
        if revision < self.forgotten:
            raise TooOld
        return self.first + bisect_left(self.log, revision + 1, key=lambda change: change.revision)

    def at(self, revision: int) -> dict[str, Stored]:
        """Rebuild all objects as they stood at a revision. Raises TooOld."""
        if revision < self.forgotten:
            raise TooOld
        objects = dict(self.objects)
        for change in reversed(self.log):
            if change.revision <= revision:
                break
            if change.before is None:
                objects.pop(change.stored.key, None)
            else:
                objects[change.stored.key] = change.before
        return objects

    def within(self, namespace: str) -> Iterator[Stored]:
        """Walk the objects of one namespace, or of all, in the order of their keys."""
        if not namespace:
            for key in self.keys:
                yield self.objects[key]
            return
        start = f"{namespace}/"
        for index in range(bisect_left(self.keys, start), len(self.keys)):
            key = self.keys[index]
            if not key.startswith(start):
                return
            yield self.objects[key]


class Store:
    """Every shelf, under one rising revision."""

    def __init__(self, window: int) -> None:
        self.revision = 0
        self.shelves = {kind: Shelf(kind, window) for kind in STORED}
        self.listeners: list[Callable[[Change], None]] = []

    def get(self, kind: Kind, namespace: str, name: str) -> Stored | None:
        """Find one object."""
        return self.shelves[kind].objects.get(key_of(namespace, name))

    def put(self, kind: Kind, value: Json) -> Stored:
        """Write an object under the next revision and tell everybody."""
        shelf = self.shelves[kind]
        stored = self._encode(kind, value)
        before = shelf.objects.get(stored.key)
        if before is None:
            insort(shelf.keys, stored.key)
        shelf.objects[stored.key] = stored
        self._tell(Change(kind, "MODIFIED" if before else "ADDED", stored, before))
        return stored

    def remove(self, kind: Kind, value: Json) -> Stored:
        """Take an object away; its last form carries the revision of the removal."""
        shelf = self.shelves[kind]
        stored = self._encode(kind, value)
        before = shelf.objects.pop(stored.key)
        del shelf.keys[bisect_left(shelf.keys, stored.key)]
        self._tell(Change(kind, "DELETED", stored, before))
        return stored

    def _encode(self, kind: Kind, value: Json) -> Stored:
        self.revision += 1
        value["metadata"]["resourceVersion"] = str(self.revision)
        return encode(kind, value, self.revision)

    def _tell(self, change: Change) -> None:
        shelf = self.shelves[change.kind]
        shelf.record(change)
        for listener in self.listeners:
            listener(change)
        for watcher in shelf.watchers:
            if watcher.wake:
                watcher.wake()


def encode(kind: Kind, value: Json, revision: int) -> Stored:
    """Encode an object, with what selectors ask of it beside the text."""
    metadata = value["metadata"]
    body = {name: part for name, part in value.items() if name not in ("kind", "apiVersion")}
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)[1:].encode(errors="replace")
    namespace = metadata.get("namespace", "")
    return Stored(
        key_of(namespace, metadata["name"]),
        namespace,
        metadata["name"],
        metadata.get("uid", ""),
        revision,
        text,
        metadata.get("labels") or {},
        tuple(lookup(value, path) for path in kind.fields),
        _is_ready(value.get("status")),
        "deletionTimestamp" in metadata,
    )


def _is_ready(status: Json | None) -> bool:
    conditions = (status or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def lookup(value: Json, path: str) -> str:
    """Read a field as field selectors see it: text, empty when absent."""
    found: Any = value
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    if path == "source" and isinstance(found, dict):
        found = found.get("component")
    if path == "status.podIPs":
        found = ",".join(one["ip"] for one in found or ())
    if isinstance(found, bool) or (found is None and path in _BOOLEANS):
        return "true" if found else "false"
    return "" if found is None else str(found)


_BOOLEANS = frozenset({"spec.hostNetwork", "spec.unschedulable"})
