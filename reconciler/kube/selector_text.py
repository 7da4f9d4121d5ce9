"""Reading selector queries, with the API server's own words for what it cannot read."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from reconciler.kube import names

_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")
_SIGNS = frozenset(("==", "!=", "=", "!", "<", ">", "(", ")", ","))
_BINARY = {
    "in": "in",
    "notin": "notin",
    "=": "=",
    "==": "=",
    "!=": "!=",
    ">": "gt",
    "<": "lt",
}
_ESCAPABLE = "\\,="


class BadSelector(ValueError):
    """A selector that cannot be read; the text is the API server's."""


class Term(NamedTuple):
    """One requirement: a key, an operator (= != in notin exists ! gt lt) and its values."""

    key: str
    operator: str
    values: tuple[str, ...]


def label_terms(text: str) -> tuple[Term, ...]:
    """Read a label query.

    Raises BadSelector with the API server's message.
    """
    return tuple(_LabelQuery(text).terms())


def field_terms(text: str) -> tuple[Term, ...]:
    """Read a field query.

    Raises BadSelector with the API server's message.
    """
    terms = [_field_term(part, text) for part in sorted(_split_fields(text))]
    return tuple(term for term in terms if term.key or term.values[0])


class _LabelQuery:
    """A label query, read word by word; an empty one is the end of it."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._next = 0

    def terms(self) -> Iterator[Term]:
        while (word := self._peek()) != "":
            if word in _SIGNS and word != "!":
                raise BadSelector(f"found '{word}', expected: !, identifier, or 'end of string'")
            try:
                term = self._term()
            except BadSelector as problem:
                raise BadSelector(f"unable to parse requirement: {problem}") from problem
            yield term
            self._separator()

    def _separator(self) -> None:
        word = self._take()
        if word not in ("", ","):
            raise BadSelector(f"found '{word}', expected: ',' or 'end of string'")
        following = self._peek()
        if word == "," and (following == "" or (following in _SIGNS and following != "!")):
            raise BadSelector(f"found '{following}', expected: identifier after ','")

    def _term(self) -> Term:
        negated = self._peek() == "!"
        if negated:
            self._take()
        key = self._take()
        if key == "" or key in _SIGNS:
            raise BadSelector(f"found '{key}', expected: identifier")
        problem = names.label_key_problem(key)
        if problem is not None:
            raise BadSelector(f'<nil>: Invalid value: "{key}": {problem}')
        if negated:
            return Term(key, "!", ())
        if self._peek() in ("", ","):
            return Term(key, "exists", ())
        return _checked(Term(key, *self._comparison()))

    def _comparison(self) -> tuple[str, tuple[str, ...]]:
        word = self._take()
        operator = _BINARY.get(word)
        if operator is None:
            raise BadSelector(f"found '{word}', expected: in, notin, =, ==, !=, gt, lt")
        if operator in ("in", "notin"):
            return operator, self._values()
        if self._peek() in ("", ","):
            return operator, ("",)
        value = self._take()
        if value in _SIGNS:
            raise BadSelector(f"found '{value}', expected: identifier")
        return operator, (value,)

    def _values(self) -> tuple[str, ...]:
        word = self._take()
        if word != "(":
            raise BadSelector(f"found '{word}' expected: '('")
        if self._peek() not in (")", ",") and self._is_sign(self._peek()):
            raise BadSelector(f"found '{self._peek()}', expected: ',', ')' or identifier")
        values, value = [], ""
        while (word := self._take()) != ")":
            if word == ",":
                values.append(value)
                value = ""
                if self._peek() not in (")", ",") and self._is_sign(self._peek()):
                    raise BadSelector(f"found '{self._peek()}', expected: ',', or identifier")
            elif self._is_sign(word) or value:
                raise BadSelector(f"found '{word}', expected: ',' or ')'")
            else:
                value = word
        return tuple(sorted({*values, value}))

    @staticmethod
    def _is_sign(word: str) -> bool:
        return word == "" or word in _SIGNS

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        word = self._peek()
        self._next += 1
        return word


def _checked(term: Term) -> Term:
    problems = []
    for index, value in enumerate(term.values):
        place = f"values[{index}]"
        if term.operator in ("gt", "lt") and re.fullmatch(r"[+-]?[0-9]+", value) is None:
            problems.append(
                f'{place}: Invalid value: "{value}": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            )
        problem = names.label_value_problem(value)
        if problem is not None:
            problems.append(f'{place}[{term.key}]: Invalid value: "{value}": {problem}')
    if problems:
        raise BadSelector(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return term


def _split_fields(text: str) -> Iterator[str]:
    """Split at commas that are not escaped."""
    for found in re.finditer(r"(?:\\.|[^,\\]|\\$)+", text, re.DOTALL):
        yield found.group()


def _field_term(part: str, text: str) -> Term:
    found = re.match(r"(.*?)(!=|==|=)(.*)", part, re.DOTALL)
    if found is None:
        raise BadSelector(f"invalid selector: '{text}'; can't understand '{part}'")
    key, operator, value = found.groups()
    return Term(key, "!=" if operator == "!=" else "=", (_unescaped(value),))


def _unescaped(value: str) -> str:
    def one(found: re.Match[str]) -> str:
        sequence = found.group()
        if sequence in ("=", ","):
            # The API server prints the character's number.
            raise BadSelector(
                f"invalid field selector: unescaped character in value: {ord(sequence)}"
            )
        if len(sequence) < 2 or sequence[1] not in _ESCAPABLE:
            raise BadSelector(f"invalid field selector: invalid escape sequence: {sequence}")
        return sequence[1]

    return re.sub(r"\\.|\\$|[=,]", one, value, flags=re.DOTALL)
