"""The `managedFields` of an object: who wrote which field, how and when."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reconciler.kube.fieldpaths import Path, field
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import Json

APPLY = "Apply"
UPDATE = "Update"
BEFORE_FIRST_APPLY = "before-first-apply"

_MOST_UPDATERS = 10
_ANCIENT = "ancient-changes"
_NEVER_OWNED = FieldSet.of(
    (field("apiVersion"),),
    (field("kind"),),
    (field("metadata"),),
    *(
        (field("metadata"), field(name))
        for name in (
            "clusterName",
            "creationTimestamp",
            "generation",
            "managedFields",
            "name",
            "namespace",
            "resourceVersion",
            "selfLink",
            "uid",
        )
    ),
)
_RESET_BY: Mapping[str, tuple[Path, ...]] = {
    "": ((field("status"),),),
    "finalize": ((field("status"),),),
    "status": ((field("spec"),),),
}
_RESET_BY_POD_STATUS: tuple[Path, ...] = (
    (field("spec"),),
    (field("metadata"), field("deletionTimestamp")),
    (field("metadata"), field("ownerReferences")),
)


class Owner(NamedTuple):
    """Who wrote: the same name applying and updating are two owners, and so are subresources."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    @staticmethod
    def of(manager: str, operation: str, api_version: str, subresource: str) -> "Owner":
        """Make an owner; one who applies is the same in every version."""
        version = "" if operation == APPLY else api_version
        return Owner(manager, operation, version, subresource)

    def order(self) -> str:
        """Give the sort key of an owner where the API server lists owners."""
        parts = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return json.dumps({name: part for name, part in parts.items() if part})

    def __str__(self) -> str:
        named = f'"{self.manager}"'
        if self.subresource:
            named += f' with subresource "{self.subresource}"'
        return f"{named} using {self.api_version}" if self.operation == UPDATE else named


@dataclass(frozen=True, slots=True)
class Owned:
    """What an owner wrote, in which version of the API, and when (RFC 3339)."""

    fields: FieldSet
    api_version: str
    time: str | None


Owners = dict[Owner, Owned]


def read(obj: Json | None) -> Owners:
    """Read the owners of an object's fields; none where its managedFields make no sense."""
    entries = ((obj or {}).get("metadata") or {}).get("managedFields") or ()
    try:
        return dict(map(_read_entry, entries))
    except (KeyError, TypeError, AttributeError):
        return {}


def is_reset(obj: Json) -> bool:
    """Tell whether an object asks to forget its owners: by an empty list or an empty entry."""
    return (obj.get("metadata") or {}).get("managedFields") in ([], [{}])


def write(owners: Owners) -> list[Any]:
    """Write the owners as managedFields: who applies before who updates, then by time and name."""
    ordered = sorted(
        owners.items(),
        key=lambda one: (
            one[0].operation,
            one[1].time or "",
            one[0].manager,
            one[1].api_version,
            one[0].subresource,
        ),
    )
    return [_written_entry(owner, owned) for owner, owned in ordered]


def without(obj: Json) -> Json:
    """Give the object without its managedFields; the rest is shared."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    rest = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**obj, "metadata": rest}


def stripped(fields: FieldSet) -> FieldSet:
    """Leave out the fields that nobody owns, such as an object's name."""
    return fields.difference(_NEVER_OWNED)


def reset_by(subresource: str, kind: str) -> tuple[Path, ...]:
    """Name what a write to this subresource ('' is the object itself) cannot change."""
    if subresource == "status" and kind == "Pod":
        return _RESET_BY_POD_STATUS
    return _RESET_BY.get(subresource, ())


def taken(owners: Owners, gone: FieldSet, keeping: Owner | None) -> Owners:
    """Take fields away from all owners but one; who is left with none is left out."""
    left = {
        owner: owned
        if owner == keeping
        else Owned(owned.fields.difference(gone), owned.api_version, owned.time)
        for owner, owned in owners.items()
    }
    return {owner: owned for owner, owned in left.items() if owned.fields}


def capped(owners: Owners) -> Owners:
    """Merge the oldest of too many updaters, version by version, into one."""
    updaters = sorted(
        (owner for owner in owners if owner.operation == UPDATE),
        key=lambda owner: (owners[owner].time or "", owner),
    )
    surplus = len(updaters) - _MOST_UPDATERS
    left, first_of = dict(owners), dict[str, Owner]()
    for owner in updaters:
        if surplus <= 0:
            break
        if owner.api_version not in first_of:
            first_of[owner.api_version] = owner
            continue
        bucket = Owner.of(_ANCIENT, UPDATE, owner.api_version, "")
        older = left.get(bucket) or left.pop(first_of[owner.api_version])
        newer = left.pop(owner)
        left[bucket] = Owned(older.fields.union(newer.fields), owner.api_version, newer.time)
        surplus -= 1
    return left


def union(sets: Iterable[FieldSet]) -> FieldSet:
    """Give the fields of all the sets."""
    return FieldSet(frozenset().union(*(fields.paths for fields in sets)))


def _read_entry(entry: Json) -> tuple[Owner, Owned]:
    api_version = entry.get("apiVersion", "")
    owner = Owner.of(
        entry.get("manager", ""), entry["operation"], api_version, entry.get("subresource", "")
    )
    fields = FieldSet.from_fields_v1(entry.get("fieldsV1") or {})
    return owner, Owned(fields, api_version, entry.get("time"))


def _written_entry(owner: Owner, owned: Owned) -> Json:
    entry: Json = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.to_fields_v1(),
    }
    if owned.time is not None:
        entry["time"] = owned.time
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry
