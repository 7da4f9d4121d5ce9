"""Diff of what is not a room: what to apply, what to prune, what belongs to somebody else."""

from collections.abc import Collection, Iterable, Mapping

from reconciler.core.ignoring import laid_over
from reconciler.kube.diff import left_scoped
from reconciler.kube.schemas import UNTYPED, Schemas
from reconciler.model import additional, labels
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import ENDED_PHASES, LiveObject
from reconciler.model.neighbours import Sharing
from reconciler.model.plan_objects import ApplyObject, Confirmed, DeleteObject, DesiredObject
from reconciler.model.plans import Situation
from reconciler.model.records import Owned
from reconciler.model.refs import Json, ObjectRef, WorkloadKey

APPLY_ORDER = ("Namespace", "ServiceAccount", *additional.KINDS, "PodDisruptionBudget")
"""What a pod needs comes first: a namespace to be in, an account to run as."""


def to_apply(
    desired: Iterable[DesiredObject],
    live: Mapping[ObjectRef, LiveObject],
    confirmed: frozenset[Confirmed],
    schemas: Schemas,
) -> tuple[tuple[ApplyObject, ...], frozenset[Confirmed]]:
    """Return the objects that are missing or seem to differ in a field that we want, and the pairs
    that are equal.

    Fields that only others set are theirs. What was found equal before, here or by a dry run
    (quantities, defaults), is in `confirmed` and is not compared again until either side changes.
    """
    found, equal = [], []
    for wanted in sorted(desired, key=lambda item: APPLY_ORDER.index(item.ref.kind)):
        there = live.get(wanted.ref)
        if there is None:
            reason = f"{wanted.ref} is not there"
            pair = (wanted.digest, "")
            found.append(ApplyObject(wanted.ref, wanted.body, *pair, (), reason, wanted.ignored))
            continue
        if there.terminating:
            continue
        pair = (wanted.digest, there.resource_version)
        if pair in confirmed:
            equal.append(pair)
            continue
        schema = schemas.for_kind(wanted.ref.api_version, wanted.ref.kind) or UNTYPED
        body = laid_over(wanted.body, there.body, wanted.ignored)
        paths = tuple(item.path for item in left_scoped(body, there.body, schema))
        if _named(there.body) and not _named(body):
            paths = (*paths, f"metadata.annotations.{labels.FIELDS}")
        if paths:
            reason = f"{wanted.ref} differs in {', '.join(paths)}"
            found.append(ApplyObject(wanted.ref, wanted.body, *pair, paths, reason, wanted.ignored))
        else:
            equal.append(pair)
    return tuple(found), frozenset(equal)


def _named(body: Json) -> str:
    """Return the digest of what Git named of an object, "" for one of which it names nothing."""
    notes = body.get("metadata", {}).get("annotations") or {}
    return str(notes.get(labels.FIELDS, ""))


def inventory_of(situation: Situation) -> tuple[Owned, ...]:
    """Return the inventory that must stand before anything is applied: old and new together.

    A new object counts as made by us when the view does not show it; who applies it looks
    again, and takes that back where somebody else was first. A namespace that we made for one
    workload we made for all that share it: whoever goes last takes it away.
    """
    known = {owned.ref for owned in situation.record.inventory}
    wanted = {item.ref for item in situation.desired.objects} if situation.desired else set()
    if wanted <= known:
        return situation.record.inventory
    live = {item.ref for item in situation.live.objects}
    ours = {ref for ref in wanted if ref.kind == "Namespace" and situation.namespace_made}
    new = (Owned(ref, made=ref not in live or ref in ours) for ref in wanted - known)
    return tuple(sorted((*situation.record.inventory, *new)))


def to_prune(situation: Situation) -> tuple[DeleteObject, ...]:
    """Return what may be deleted now of a workload that is going: the namespace alone and last.

    Called when no pod of it is left. What we did not make stays, and what is another instance's,
    and the namespace while another workload of ours is in it. What another asks for now is left
    for it to take over.
    """
    made = {owned.ref for owned in situation.record.inventory if owned.made}
    ours = [item for item in applied(situation) if item.ref in made]
    inner = [item for item in ours if item.ref.kind != "Namespace"]
    last = [
        item for item in ours if item.ref.kind == "Namespace" and situation.sharing is Sharing.ALONE
    ]
    return tuple(
        DeleteObject(item.ref, item.uid, item.resource_version, f"{situation.key} left Git")
        for item in (inner or last)
        if not item.terminating and item.ref not in situation.elsewhere
    )


def to_drop(situation: Situation) -> tuple[DeleteObject, ...]:
    """Return the additional objects that an accepted spec asks for no more, once nobody needs them.

    Rooms of an older revision may: a container that starts again reads its ConfigMap anew. What
    we did not make stays, and what another workload asks for now is left for it to take over.
    """
    desired = situation.desired
    if desired is None or situation.holds or not situation.complete:
        return ()
    wanted = {item.ref for item in desired.objects}
    made = {owned.ref for owned in situation.record.inventory if owned.made}
    made -= wanted | situation.elsewhere
    dropped = [
        item
        for item in applied(situation)
        if item.ref in made and item.ref.kind in additional.KINDS and not item.terminating
    ]
    revision = desired.workload.revision
    if not dropped or any(
        pod.revision != revision and pod.phase not in ENDED_PHASES for pod in situation.live.pods
    ):
        return ()
    return tuple(
        DeleteObject(item.ref, item.uid, item.resource_version, f"{item.ref} left Git")
        for item in dropped
    )


def unseen(situation: Situation) -> tuple[Hold, ...]:
    """Return a hold where we made objects of kinds that are not allowed, nor followed, any more."""
    left = [
        str(owned.ref)
        for owned in situation.record.inventory
        if owned.made
        and owned.ref.kind in additional.KINDS
        and owned.ref.kind not in situation.kinds
    ]
    if not left:
        return ()
    reason = (
        f"{', '.join(left[:3])} cannot be seen, for --allow-kinds does not name its kind any more: "
        f"allow it until {situation.key} is gone"
    )
    return (Hold(HoldKind.FOREIGN, situation.key, reason),)


def to_pass_on(situation: Situation) -> tuple[Hold, ...]:
    """Return a hold where a workload that goes has objects that another asks for and has not got.

    They end with neither: the other takes them over when nothing of its own is in the way.
    """
    left = [str(item.ref) for item in applied(situation) if item.ref in situation.elsewhere]
    if not left:
        return ()
    reason = (
        f"{', '.join(left[:3])} is left for the workload that asks for it now: {situation.key} is "
        "gone when that has taken it over"
    )
    return (Hold(HoldKind.FOREIGN, situation.key, reason),)


def sharing_of(
    key: WorkloadKey, neighbours: Iterable[WorkloadKey], deleting: Collection[WorkloadKey]
) -> Sharing:
    """Return what becomes of the namespace of `key` when it goes, beside these neighbours.

    Of several that go, the last by name takes the namespace away: one must, and only one.
    """
    sharing = Sharing.ALONE
    for each in neighbours:
        if each not in deleting or each > key:
            return Sharing.STAYS
        sharing = Sharing.WAITS
    return sharing


def applied(situation: Situation) -> tuple[LiveObject, ...]:
    """Return the live objects of ours of the kinds that are applied: records are none of them."""
    return tuple(
        item
        for item in situation.live.objects
        if item.ref.kind in APPLY_ORDER and item.instance == situation.instance
    )


def foreign(situation: Situation) -> tuple[Hold, ...]:
    """Return a hold for each object that another instance claims, unless people gave it to us.

    A spec whose kind was changed is another workload under names that are still taken: its own
    room 0 would be the other's, and so would be its records.
    """
    if situation.namesake is not None:
        reason = (
            f"{situation.namesake.key} has the same name, and is not gone yet: {situation.key} "
            "begins when the last of its rooms has ended. To have both, give this one a name of "
            "its own"
        )
        return (Hold(HoldKind.FOREIGN, situation.key, reason),)
    return tuple(
        Hold(
            HoldKind.FOREIGN,
            situation.key,
            f"{item.ref} belongs to instance {item.instance}; it is left alone",
        )
        for item in situation.live.objects
        if item.instance != situation.instance and _adopter(item) != situation.instance
    )


def _adopter(item: LiveObject) -> str:
    annotations = item.body.get("metadata", {}).get("annotations") or {}
    return str(annotations.get(labels.ADOPT, ""))
