"""Check a pod template: Kubernetes' schemas, its rules beyond them, Pod Security, our own names."""

from collections.abc import Iterator
from itertools import islice

from jsonschema.protocols import Validator

from reconciler.core.metadata_check import (
    KEY,
    SUCH_A_KEY,
    SUCH_A_VALUE,
    VALUE,
    check_metadata,
    is_bad_value,
)
from reconciler.core.mistakes import MOST_MISTAKES, Mistake, below, shown
from reconciler.core.pod_parts import child, entries
from reconciler.core.pod_restricted import check_restricted
from reconciler.core.pod_rules import CONTAINER
from reconciler.core.pod_security import check_baseline
from reconciler.core.podspec import check_pod_spec
from reconciler.core.references import check_references
from reconciler.core.schema_check import check
from reconciler.kube import names
from reconciler.model.refs import Json
from reconciler.model.specs import PodSecurity


def check_template(
    template: Json, validator: Validator, level: PodSecurity, version: str
) -> tuple[Mistake, ...]:
    """Return the mistakes of a pod template; paths begin inside it.

    `validator` is that of pod specs of the Kubernetes minor `version`.
    """
    found: list[Mistake] = []
    spec = template.get("spec")
    if isinstance(spec, dict):
        found.extend(check(validator, spec, ("spec",)))
        for judge in (check_pod_spec, check_references):
            found.extend(below(("spec",), mistake) for mistake in _some(judge(spec)))
        found.extend(_some(_restart_policies(spec, validator)))
    found.extend(_some(_labels(template)))
    if level != "privileged":
        found.extend(_some(_above(template, level, version)))
    return tuple(found)


def _above(template: Json, level: PodSecurity, version: str) -> Iterator[Mistake]:
    """Yield what is above a Pod Security level; what baseline forbids already is told once."""
    told = set()
    for mistake in check_baseline(template, version):
        told.add(mistake.path)
        yield mistake
    if level == "restricted":
        for mistake in check_restricted(template, version):
            if mistake.path not in told:
                yield mistake


def _some(mistakes: Iterator[Mistake]) -> Iterator[Mistake]:
    return islice(mistakes, MOST_MISTAKES)


def _restart_policies(spec: Json, validator: Validator) -> Iterator[Mistake]:
    """Refuse restart policies of plain containers where the version knows none of their rules."""
    if "restartPolicyRules" in child(validator.schema, "$defs", CONTAINER, "properties"):
        return
    for path, container in entries(spec, "containers", ("spec",)):
        if container.get("restartPolicy") is not None:
            fix = "take it out, or make it an init container to have a sidecar"
            message = "is for init containers in this Kubernetes version"
            yield Mistake((*path, "restartPolicy"), message, fix, "init-container", at_key=True)


def _labels(template: Json) -> Iterator[Mistake]:
    for mistake in check_metadata(child(template, "metadata")):
        yield below(("metadata",), mistake)
    for name, value in child(template, "spec", "nodeSelector").items():
        at = ("spec", "nodeSelector", name)
        if names.label_key_problem(name) is not None:
            yield Mistake(at, KEY, SUCH_A_KEY, "name", at_key=True)
        if is_bad_value(value):
            yield Mistake(at, f"{VALUE}, not {shown(value)}", SUCH_A_VALUE, "name")
