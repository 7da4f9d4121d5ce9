"""Which targets are not reached, written where a second process can read it: on the Lease."""

import json
from collections.abc import Iterable, Mapping

from reconciler.model import labels
from reconciler.model.notifications import Trouble
from reconciler.service.outbox import unix_seconds

LONGEST_ERROR = 500


def notes_of(troubles: Iterable[Trouble]) -> Mapping[str, str]:
    """Return the annotation of the Lease; none where everybody is reached."""
    rows = [[each.name, each.since, each.error[:LONGEST_ERROR], each.gave_up] for each in troubles]
    return {labels.NOTIFYING: json.dumps(rows, separators=(",", ":"))} if rows else {}


def troubles_of(annotations: Mapping[str, object]) -> tuple[Trouble, ...]:
    """Read what `notes_of` wrote; what cannot be read was never there."""
    try:
        rows = json.loads(str(annotations[labels.NOTIFYING]))
        return tuple(
            Trouble(str(n), unix_seconds(at), str(why), int(up)) for n, at, why, up in rows
        )
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
        return ()
