"""Check one document: its schema, and what a schema cannot say."""

from collections.abc import Iterator

from reconciler.core.compile import canonical
from reconciler.core.mistakes import Mistake, below, shown
from reconciler.core.pod_parts import child, text
from reconciler.core.port_checks import check_ports
from reconciler.core.report_checks import check_reports
from reconciler.core.schema_check import check
from reconciler.core.spec_kit import SpecKit
from reconciler.core.template_check import check_template
from reconciler.model.refs import Json
from reconciler.model.specs import Config, Permissions

MOST_SPEC_BYTES = 128 * 1024
"""The accepted spec is kept in a record of 256 KiB beside much else."""
_NOTHING = (0, "0%")


def check_config(value: Json, kit: SpecKit) -> list[Mistake]:
    """Return the mistakes of a Config document."""
    found = check(kit.kinds["Config"], value)
    version = child(value, "spec").get("kubernetesVersion", Config().kubernetes_version)
    if not found and version not in kit.versions:
        known = ", ".join(kit.versions)
        message = f"the definitions of Kubernetes {version} are not installed"
        fix = f"installed are {known}"
        found.append(Mistake(("spec", "kubernetesVersion"), message, fix, "version"))
    return found


def check_workload(
    value: Json, kit: SpecKit, permissions: Permissions, version: str
) -> list[Mistake]:
    """Return the mistakes of a Scheduler or Fleet; templates are held to Kubernetes `version`."""
    size = len(canonical(value).encode(errors="replace"))
    if size > MOST_SPEC_BYTES:
        message = f"the document has {size} bytes as JSON; at most {MOST_SPEC_BYTES} are taken"
        return [Mistake((), message, "move long texts to a ConfigMap", "size")]
    kind = "Fleet" if value.get("kind") == "Fleet" else "Scheduler"
    found = check(kit.kinds[kind], value)
    found.extend(_namespace(kind, value, permissions))
    spec = child(value, "spec")
    found.extend(_rollout(spec))
    found.extend(check_reports(spec))
    template = spec.get("template")
    if isinstance(template, dict):
        level = permissions.pod_security
        content = (version, level, canonical(template))
        mistakes = kit.remembered(
            content, lambda: check_template(template, kit.pod_spec(version), level)
        )
        found.extend(below(("spec", "template"), mistake) for mistake in mistakes)
    found.extend(check_ports(value))
    return found


def _namespace(kind: str, value: Json, permissions: Permissions) -> Iterator[Mistake]:
    named = text(child(value, "spec"), "namespace") if kind == "Fleet" else ""
    name = named or text(child(value, "metadata"), "name")
    if name not in permissions.reserved_namespaces and not name.startswith("kube-"):
        return
    message, fix = f"{shown(name)} is reserved", "choose another one"
    at = ("spec", "namespace") if named else ("metadata", "name")
    if not named:
        message += f": a {kind.lower()}'s name is also its namespace"
        fix = "write spec.namespace" if kind == "Fleet" else "choose another name"
    yield Mistake(at, message, fix, "reserved-name")


def _rollout(spec: Json) -> Iterator[Mistake]:
    rollout = child(spec, "rollout")
    surge, unavailable = rollout.get("maxSurge", "25%"), rollout.get("maxUnavailable", 0)
    if surge in _NOTHING and unavailable in _NOTHING and not isinstance(surge, bool):
        message = "maxSurge and maxUnavailable are both 0: no room could ever be replaced"
        yield Mistake(("spec", "rollout"), message, "write maxSurge: 1", "rollout", at_key=True)
