"""When a plan need not be made again: it is pure, so the same situation has the same plan."""

from collections.abc import Mapping
from typing import NamedTuple

from reconciler.core.copying import is_due
from reconciler.model.copies import Looked
from reconciler.model.holds import Hold
from reconciler.model.live import LiveWorkload
from reconciler.model.neighbours import Namesake, Sharing
from reconciler.model.plans import Desired, Plan, Situation
from reconciler.model.records import Ordinals, StateRecord
from reconciler.model.refs import ObjectRef
from reconciler.model.rooms import Ears


class Basis(NamedTuple):
    """All that a lasting plan depends on.

    Snapshots are immutable and handed out again until something of them changes: an idle pass
    compares sixteen references a workload.
    """

    live: LiveWorkload
    desired: Desired | None
    record: StateRecord
    ordinals: Ordinals | None
    holds: tuple[Hold, ...]
    complete: bool
    rooms_complete: bool
    deleting: bool
    ears: Ears
    sharing: Sharing
    namespace_made: bool
    addresses: Mapping[str, str]
    namesake: Namesake | None
    elsewhere: frozenset[ObjectRef]
    unserved: tuple[str, ...]
    looked: tuple[Looked, bool]
    """The last look at sources of copies, and whether another is due."""


def basis_of(situation: Situation) -> Basis:
    """Return what a lasting plan of this situation depends on."""
    desired = situation.desired
    return Basis(
        situation.live,
        situation.desired,
        situation.record,
        situation.ordinals,
        situation.holds,
        situation.complete,
        situation.rooms_complete,
        situation.deleting,
        situation.ears,
        situation.sharing,
        situation.namespace_made,
        situation.addresses,
        situation.namesake,
        situation.elsewhere,
        situation.unserved,
        (situation.looked, is_due(situation, desired.workload if desired else None)),
    )


def is_lasting(plan: Plan, situation: Situation) -> bool:
    """Whether a plan stays true, at any time, for as long as its basis is the same.

    Time, host ports and nodes count only where rooms are made, are not ready, or are not known
    to have been made; what was found equal counts only where something is to be applied.
    """
    names = situation.ordinals.outstanding if situation.ordinals else ()
    waits = plan.wake_in_seconds is not None or plan.counts.unready
    return not plan.due and not waits and not names
