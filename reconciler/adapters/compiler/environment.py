"""The Jinja that templates may use: expressions, `if`, `for` and `set`; nothing is called.

Every `{{ }}` puts a mark into the text and its value beside it. The text is read as YAML and
the values are put where their marks stand, so that a value can never add structure or break
out of quotes, whatever it holds and wherever it stands (`skeleton.fill`).
"""

import json
import math
from collections.abc import Iterable, Mapping
from types import CodeType
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, nodes, pass_context
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

MARK = "\ue000"
"""Private use: a template that holds it is refused, so that every mark is ours."""

FILTERS = ("default", "dictsort", "items", "join", "length", "lower", "sort", "unique", "upper")
TESTS = ("boolean", "defined", "mapping", "none", "number", "sequence", "string", "undefined")

_STATEMENTS = (nodes.Template, nodes.Output, nodes.For, nodes.If, nodes.Assign)
_EXPRESSIONS = (
    nodes.Literal,
    nodes.Name,
    nodes.Pair,
    nodes.CondExpr,
    nodes.Filter,
    nodes.Test,
    nodes.Getitem,
    nodes.Getattr,
    nodes.Slice,
    nodes.Concat,
    nodes.Compare,
    nodes.Operand,
    nodes.BinExpr,
    nodes.UnaryExpr,
)
_WORDS = {
    nodes.Call: "calls something",
    nodes.Include: "includes another file",
    nodes.Import: "imports another file",
    nodes.FromImport: "imports another file",
    nodes.Extends: "extends another file",
    nodes.Macro: "defines a macro",
    nodes.FilterBlock: "filters its own text",
    nodes.AssignBlock: "keeps its own text as a value",
    nodes.CallBlock: "calls something",
    nodes.Block: "defines a block",
    nodes.With: "opens a `with`",
    nodes.Scope: "switches escaping",
}


_KNOWN: dict[str, CodeType] = {}
"""The code of our own templates, by their text: a worker has it from its zygote."""


class NotAllowed(TemplateError):
    """The template uses a part of Jinja that templates do not have here."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.lineno = line


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """One worker's Jinja; `values` are those of the render that is under way."""

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined,
            finalize=_mark,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            cache_size=0,
            # It tries to compute each part of an expression anew for whatever holds that part: of
            # two hundred attributes in a row it needs seconds. Without it the text is the same.
            optimized=False,
        )
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in FILTERS} | {"overlaid": overlaid}
        self.tests = {name: self.tests[name] for name in TESTS}
        self.values: list[Any] = []

    def compiled(self, source: str, name: str = "") -> Template:
        """Return the template of `source`.

        Raises TemplateError.
        """
        code = _KNOWN.get(source) or self._code_of(source)
        template = Template.from_code(self, code, self.globals)
        template.name = name
        return template

    def _code_of(self, source: str) -> CodeType:
        if MARK in source:
            raise NotAllowed("it holds the character U+E000, which stands for values here", 0)
        tree = self.parse(source)
        _check(tree)
        try:
            return self.compile(tree)
        except SyntaxError as error:  # Python's own limits; its line is none of the template's
            raise NotAllowed("it nests too deep", _deepest(tree)[1]) from error

    def know(self, sources: Iterable[str]) -> None:
        """Compile templates once for all that this process and those it forks do with them.

        For our own alone: a stranger's is compiled where it can do no harm.

        Raises TemplateError.
        """
        for source in sources:
            _KNOWN[source] = self._code_of(source)


def overlaid(below: Mapping[str, Any] | None, above: Mapping[str, Any] | None) -> dict[str, Any]:
    """Lay one map over another, maps in them too; what stands in `above` wins."""
    merged = dict(below or {})
    for name, value in (above or {}).items():
        under = merged.get(name)
        both_maps = isinstance(value, Mapping) and isinstance(under, Mapping)
        merged[name] = overlaid(under, value) if both_maps else value
    return merged


def as_json(value: Any) -> str:
    """Return `value` as JSON text.

    Raises UndefinedError for an undefined value, TypeError and ValueError for what is no JSON.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_no_json)


def _no_json(value: object) -> str:
    if isinstance(value, Undefined):
        return str(value)  # raises: it is a StrictUndefined
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


@pass_context
def _mark(context: Context, value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value)  # raises here, where the line is known
    values = context.environment.values  # type: ignore[attr-defined]  # is a TemplateEnvironment
    values.append(value)
    return f'"{MARK}{len(values) - 1}{MARK}"'


def _check(node: nodes.Node) -> None:
    """Refuse every part of Jinja that is not on the lists.

    Raises NotAllowed.
    """
    if not isinstance(node, _STATEMENTS + _EXPRESSIONS):
        what = _WORDS.get(type(node), f"uses {type(node).__name__}")
        raise NotAllowed(f"it {what}, which templates may not do", _line(node))
    if isinstance(node, nodes.Const) and node.value in (math.inf, -math.inf):
        raise NotAllowed("it writes a number larger than any that there is", node.lineno)
    if isinstance(node, nodes.For) and node.recursive:
        raise NotAllowed("it loops recursively, which templates may not do", node.lineno)
    for child in node.iter_child_nodes():
        _check(child)


def _deepest(node: nodes.Node) -> tuple[int, int]:
    """Return how many levels a part of a template has, and the line of the innermost."""
    levels, line = max(map(_deepest, node.iter_child_nodes()), default=(0, 0))
    return levels + 1, line or _line(node)


def _line(node: nodes.Node) -> int:
    """Return its line; Jinja wraps some statements in nodes that have none."""
    return node.lineno or next((child.lineno for child in node.iter_child_nodes()), 0)
