"""A number that goes back to what it was."""

from dataclasses import dataclass

from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Undo:
    """What `commit` did to the number of a workload, taken back.

    `now` is what it left, which `file` of `branch` still says; `back` is what was before.
    """

    key: WorkloadKey
    commit: str
    branch: str
    file: str
    now: int
    back: int
