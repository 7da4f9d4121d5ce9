"""Troubles with commits, and what is told of them."""

from typing import Any

from reconciler.core.news import of_write_back
from reconciler.model.errors import Conflict
from reconciler.model.outbox import Outbox
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled

FOR_FIVE_MINUTES = [{"from": "08:05", "to": "08:10", "replicas": 5}]
TWICE = [*FOR_FIVE_MINUTES, {"from": "08:30", "to": "20:00", "replicas": 4}]
"""The world begins at 08:00."""
LASTS = [{"from": "08:05", "to": "20:00", "replicas": 5}]


def outbox(there: Scene) -> Outbox:
    """What the Lease tells of our commits."""
    assert there.leader is not None
    return there.leader.notes.outbox


def news(there: Scene) -> list[str]:
    """What targets of notifications are told of it."""
    assert there.leader is not None
    return [each.reason for each in of_write_back(outbox(there), there.leader.clock.now())]


def refused(there: Scene) -> bool:
    """Whether a count is told that no edit can write."""
    return ARENA in outbox(there).refused


def failing(there: Scene) -> bool:
    """Whether it is told that the host takes nothing."""
    return bool(outbox(there).error)


def is_well(there: Scene) -> bool:
    """Whether no trouble is told."""
    seen = outbox(there)
    return (seen.error, seen.failing_since, seen.refused) == ("", 0.0, {})


def down(there: Scene) -> None:
    there.world.host.down()


def protect(there: Scene) -> None:
    there.world.host.protected["main"] = "changes go through merge requests"


def lock(there: Scene) -> None:
    """Leave a lock behind: no push moves the branch, and nobody else's came first."""
    there.world.host.refusal = Conflict("the branch is locked")


def anchor(there: Scene, times: list[dict[str, Any]] = TWICE) -> None:
    """Make `replicas` a number that no edit can change alone."""
    shared = scaled(2, times).replace("replicas: 2\n", "replicas: &n 2\n", 1)
    there.world.commit({FILE: shared.replace("min: 2\n", "min: *n\n", 1)})
