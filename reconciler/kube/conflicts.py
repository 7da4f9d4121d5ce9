"""Why a server-side apply was refused: who else holds a field, and with another value."""

from dataclasses import dataclass

from reconciler.kube import fieldpaths
from reconciler.kube.fieldpaths import Path
from reconciler.kube.fieldsets import FieldSet
from reconciler.kube.json_types import Json
from reconciler.kube.managed_fields import Owner


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that another owner holds with another value."""

    owner: Owner
    path: Path

    @property
    def field(self) -> str:
        """The path as people read it."""
        return fieldpaths.text(self.path)

    @property
    def message(self) -> str:
        """Who is in the way, in the API server's words."""
        return f"conflict with {self.owner}"


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Why an apply was refused; `force` would take the fields over."""

    conflicts: tuple[Conflict, ...]

    @property
    def message(self) -> str:
        """All conflicts, in the API server's words."""
        if len(self.conflicts) == 1:
            only = self.conflicts[0]
            return f"Apply failed with 1 conflict: {only.message}: {only.field}"
        by_owner: dict[Owner, list[str]] = {}
        for conflict in self.conflicts:
            by_owner.setdefault(conflict.owner, []).append(f"\n- {conflict.field}")
        told = [
            f"conflicts with {owner}:{''.join(by_owner[owner])}"
            for owner in sorted(by_owner, key=Owner.order)
        ]
        return f"Apply failed with {len(self.conflicts)} conflicts: " + "\n".join(told)

    def outside(self, allowed: FieldSet) -> "Conflicts | None":
        """Leave out the conflicts over these fields; None where no other is left."""
        left = tuple(one for one in self.conflicts if not allowed.contains(one.path))
        return Conflicts(left) if left else None

    @property
    def causes(self) -> list[Json]:
        """The conflicts as the causes of a Status."""
        return [
            {"reason": "FieldManagerConflict", "message": one.message, "field": one.field}
            for one in self.conflicts
        ]
