"""What a watch says: each change, bookmark and end as one line of JSON."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.sandbox import refusals, tables
from reconciler.sandbox.answers import Form
from reconciler.sandbox.filters import Filter
from reconciler.sandbox.kinds import BUDGET, LEASE, POD, Kind
from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change, Stored
from reconciler.sandbox.store import encode as store_encode

# What Go writes of an object that has nothing but metadata.
_ZERO: Mapping[Kind, Json] = {
    POD: {"spec": {"containers": None}, "status": {}},
    LEASE: {"spec": {}},
    BUDGET: {
        "spec": {},
        "status": {
            "disruptionsAllowed": 0,
            "currentHealthy": 0,
            "desiredHealthy": 0,
            "expectedPods": 0,
        },
    },
}
_INITIAL_END = "k8s.io/initial-events-end"


class Lines:
    """Writes for one reader: what it chose, in the form that it asked for."""

    def __init__(self, kind: Kind, chosen: Filter, form: Form) -> None:
        self._kind, self._chosen, self._form = kind, chosen, form
        self._first = True

    def change(self, change: Change, now: float) -> bytes | None:
        """Tell a change; objects enter and leave a selection like new and deleted ones."""
        is_in = change.verb != "DELETED" and self._chosen.matches(change.stored)
        was_in = change.before is not None and self._chosen.matches(change.before)
        if is_in:
            return self.event("MODIFIED" if was_in else "ADDED", change.stored, now)
        if not was_in or change.before is None:
            return None
        last = change.stored
        if change.verb != "DELETED":
            last = _moved(self._kind, change.before, change.revision)
        return self.event("DELETED", last, now)

    def event(self, verb: str, stored: Stored, now: float) -> bytes:
        """Tell what became of an object."""
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

    def bookmark(self, revision: int, *, ends_initial: bool = False) -> bytes:
        """Tell how far the reader has come, and where what was there already ends."""
        metadata: Json = {"resourceVersion": str(revision)}
        if ends_initial:
            metadata["annotations"] = {_INITIAL_END: "true"}
        value: Json = {
            "kind": self._kind.kind,
            "apiVersion": self._kind.api_version,
            "metadata": metadata,
            **_ZERO.get(self._kind, {}),
        }
        if self._form.as_kind == "PartialObjectMetadata":
            kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            value = {**kind, "metadata": metadata}
        return encode({"type": "BOOKMARK", "object": value}) + b"\n"


def too_old(asked: int, oldest: int) -> bytes:
    """Tell a reader that the changes after its revision are forgotten."""
    message = f"too old resource version: {asked} ({oldest})"
    status = refusals.failure(410, "Expired", message).status
    return encode({"type": "ERROR", "object": status}) + b"\n"


def _moved(kind: Kind, before: Stored, revision: int) -> Stored:
    value = before.decode(kind)
    value["metadata"]["resourceVersion"] = str(revision)
    return store_encode(kind, value, revision)
