"""In a worker: render the additional objects of workloads and judge what they render to.

One answer a template and workload, in the order of the questions: a Finding list, or a manifest.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from reconciler.adapters.compiler import kit
from reconciler.adapters.compiler.codec import decode, encode
from reconciler.adapters.compiler.context import key_in
from reconciler.adapters.compiler.environment import TemplateEnvironment, as_json
from reconciler.adapters.compiler.limits import allow_cpu
from reconciler.adapters.compiler.rendering import generated, refusal
from reconciler.adapters.compiler.skeleton import Malformed, fill_with_places
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.object_check import check_object, completed
from reconciler.core.object_files import SUFFIX
from reconciler.core.places import Place, place_of_value
from reconciler.model.additional import Made
from reconciler.model.findings import Finding
from reconciler.model.specs import Permissions

Answer = Callable[[Any], None]


def serve_objects(setup: Any, items: Iterator[Any], answer: Answer) -> None:
    """Render and judge each of `items`, a template with the context of its workload."""
    environment = TemplateEnvironment()
    permissions = decode(Permissions, setup["permissions"])
    for item in items:
        allow_cpu(setup["cpu_seconds"])
        try:
            made = _made(environment, item, setup, permissions)
        except MemoryError:
            raise
        except Exception as error:  # whatever a template does is an answer, not our failure
            made = [_failed(item["file"], item["source"], error)]
        if isinstance(made, Made):
            answer({"made": encode(Made, made)})
        else:
            answer({"findings": [encode(Finding, finding) for finding in made]})
        allow_cpu(0)


def _made(
    environment: TemplateEnvironment, item: Any, setup: Any, permissions: Permissions
) -> Made | list[Finding]:
    file, source, context = item["file"], item["source"], item["context"]
    template, values = environment.compiled(source, file), environment.values
    text = generated(template, context, values, setup["output_bytes"])
    body, places = fill_with_places(text, values)
    if not isinstance(body, dict):
        raise Malformed(f"it renders to no object but to {type(body).__name__}")
    # A value may hold what is no JSON, or an undefined one: both are errors of the template.
    whole = as_json(body)
    if len(whole) > setup["output_bytes"]:
        raise Malformed(f"it renders to more than {setup['output_bytes']} bytes")
    body = json.loads(whole)
    key = key_in(context)
    mistakes = check_object(body, key, permissions, kit.spec_kit(), setup["version"])
    mistakes = mistakes or _misnamed(file, body["kind"])
    if mistakes:
        return [_finding(file, source, body, places, mistake) for mistake in mistakes]
    line, column = _at(source, *place_of_value(places, ("metadata", "name")))
    return Made(file, line, column, as_json(completed(body, key.namespace, context["labels"])))


def _misnamed(file: str, kind: str) -> list[Mistake]:
    name = file.rpartition("/")[2].removesuffix(SUFFIX)
    if name.partition("-")[0] == kind.lower():
        return []
    message = f"is {kind}, but the file is named {shown(name + SUFFIX)}"
    fix = f"name it {kind.lower()}{SUFFIX}, or {kind.lower()}-<what it is for>{SUFFIX}"
    return [Mistake(("kind",), message, fix, "file-name")]


def _is_plain(source: str) -> bool:
    """Whether what a template renders to has the lines of the template."""
    return "{%" not in source and "{#" not in source


def _at(source: str, line: int, column: int) -> tuple[int, int]:
    return (line, column) if _is_plain(source) else (0, 0)


def _finding(file: str, source: str, body: Any, places: Place, mistake: Mistake) -> Finding:
    found = Document(file, body, places).finding(mistake)
    if _is_plain(source):
        return found
    message = f"{found.message} (line {found.line} of what it renders to)"
    return Finding(file, 0, 0, found.path, message, found.fix, found.rule)


def _failed(file: str, source: str, error: Exception) -> Finding:
    told = refusal(error)
    line, message = told["line"], told["error"]
    if told["rendered_line"] and _is_plain(source):
        line = told["rendered_line"]
    elif told["rendered_line"]:
        message += f" (line {told['rendered_line']} of what it renders to)"
    column = 1 if line else 0
    return Finding(file, line, column, "", message, "correct the template", "template")
