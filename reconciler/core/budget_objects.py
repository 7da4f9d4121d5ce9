"""How many rooms a disruption budget keeps: its count, which no template can know."""

import math

from reconciler.model.refs import Json
from reconciler.model.specs import Workload

ABOVE_ANY_COUNT = 1_000_000
"""`minAvailable` of `mode: occupied`. No workload has so many rooms, so none that is selected may
go, and neither a room that turned busy a moment ago nor a count that changed needs an update."""


def min_available(workload: Workload, total: int, occupied: int) -> int:
    """Return `minAvailable` of a workload's budget, of `total` rooms of which some are occupied.

    An integer, since percentages do not work for bare pods.
    """
    budget = workload.disruption
    if budget.mode == "occupied":
        return ABOVE_ANY_COUNT
    if not workload.hears:
        # Nobody knows which rooms are occupied, so the promise is about all of them.
        # Rounded at 9 digits first: 20 * 0.95 is 18.999999999999996 in binary.
        return int(round(total * (1 - budget.safety_percentage), 9))
    if total <= 1:
        return 0
    return min(total, math.ceil(round(occupied * (1 + budget.safety_percentage), 9)))


def counts_occupied(workload: Workload) -> bool:
    """Whether a workload's budget changes with how many of its rooms are occupied."""
    return workload.hears and workload.disruption.mode == "count"


def stamp_budget(pdb: Json, workload: Workload, total: int, occupied: int) -> Json:
    """Return the PDB with its count."""
    stays = min_available(workload, total, occupied)
    return {**pdb, "spec": {**pdb["spec"], "minAvailable": stays}}
