"""Objects beside rooms: as they should be, and what a plan does about them."""

from dataclasses import dataclass

from reconciler.model.refs import Json, ObjectRef

Confirmed = tuple[str, str]
"""The digest of a desired object and the resourceVersion of a live one that is as it asks for."""


@dataclass(frozen=True, slots=True)
class DesiredObject:
    """One manifest as it should be. `digest` names its content.

    `ignored` are pointers to what others own where the object is there (`core/ignoring.py`).
    """

    ref: ObjectRef
    body: Json
    digest: str
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApplyObject:
    """Server-side apply of an object that is missing or seems to differ.

    `live_version` is the resourceVersion it was compared with, "" when it is not there.
    `paths` are the fields that differ. `alone` says that it is the count of a budget without what
    is added to it, for that was refused.
    """

    ref: ObjectRef
    body: Json
    digest: str
    live_version: str
    paths: tuple[str, ...]
    reason: str
    ignored: tuple[str, ...] = ()
    alone: bool = False

    @property
    def what(self) -> str:
        """How its outcome names it."""
        return count_name(self.ref) if self.alone else str(self.ref)


def count_name(ref: ObjectRef) -> str:
    """Return how the count of a budget is named where it is written alone."""
    return f"the count of {ref}"


def contest_name(ref: ObjectRef) -> str:
    """Return how an object is named as one that others change whenever it is set back."""
    return f"the contest of {ref}"


@dataclass(frozen=True, slots=True)
class DeleteObject:
    """Prune one object of the inventory, exactly as it was seen."""

    ref: ObjectRef
    uid: str
    resource_version: str
    reason: str
