"""Which objects a list or a watch is about."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.kube.selectors import BadSelector, FieldSelector, LabelSelector
from reconciler.sandbox import refusals
from reconciler.sandbox.kinds import POD, Kind
from reconciler.sandbox.requests import Request
from reconciler.sandbox.routes import Target
from reconciler.sandbox.store import Stored, key_of


@dataclass(frozen=True, slots=True)
class Filter:
    """A namespace, a label selector and a field selector together."""

    kind: Kind
    namespace: str
    labels: LabelSelector | None
    fields: FieldSelector | None

    @property
    def selects(self) -> bool:
        """Tell whether there is any selector."""
        return any(one is not None and one.terms for one in (self.labels, self.fields))

    @property
    def single(self) -> str:
        """Give the key of the one object that the field selector names, if it names one."""
        terms = self.fields.terms if self.fields is not None else ()
        named = [one.values for one in terms if (one.key, one.operator) == ("metadata.name", "=")]
        whole = bool(self.namespace) or not self.kind.namespaced
        return key_of(self.namespace, named[0][0]) if named and whole else ""

    def indexed(self, stored: Stored) -> bool:
        """Tell whether the server walks over an object at all, in a list of what is there now.

        It has an index of pods by their node.
        """
        if self.kind is not POD or self.fields is None:
            return True
        nodes = [
            one.values
            for one in self.fields.terms
            if one.key == "spec.nodeName" and one.operator == "="
        ]
        return all(self._field(stored, "spec.nodeName") in values for values in nodes)

    def matches(self, stored: Stored) -> bool:
        """Tell whether an object is meant."""
        if self.namespace and stored.namespace != self.namespace:
            return False
        if self.labels is not None and not self.labels.matches(stored.labels):
            return False
        return self.fields is None or self.fields.matches(lambda path: self._field(stored, path))

    def _field(self, stored: Stored, path: str) -> str:
        if path == "metadata.name":
            return stored.name
        if path == "metadata.namespace":
            return stored.namespace
        return stored.fields[self.kind.fields.index(path)]


def filter_of(request: Request, target: Target) -> Filter:
    """Read the selectors of a request. Raises Refused (400)."""
    labels, fields = request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
    try:
        by_label = LabelSelector.parse_labels(labels) if labels.strip() else None
    except BadSelector as error:
        raise refusals.bad_request(str(error)) from error
    try:
        by_field = FieldSelector.parse_fields(fields) if fields.strip() else None
    except BadSelector as error:
        raise refusals.bad_request(str(error)) from error
    return Filter(target.kind, target.namespace, by_label, by_field)


def check_fields(chosen: Filter) -> None:
    """Check that a kind can be selected by these fields. Raises Refused (400)."""
    kind, selector = chosen.kind, chosen.fields
    if selector is None:
        return
    own = ("metadata.name", "metadata.namespace") if kind.namespaced else ("metadata.name",)
    unknown = [term.key for term in selector.terms if term.key not in (*own, *kind.fields)]
    if not unknown:
        return
    why = f"field label not supported: {unknown[0]}"
    if kind is not POD and not kind.fields:
        known = ", ".join(f'"{path}"' for path in ("metadata.name", "metadata.namespace"))
        why = f'"{unknown[0]}" is not a known field selector: only {known}'
    raise refusals.bad_request(why)
