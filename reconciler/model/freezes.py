"""Freezes: times in which what people changed in Git waits, and what of it does."""

from dataclasses import dataclass

from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Window:
    """One freeze as gamekeeper.yaml asks for it, on `line` of it (0 where that is not known).

    With `schedule` it opens on the clocks of `time_zone`, for `duration_seconds` each time; else
    from `begin` until `end`, which are dates there, or date-times.
    """

    name: str
    reason: str = ""
    schedule: str = ""
    time_zone: str = ""
    duration_seconds: int = 0
    begin: str = ""
    end: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Freeze:
    """A window that is open from `since` until `until` (Unix seconds). `place` is `file:line`."""

    until: float
    since: float
    name: str
    reason: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """What people changed of one workload, None for gamekeeper.yaml, while a freeze is open.

    `line` names it as a removal is named: it is a part of the change hash. `counted` is whether
    they changed its number, too.
    """

    line: str
    key: WorkloadKey | None
    counted: bool = False
