"""What is told of our commits where a second process can read it: on the Lease.

Whoever leads renews the Lease anyway, so no commit costs a call more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reconciler.core.sound_record import MOST_SECONDS
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.model.refs import WorkloadKey
from reconciler.ports import Clock

if TYPE_CHECKING:
    # A type only: `status` reads what stands on the Lease, and commits nothing.
    from reconciler.loop.landing import Landed

LONGEST_ERROR = 1000
LONGEST_REASON = 300
MOST_REFUSED = 50
"""An annotation is small: of more counts that cannot be written the first are named."""


class OutboxNotes:
    """Hears of commits, and notes how they fare."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.outbox = EMPTY_OUTBOX

    def notes(self) -> Mapping[str, str]:
        """Return the annotation of the Lease; none before anything happened."""
        if self.outbox == EMPTY_OUTBOX:
            return {}
        return {labels.OUTBOX: _written(self.outbox)}

    def forget(self) -> None:
        """Who leads has changed: how our commits fared before tells nothing of those to come."""
        self.outbox = EMPTY_OUTBOX

    def landed(self, landed: Landed) -> None:
        """A commit of ours stands on the branch, edits were refused, or nothing is to be written.

        Whichever it is, nothing waits for the host: what it said before is over.
        """
        refused = {each.edit.where: _reason(each.line, each.reason) for each in landed.refused}
        self.outbox = replace(self.outbox, error="", failing_since=0.0, refused=refused)
        if landed.commit:
            self.outbox = replace(
                self.outbox,
                commit=landed.commit,
                pushed_at=self._clock.now(),
                pushes=self.outbox.pushes + 1,
            )

    def raced(self) -> None:
        """Somebody else's commit came first."""
        self.outbox = replace(self.outbox, races=self.outbox.races + 1)

    def unrecorded(self, error: PortError) -> None:
        """A record of ours did not take what became of a commit."""
        self.outbox = replace(self.outbox, unrecorded=self.outbox.unrecorded + 1)

    def unlanded(self, error: PortError) -> None:
        """The host took no commit; what was decided acts all the same."""
        since = self.outbox.failing_since if self.outbox.error else self._clock.now()
        said = str(error)[:LONGEST_ERROR] or "no reason was given"
        self.outbox = replace(self.outbox, error=said, failing_since=since)


def outbox_of(annotations: Mapping[str, object]) -> Outbox:
    """Read what `OutboxNotes` wrote; what cannot be read was never there."""
    try:
        return _read(json.loads(str(annotations[labels.OUTBOX])))
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
        return EMPTY_OUTBOX


def _reason(line: int, reason: str) -> str:
    return (f"line {line}: {reason}" if line else reason)[:LONGEST_REASON]


def _written(outbox: Outbox) -> str:
    refused = [
        [key.kind, key.namespace, key.name, reason]
        for key, reason in sorted(outbox.refused.items())[:MOST_REFUSED]
    ]
    return json.dumps(
        {
            "commit": outbox.commit,
            "pushedAt": outbox.pushed_at,
            "pushes": outbox.pushes,
            "races": outbox.races,
            "unrecorded": outbox.unrecorded,
            "error": outbox.error,
            "failingSince": outbox.failing_since,
            "refused": refused,
        },
        separators=(",", ":"),
    )


def _read(value: dict[str, Any]) -> Outbox:
    """Raises KeyError, ValueError, TypeError, OverflowError for what we did not write."""
    return Outbox(
        commit=str(value["commit"]),
        pushed_at=unix_seconds(value["pushedAt"]),
        pushes=int(value["pushes"]),
        races=int(value["races"]),
        unrecorded=int(value.get("unrecorded", 0)),  # an older version does not tell it
        error=str(value["error"]),
        failing_since=unix_seconds(value["failingSince"]),
        refused={
            WorkloadKey(str(kind), str(namespace), str(name)): str(reason)
            for kind, namespace, name, reason in value["refused"]
        },
    )


def unix_seconds(value: object) -> float:
    """Return a time that stands in a note. Raises ValueError for one that never comes."""
    found = float(str(value))
    if not 0.0 <= found <= MOST_SECONDS:
        raise ValueError("no time")
    return found
