"""Check a pod template: Kubernetes' schemas, its rules beyond them, Pod Security, our own names."""

from collections.abc import Iterator
from typing import Literal

from reconciler.core.mistakes import Mistake, below, shown
from reconciler.core.pod_parts import child
from reconciler.core.pod_security import check_baseline
from reconciler.core.podspec import check_pod_spec
from reconciler.core.references import check_references
from reconciler.core.shape_check import check
from reconciler.core.shapes import Shape
from reconciler.kube import names
from reconciler.model.refs import Json

_PREFIX = "gamekeeper.dev"


def check_template(
    template: Json, shape: Shape, level: Literal["privileged", "baseline"]
) -> tuple[Mistake, ...]:
    """Return the mistakes of a pod template; paths begin inside it."""
    found: list[Mistake] = []
    spec = template.get("spec")
    if isinstance(spec, dict):
        check(shape, spec, ("spec",), found)
        found.extend(below(("spec",), mistake) for mistake in check_pod_spec(spec))
        found.extend(below(("spec",), mistake) for mistake in check_references(spec))
    found.extend(_labels(template))
    if level == "baseline":
        found.extend(check_baseline(template))
    return tuple(found)


def _labels(template: Json) -> Iterator[Mistake]:
    for part in ("labels", "annotations"):
        for name, value in child(template, "metadata", part).items():
            at = ("metadata", part, name)
            prefix = name.rpartition("/")[0]
            problem = names.label_key_problem(name)
            if prefix == _PREFIX or prefix.endswith(f".{_PREFIX}"):
                message = f"{part} of {_PREFIX} are Gamekeeper's own"
                yield Mistake(at, message, "use a prefix of yours", "reserved-property", True)
            elif problem is not None:
                yield Mistake(at, f"{shown(name)}: {problem}", "", "name", at_key=True)
            if part == "labels" and isinstance(value, str):
                problem = names.label_value_problem(value)
                if problem is not None:
                    yield Mistake(at, f"{shown(value)}: {problem}", "", "name")
    for name, value in child(template, "spec", "nodeSelector").items():
        problem = names.label_key_problem(name)
        if problem is None and isinstance(value, str):
            problem = names.label_value_problem(value)
        if problem is not None:
            yield Mistake(("spec", "nodeSelector", name), problem, "", "name", at_key=True)
