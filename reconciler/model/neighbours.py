"""Workloads that share a namespace or a name, seen from one that comes or goes."""

from dataclasses import dataclass
from enum import StrEnum

from reconciler.model.refs import WorkloadKey


class Sharing(StrEnum):
    """What becomes of the namespace when a workload goes: fleets may share one."""

    ALONE = "alone"
    """Nobody else is in it: it goes last."""
    STAYS = "stays"
    """Another workload needs it, or goes as well and sees to it."""
    WAITS = "waits"
    """All others in it are going too, before this one, which takes it away after them."""


@dataclass(frozen=True, slots=True)
class Namesake:
    """A workload of another kind that has the name of one, its rooms and all, until it is gone.

    `goes` is whether it is on its way: its end may be held.
    """

    key: WorkloadKey
    goes: bool
