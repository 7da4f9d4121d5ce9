"""DELETE: at once, with grace, behind finalizers, or many at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.sandbox import admission, answers, bodies, clock, refusals
from reconciler.sandbox.answers import status_success
from reconciler.sandbox.filters import check_fields, filter_of
from reconciler.sandbox.kinds import DELETE_OPTIONS, EVENT, NAMESPACE, POD, Kind
from reconciler.sandbox.options import dry_run_causes
from reconciler.sandbox.requests import Json, Response
from reconciler.sandbox.store import Stored
from reconciler.sandbox.store import encode as store_encode
from reconciler.sandbox.verbs import write
from reconciler.sandbox.world import Call, World

_POLICIES = ("Foreground", "Background", "Orphan")
_DONE = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How to delete: grace in seconds (None is the object's own), preconditions, policy."""

    grace_seconds: int | None = None
    uid: str = ""
    revision: str = ""
    policy: str = ""
    dry_run: bool = False

    @classmethod
    def read(cls, call: Call) -> DeleteOptions:
        """Read the options of the body and the query. Raises Refused."""
        if call.request.body.strip():
            given = bodies.decode_plain(call.request, call.world.shapes, DELETE_OPTIONS)
            return cls.of(given, {})
        return cls.of({}, call.request.query)

    @classmethod
    def of(cls, given: Json, query: Mapping[str, str]) -> DeleteOptions:
        """Read options that came in a body, with those of the query. Raises Refused."""
        grace = given.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
        if isinstance(grace, str) and not grace.removeprefix("-").isdecimal():
            message = f'strconv.ParseInt: parsing "{grace}": invalid syntax'
            raise refusals.bad_request(message)
        policy = given.get("propagationPolicy") or query.get("propagationPolicy", "")
        dry_run: str = (given.get("dryRun") or [query.get("dryRun", "")])[0]
        conditions = given.get("preconditions") or {}
        causes = dry_run_causes(dry_run)
        if policy and policy not in _POLICIES:
            causes.append(refusals.unsupported("propagationPolicy", policy, (*_POLICIES, "nil")))
        if causes:
            details = {"group": "meta.k8s.io"}
            raise refusals.unprocessable("DeleteOptions.meta.k8s.io", "", causes, details)
        seconds = None if grace is None else int(grace)
        if seconds is not None and seconds < 0:
            seconds = 1
        return cls(
            seconds,
            conditions.get("uid") or "",
            conditions.get("resourceVersion") or "",
            policy,
            bool(dry_run),
        )


def delete(call: Call) -> Response:
    """Delete one object. Raises Refused."""
    options = DeleteOptions.read(call)
    admission.protect_namespace(call.kind, call.target.name)
    stored = write.live_object(call)
    check_preconditions(call.kind, stored, options)
    last, gone = remove(call.world, call.kind, stored, options, call.now)
    if call.kind.answers_object or not gone:
        return answers.one(call.request, call.kind, last, now=call.now)
    details: Json = {"name": stored.name}
    if call.kind.group:
        details["group"] = call.kind.group
    return status_success(200, details | {"kind": call.kind.plural, "uid": stored.uid})


def delete_collection(call: Call) -> Response:
    """Delete everything that the selectors mean. Raises Refused."""
    options = DeleteOptions.read(call)
    if call.kind is NAMESPACE:
        raise refusals.method_not_allowed()
    chosen = filter_of(call.request, call.target)
    check_fields(chosen)
    shelf = call.world.store.shelves[call.kind]
    victims = [one for one in shelf.within(chosen.namespace) if chosen.matches(one)]
    for one in victims:
        remove(call.world, call.kind, one, options, call.now)
    metadata = {"resourceVersion": str(call.world.store.revision)}
    form = answers.form_of(call.request)
    return answers.many(call.kind, victims, metadata, form, now=call.now)


def check_preconditions(kind: Kind, stored: Stored, options: DeleteOptions) -> None:
    """Compare the preconditions with the live object. Raises Refused (409)."""
    if kind is NAMESPACE:
        _check_namespace(stored, options)
    why = ""
    if options.uid and options.uid != stored.uid:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({stored.uid}). The object might have been deleted and then recreated"
        )
    elif options.revision and options.revision != str(stored.revision):
        why = (
            f"the ResourceVersion in the precondition ({options.revision}) does not match the "
            f"ResourceVersion in record ({stored.revision}). The object might have been modified"
        )
    if why:
        details: Json = {"name": stored.name}
        if kind.group:
            details["group"] = kind.group
        named = kind.kind + (f".{kind.group}" if kind.group else "")
        message = f'Operation cannot be fulfilled on {named} "{stored.name}": {why}'
        raise refusals.failure(409, "Conflict", message, details | {"kind": kind.kind})


def _check_namespace(stored: Stored, options: DeleteOptions) -> None:
    # Namespaces have their own way to delete, and their own words for this.
    compared = (
        ("UID", options.uid, stored.uid),
        ("ResourceVersion", options.revision, str(stored.revision)),
    )
    for what, wanted, live in compared:
        if wanted and wanted != live:
            why = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: "
            raise refusals.conflict(NAMESPACE, stored.name, why + live)


def remove(
    world: World, kind: Kind, stored: Stored, options: DeleteOptions, now: float
) -> tuple[Stored, bool]:
    """Delete an object as far as it may go now; tells its last form and whether it is gone."""
    value = stored.decode(kind)
    if kind is POD and _is_pending(value, options):
        return stored, False
    before = json.dumps(value)
    grace = _grace(kind, value, options)
    held = _hold(kind, value, options)
    if kind is POD or kind is NAMESPACE or held:
        _mark(kind, value, grace, now)
    if kind is NAMESPACE:
        value["status"]["phase"] = "Terminating"
        held = True
    if options.dry_run:
        return store_encode(kind, value, stored.revision), not (held or grace)
    if not held and not grace:
        if json.dumps(value) != before:
            # What goes at once is told twice: that it ends, and that it is gone.
            world.store.put(kind, value)
        return world.store.remove(kind, value), True
    if json.dumps(value) == before:
        return stored, False
    return world.store.put(kind, value), False


def _is_pending(pod: Json, options: DeleteOptions) -> bool:
    """Tell whether a pod goes already, and not earlier for being asked again."""
    known = pod["metadata"].get("deletionGracePeriodSeconds")
    if not known or not pod["metadata"].get("deletionTimestamp"):
        # With no grace left it is deleted anew: a policy may still add its finalizer.
        return False
    return options.grace_seconds is None or options.grace_seconds >= known


def _hold(kind: Kind, value: Json, options: DeleteOptions) -> bool:
    metadata = value["metadata"]
    finalizers = list(metadata.get("finalizers") or ())
    if kind is EVENT:
        # Nothing belongs to an event, so nobody collects what did.
        return bool(finalizers)
    for policy, name in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
        if options.policy == policy and name not in finalizers:
            finalizers.append(name)
    if finalizers:
        metadata["finalizers"] = finalizers
    return bool(finalizers)


def _grace(kind: Kind, value: Json, options: DeleteOptions) -> int:
    if kind is not POD:
        return 0
    spec: Json = value["spec"]
    begun: int | None = value["metadata"].get("deletionGracePeriodSeconds")
    if begun is not None and options.grace_seconds is not None:
        # What has begun to end is only hurried: that it has ended meanwhile is not looked at.
        return min(options.grace_seconds, begun)
    if not spec.get("nodeName") or value.get("status", {}).get("phase") in _DONE:
        return 0
    own = spec.get("terminationGracePeriodSeconds", 30)
    asked = own if options.grace_seconds is None else options.grace_seconds
    asked = 1 if asked < 0 else asked
    return asked if begun is None else min(asked, begun)


def _mark(kind: Kind, value: Json, grace: int, now: float) -> None:
    metadata = value["metadata"]
    begun = metadata.get("deletionTimestamp")
    known = metadata.get("deletionGracePeriodSeconds")
    if begun and (known is None or grace >= known):
        return
    if begun:
        # A shorter grace counts from the first request, never from the second.
        end = clock.moment(begun) - (known or 0) + grace
        if end < now:
            # It never ends in the past; what is left of a grace that is over is a second.
            end, grace = now, min(grace, 1)
        metadata["deletionTimestamp"] = clock.stamp(end)
    else:
        metadata["deletionTimestamp"] = clock.stamp(now + grace)
        if kind.generation:
            metadata["generation"] = metadata.get("generation", 0) + 1
    if kind is not NAMESPACE:
        metadata["deletionGracePeriodSeconds"] = grace
