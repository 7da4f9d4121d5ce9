"""Server-side apply: fields have owners, and who takes another's field must say so.

A write goes through here before admission and defaulting, as it does in the API server. A result
that differs from the live object in nothing but times of managedFields is no write at all: the
caller then keeps the live object (`same_but_times`).
"""

from dataclasses import dataclass
from typing import Any

from reconciler.kube import last_applied, managed_fields
from reconciler.kube.comparison import Comparison, compare
from reconciler.kube.conflicts import Conflict as Conflict
from reconciler.kube.conflicts import Conflicts as Conflicts
from reconciler.kube.fieldpaths import BadObject as BadObject
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import Json, same
from reconciler.kube.managed_fields import APPLY, UPDATE, Owned, Owner, Owners
from reconciler.kube.merge import merge, remove, without_nulls
from reconciler.kube.schemas import Schema
from reconciler.kube.typecheck import type_problems


@dataclass(frozen=True, slots=True)
class Applied:
    """The object after an apply; its metadata already holds the managedFields."""

    object: Json
    managed_fields: list[Any]


def apply(
    live: Json | None,
    applied: Json,
    *,
    manager: str,
    force: bool,
    schema: Schema,
    now: str,
    subresource: str = "",
) -> Applied | Conflicts:
    """Apply a partial object as this manager; `now` (RFC 3339) stamps what changes.

    Raises BadObject for an applied object that its schema cannot describe.
    """
    problems = type_problems(applied, schema)
    if problems:
        listed = "\n  ".join(["errors:", *problems])
        raise BadObject(problems[0] if len(problems) == 1 else listed)
    version = applied.get("apiVersion", "")
    me = Owner.of(manager, APPLY, version, subresource)
    outcome = _applied(live, applied, me, force=force, schema=schema, now=now)
    if manager != last_applied.KUBECTL:
        return outcome
    if isinstance(outcome, Conflicts):
        # What kubectl applied from the client's side it may take over from itself.
        conflicts = outcome.outside(last_applied.unchanged(live or {}, schema))
        if conflicts:
            return conflicts
        outcome = _applied(live, applied, me, force=True, schema=schema, now=now)
    if isinstance(outcome, Applied):
        last_applied.restate(outcome.object, applied)
    return outcome


def track_update(
    live: Json | None,
    updated: Json,
    *,
    manager: str,
    operation: str = UPDATE,
    schema: Schema,
    now: str,
    subresource: str = "",
) -> list[Any]:
    """Give the managedFields after a create, update or patch; `now` (RFC 3339) stamps changes.

    Raises BadObject for a list item without its keys.
    """
    owners = _owners_of_update(live, updated, subresource)
    if not owners and live is not None:
        # An object whose owners were forgotten stays untracked until the next apply.
        return []
    version = updated.get("apiVersion", "")
    me = Owner.of(manager, operation, version, subresource)
    reset = managed_fields.reset_by(subresource, updated.get("kind", ""))
    before, after = managed_fields.without(live or {}), managed_fields.without(updated)
    changes = compare(before, after, schema).without_under(reset)
    return managed_fields.write(managed_fields.capped(_updated(owners, me, changes, version, now)))


def same_but_times(live: Json, updated: Json) -> bool:
    """Tell whether two states differ in nothing but the times of their managedFields."""
    return same(_without_times(live), _without_times(updated))


def _applied(
    live: Json | None, applied: Json, me: Owner, *, force: bool, schema: Schema, now: str
) -> Applied | Conflicts:
    before = managed_fields.without(live or {})
    owners = _owners_before(live, before, me.subresource, schema, now)
    reset = managed_fields.reset_by(me.subresource, applied.get("kind", ""))
    own = FieldSet.from_object(applied, schema, with_parents=False).without_under(reset)
    last = owners.get(me)
    owners[me] = Owned(own, applied.get("apiVersion", ""), last.time if last else None)
    merged = merge(before, applied, schema)
    after = _pruned(merged, owners, last.fields, schema) if last else merged
    changes = compare(before, after, schema).without_under(reset)
    conflicts = [] if force else _conflicts(owners, changes, me)
    if conflicts:
        return Conflicts(tuple(conflicts))
    moved = None if same(before, after) else now
    settled = _settled(owners, me, changes, moved)
    return _result(before if moved is None else after, settled, schema)


def _owners_before(
    live: Json | None, before: Json, subresource: str, schema: Schema, now: str
) -> Owners:
    """Read who owns what; where nobody does, all of it was there before the first apply."""
    owners = managed_fields.read(live)
    if owners or live is None:
        return owners
    version = live.get("apiVersion", "")
    nobody = Owner.of(managed_fields.BEFORE_FIRST_APPLY, UPDATE, version, subresource)
    reset = managed_fields.reset_by(subresource, live.get("kind", ""))
    return _updated({}, nobody, compare({}, before, schema).without_under(reset), version, now)


def _owners_of_update(live: Json | None, updated: Json, subresource: str) -> Owners:
    """Read who owns what; a write to the object itself may state its managedFields anew."""
    if not subresource:
        if managed_fields.is_reset(updated):
            return {}
        stated = managed_fields.read(updated)
        if stated:
            return stated
    return managed_fields.read(live)


def _updated(owners: Owners, me: Owner, changes: Comparison, version: str, now: str) -> Owners:
    """Move what changed to one owner, who never conflicts."""
    left = managed_fields.taken(owners, changes.written.union(changes.removed), keeping=None)
    mine = managed_fields.stripped(changes.written)
    if mine:
        former = left.get(me)
        fields = former.fields.union(mine) if former else mine
        left[me] = Owned(fields, version, now)
    return left


def _conflicts(owners: Owners, changes: Comparison, me: Owner) -> list[Conflict]:
    return [
        Conflict(owner, path)
        for owner in sorted(owners, key=Owner.order)
        if owner != me
        for path in owners[owner].fields.intersection(changes.written)
    ]


def _settled(owners: Owners, me: Owner, changes: Comparison, moved: str | None) -> Owners:
    """Take from the others what this apply changed, and stamp mine if anything moved."""
    settled = managed_fields.taken(owners, changes.written.union(changes.removed), keeping=me)
    mine = settled.pop(me, None)
    fields = managed_fields.stripped(mine.fields) if mine else FieldSet()
    if mine and fields:
        settled[me] = Owned(fields, mine.api_version, moved or mine.time)
    return settled


def _pruned(merged: Json, owners: Owners, last: FieldSet, schema: Schema) -> Json:
    """Take out what this manager applied last time, no longer does, and nobody else owns."""
    if not last:
        return merged
    was_mine = last.with_named_fields(schema)
    whole = _all_fields(merged, schema)
    owned = managed_fields.union(one.fields for one in owners.values()).with_named_fields(schema)
    untouched = _all_fields(remove(merged, was_mine, schema), schema)
    held = remove(merged, whole.difference(untouched.union(owned)), schema)
    dangling = whole.difference(_all_fields(held, schema)).intersection(was_mine)
    return remove(merged, dangling, schema) if dangling else merged


def _all_fields(obj: Json, schema: Schema) -> FieldSet:
    return FieldSet.from_object(obj, schema, with_parents=False).with_named_fields(schema)


def _result(obj: Json, owners: Owners, schema: Schema) -> Applied:
    entries = managed_fields.write(owners)
    # Null is how a merge says that nothing is left; the API server stores no such field.
    whole: Json = without_nulls(obj, schema)
    whole.setdefault("metadata", {})["managedFields"] = entries
    return Applied(whole, entries)


def _without_times(obj: Json) -> Json:
    entries = (obj.get("metadata") or {}).get("managedFields") or []
    timeless = [{name: part for name, part in one.items() if name != "time"} for one in entries]
    bare = managed_fields.without(obj)
    return {**bare, "metadata": {**(bare.get("metadata") or {}), "managedFields": timeless}}
