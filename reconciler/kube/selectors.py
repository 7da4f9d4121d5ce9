"""Label and field selectors: the query texts, the objects, and what they match."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.kube import names
from reconciler.kube.json_types import Json
from reconciler.kube.selector_text import BadSelector as BadSelector
from reconciler.kube.selector_text import Term, field_terms, label_terms

_OPERATORS_OF_OBJECTS = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "!",
}


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A conjunction of requirements on labels; without any it selects everything."""

    terms: tuple[Term, ...] = ()
    selects_none: bool = False

    @staticmethod
    def parse_labels(text: str) -> "LabelSelector":
        """Read the query form, such as `app=web,tier in (a,b),!old`.

        Raises BadSelector with the API server's message.
        """
        return LabelSelector(label_terms(text))

    @staticmethod
    def from_object(obj: Json | None) -> "LabelSelector":
        """Read a selector object; None selects nothing, an empty one everything.

        Raises BadSelector for an operator or values that make no sense.
        """
        if obj is None:
            return LabelSelector(selects_none=True)
        labels = obj.get("matchLabels") or {}
        equal = tuple(Term(key, "=", (value,)) for key, value in sorted(labels.items()))
        return LabelSelector((*equal, *map(_term_of, obj.get("matchExpressions") or ())))

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Tell whether labels meet every requirement."""
        if self.selects_none:
            return False
        return all(_label_holds(term, labels or {}) for term in self.terms)


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A conjunction of equalities on fields."""

    terms: tuple[Term, ...] = ()

    @staticmethod
    def parse_fields(text: str) -> "FieldSelector":
        r"""Read the query form, such as `spec.nodeName=n1,status.phase!=Failed`; `\` escapes.

        Raises BadSelector with the API server's message.
        """
        return FieldSelector(field_terms(text))

    def matches(self, lookup: Callable[[str], str]) -> bool:
        """Tell whether the fields, looked up by their path, meet every requirement."""
        return all(
            (lookup(term.key) == term.values[0]) is (term.operator == "=") for term in self.terms
        )


def _term_of(expression: Json) -> Term:
    operator = _OPERATORS_OF_OBJECTS.get(expression.get("operator", ""))
    if operator is None:
        raise BadSelector(f'"{expression.get("operator")}" is not a valid label selector operator')
    key, values = expression.get("key", ""), tuple(expression.get("values") or ())
    problem = names.label_key_problem(key)
    if problem is not None:
        raise BadSelector(f'key: Invalid value: "{key}": {problem}')
    if operator in ("in", "notin") and not values:
        raise BadSelector(
            "values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
        )
    return Term(key, operator, values)


def _label_holds(term: Term, labels: Mapping[str, str]) -> bool:
    key, operator, values = term.key, term.operator, term.values
    if operator == "exists":
        return key in labels
    if operator == "!":
        return key not in labels
    if operator in ("!=", "notin"):
        return labels.get(key) not in values
    if operator in ("=", "in"):
        return labels.get(key) in values
    return _compares(operator, labels.get(key), values[0])


def _compares(operator: str, label: str | None, limit: str) -> bool:
    number, bound = _whole(label), _whole(limit)
    if number is None or bound is None:
        return False
    return number > bound if operator == "gt" else number < bound


def _whole(text: Any) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None
