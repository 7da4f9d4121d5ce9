"""Check one document: its schema, and what a schema cannot say."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from reconciler.core.autoscaling_checks import check_autoscaling
from reconciler.core.compile import canonical
from reconciler.core.copying import check_copies
from reconciler.core.freeze_windows import check_freeze
from reconciler.core.ignoring import check_ignore
from reconciler.core.mistakes import Mistake, below, listed, shown
from reconciler.core.pod_parts import child, text
from reconciler.core.port_checks import check_ports
from reconciler.core.report_checks import check_reports
from reconciler.core.schema_check import check
from reconciler.core.spec_files import MOST_SPEC_BYTES
from reconciler.core.spec_kit import SpecKit
from reconciler.core.suspension import check_suspend
from reconciler.core.template_check import check_template
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.specs import Config, Permissions

_NOTHING = (0, "0%")
_NOT_OURS = "is none of the namespaces that whoever runs Gamekeeper lets this repository use"
_NONE = "may not be used: whoever runs Gamekeeper lets this repository use no namespace"
_ASK = "have it added to --allow-namespaces"
_BRANCH = ("spec", "writeBack", "branch")


def check_config(value: Json, kit: SpecKit, tracked: str = "") -> list[Mistake]:
    """Return the mistakes of a Config on the branch `tracked`, "" where that is not known."""
    found = check(kit.kinds["Config"], value)
    version = child(value, "spec").get("kubernetesVersion", Config().kubernetes_version)
    if not found and version not in kit.versions:
        known = ", ".join(kit.versions)
        message = f"the definitions of Kubernetes {version} are not installed"
        fix = f"installed are {known}"
        found.append(Mistake(("spec", "kubernetesVersion"), message, fix, "version"))
    if not found:
        found.extend(check_freeze(child(value, "spec").get("freeze") or [], kit.zones))
    if not found and tracked:
        found.extend(_branch(child(child(value, "spec"), "writeBack").get("branch", ""), tracked))
    return found


def _branch(branch: str, tracked: str) -> Iterator[Mistake]:
    """Yield that git cannot keep a branch beside the tracked one: one is a folder to the other."""
    if branch.startswith(f"{tracked}/") or (branch and tracked.startswith(f"{branch}/")):
        message = f"git cannot have {shown(branch)} beside the tracked branch {shown(tracked)}"
        fix = f"write {branch.replace('/', '-')}" if branch.startswith(tracked) else "write counts"
        yield Mistake(_BRANCH, message, fix, "branch")


def doubt_branch(config: Config, tracked: str) -> Iterator[Mistake]:
    """Yield a warning where the branch of counts of a valid Config is the tracked one itself."""
    if tracked and config.write_back.branch == tracked:
        message = f"{shown(tracked)} is the tracked branch: counts are not kept apart from it"
        fix = "take the line out, or name another branch, such as counts"
        yield Mistake(_BRANCH, message, fix, "branch", severity=Severity.WARNING)


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
    found.extend(check_suspend(spec))
    found.extend(check_ignore(spec))
    namespace = text(spec, "namespace") or text(child(value, "metadata"), "name")
    found.extend(check_copies(spec, namespace, permissions))
    found.extend(check_autoscaling(spec, kit.policies, permissions.egress))
    template = spec.get("template")
    if isinstance(template, dict):
        level = permissions.pod_security
        content = (version, level, canonical(template))
        mistakes = kit.remembered(
            content, lambda: check_template(template, kit.pod_spec(version), level, version)
        )
        found.extend(below(("spec", "template"), mistake) for mistake in mistakes)
    found.extend(check_ports(value))
    return found


def _namespace(kind: str, value: Json, permissions: Permissions) -> Iterator[Mistake]:
    named = text(child(value, "spec"), "namespace") if kind == "Fleet" else ""
    name = named or text(child(value, "metadata"), "name")
    at = ("spec", "namespace") if named else ("metadata", "name")
    if name not in permissions.reserved_namespaces and not name.startswith("kube-"):
        allowed = permissions.namespaces
        if name and not any(fnmatchcase(name, each) for each in allowed):
            why, fix = f"{_NOT_OURS} ({listed(allowed)})", f"choose one of those, or {_ASK}"
            if not allowed:
                why, fix = _NONE, _ASK
            yield Mistake(at, f"{shown(name)} {why}", fix, "namespace-not-allowed")
        return
    message, fix = f"{shown(name)} is reserved", "choose another one"
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
