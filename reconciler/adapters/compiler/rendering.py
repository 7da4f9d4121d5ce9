"""In a worker: render workloads through templates, one answer a template and workload.

The answers come in the order of the questions, so that our side knows at which template a
worker died.
"""

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

from jinja2 import Template, TemplateError

from reconciler.adapters.compiler.environment import TemplateEnvironment, as_json
from reconciler.adapters.compiler.limits import allow_cpu
from reconciler.adapters.compiler.skeleton import Malformed, fill
from reconciler.adapters.compiler.words import words_of

SUFFIX = ".yaml.j2"

Answer = Callable[[Any], None]


def warm(templates: Iterable[str]) -> None:
    """Make Jinja build its lexer and its tables, and compile our own templates.

    To compile them took two thirds of a render.
    """
    environment = TemplateEnvironment()
    environment.know(templates)
    environment.compiled("{% if true %}{{ 1 }}{% endif %}").render()


def serve_render(setup: Any, items: Iterator[Any], answer: Answer) -> None:
    """Compile the templates of `setup`, then render each context of `items` through them all."""
    environment = TemplateEnvironment()
    compiled: list[Template] = []
    for name, source in setup["templates"]:
        allow_cpu(setup["cpu_seconds"])
        try:
            compiled.append(environment.compiled(source, name))
        except (TemplateError, ArithmeticError, RecursionError, TypeError, ValueError) as error:
            answer(refusal(error))
        else:
            answer({})
    for context in items:
        allow_cpu(setup["cpu_seconds"])
        for template in compiled:
            answer(_outcome(template, context, environment.values, setup["output_bytes"]))
        allow_cpu(0)


def _outcome(
    template: Template, context: Any, values: list[Any], most_bytes: int
) -> dict[str, Any]:
    try:
        return {"json": _rendered(template, context, values, most_bytes)}
    except MemoryError:
        raise
    except Exception as error:  # whatever a template does is an answer, not our failure
        return refusal(error)


def _rendered(template: Template, context: Any, values: list[Any], most_bytes: int) -> str:
    document = fill(generated(template, context, values, most_bytes), values)
    _check_kind(template.name or "", document)
    text = as_json(document)
    if len(text) > most_bytes:
        raise Malformed(f"it renders to {len(text)} bytes; at most {most_bytes} are taken")
    return text


def generated(template: Template, context: Any, values: list[Any], most_bytes: int) -> str:
    """Return the text that a template makes, with marks for `values`, which are made anew.

    Raises Malformed where it is too long, and whatever the template does.
    """
    values.clear()
    pieces: list[str] = []
    length = 0
    for piece in template.generate(context):
        pieces.append(piece)
        length += len(piece)
        if length > most_bytes:
            raise Malformed(f"it renders to more than {most_bytes} bytes")
    return "".join(pieces)


def _check_kind(name: str, document: Any) -> None:
    promised = name.removesuffix(SUFFIX)
    if not isinstance(document, dict):
        raise Malformed(f"it renders to no object but to {type(document).__name__}")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind.lower() != promised:
        raise Malformed(f"it renders to kind {kind!r}, but its file is named after {promised!r}")
    for field, wanted in (("apiVersion", str), ("metadata", dict)):
        if not isinstance(document.get(field), wanted):
            raise Malformed(f"it renders to an object without {field}")


def refusal(error: Exception) -> dict[str, Any]:
    """Return what is told of a template that failed: the error, and the line where it is known."""
    line = getattr(error, "line", None) or getattr(error, "lineno", None)
    if line is None:
        line = _template_line(error.__traceback__)
    rendered = isinstance(error, Malformed)
    return {
        "error": words_of(error),
        "line": 0 if rendered else line,
        "rendered_line": line if rendered else 0,
    }


def _template_line(trace: TracebackType | None) -> int:
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
