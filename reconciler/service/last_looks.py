"""What policies that ask others came to last, where a second process can read it: on the Lease.

A policy looks every few seconds, and what it comes to mostly moves nothing: so it is put on no
record. Whoever leads renews the Lease anyway, so no look costs a call more.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reconciler.model import labels
from reconciler.model.decisions import Decision
from reconciler.model.last_looks import LastLook
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Look
from reconciler.service.outbox import unix_seconds

MOST_LOOKS = 50
"""An annotation is small: of more, those are told whose count is not what their policy wants."""
MOST_BYTES = 16 * 1024
"""All annotations of a Lease have 256 KiB; beyond them no renewal is taken, and nobody leads."""
LONGEST_STEPS = 400
FIRST_STEP = 80
"""What the policy's own reason has of it at least: it is known by its place."""


class LastLooks:
    """Keeps the last look of each policy that asked somebody."""

    def __init__(self) -> None:
        self._looks: dict[WorkloadKey, LastLook] = {}

    def note(self, key: WorkloadKey, look: Look, decision: Decision) -> None:
        """Keep what was decided; a policy that asks nobody is reckoned by who wants to know."""
        if not look.signals:
            self._looks.pop(key, None)
            return
        answered = [each.at for each in look.signals.values() if each.value is not None]
        again = decision.again_in_seconds
        self._looks[key] = LastLook(
            look.now,
            min(answered, default=0.0),
            decision.advised,
            decision.replicas,
            decision.steps,
            0.0 if again is None else look.now + again,
        )

    def forget(self, key: WorkloadKey | None = None) -> None:
        """Forget one workload, or all of them."""
        if key is None:
            self._looks.clear()
        else:
            self._looks.pop(key, None)

    def notes(self) -> Mapping[str, str]:
        """Return the annotation of the Lease; none where nobody was asked."""
        if not self._looks:
            return {}
        first = sorted(self._looks.items(), key=lambda each: (not each[1].is_limited, each[0]))
        return {labels.LAST_LOOKS: f"[{','.join(_fitting(map(_row, first[:MOST_LOOKS])))}]"}


def last_looks_of(annotations: Mapping[str, object]) -> Mapping[WorkloadKey, LastLook]:
    """Read what `LastLooks` wrote; what cannot be read was never there."""
    try:
        return dict(map(_read, json.loads(str(annotations[labels.LAST_LOOKS]))))
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
        return {}


def _fitting(rows: Iterable[str]) -> Iterator[str]:
    """Yield the first rows that have room together, commas and brackets counted."""
    used = 1
    for row in rows:
        used += len(row.encode()) + 1
        if used > MOST_BYTES:
            return
        yield row


def _row(told: tuple[WorkloadKey, LastLook]) -> str:
    key, look = told
    numbers = [look.at, look.answered_at, look.advised, look.replicas, look.again_at]
    row = [key.kind, key.namespace, key.name, *numbers, _steps(look.steps)]
    written = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
    return written.encode(errors="replace").decode()  # half a character is no text


def _steps(steps: Sequence[str]) -> list[str]:
    # What limits the count stands last, and what a stranger wrote first.
    kept: list[str] = []
    left = LONGEST_STEPS - sum(len(step[:FIRST_STEP]) for step in steps[:1])
    for step in reversed(steps[1:]):
        kept.append(step[:left])
        left -= len(kept[-1])
    first = [step[: FIRST_STEP + left] for step in steps[:1]]
    return [*first, *(step for step in reversed(kept) if step)]


def _read(row: Any) -> tuple[WorkloadKey, LastLook]:
    """Raises ValueError, TypeError, OverflowError for what we did not write."""
    kind, namespace, name, at, answered_at, advised, replicas, again_at, steps = row
    look = LastLook(
        unix_seconds(at),
        unix_seconds(answered_at),
        None if advised is None else int(advised),
        int(replicas),
        tuple(str(step) for step in steps),
        unix_seconds(again_at),
    )
    return WorkloadKey(str(kind), str(namespace), str(name)), look
