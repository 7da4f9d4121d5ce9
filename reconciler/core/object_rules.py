"""Rules of one additional object beside its schema: its kind, its metadata, what it may do.

Apart from the schemas, so that who checks what a worker made loads none of what workers judge with.
"""

from collections.abc import Iterator

from reconciler.core.metadata_check import check_metadata
from reconciler.core.mistakes import Mistake, below, likely, shown
from reconciler.core.own_objects import ADDED, own_mistakes
from reconciler.core.pod_parts import child, entries
from reconciler.kube import names
from reconciler.model.additional import ALLOWABLE
from reconciler.model.labels import SENSITIVE
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Permissions

_METADATA = ("name", "namespace", "labels", "annotations")
RESERVED = ("gamekeeper-", "kube-root-ca.crt")
"""How names begin that are ours, or Kubernetes' own: the records of names stand beside rooms."""
_KIND_AT = ("kind",)
_NAME_AT = ("metadata", "name")


def check_completed(
    body: Json, key: WorkloadKey, permissions: Permissions, labels: Json
) -> list[Mistake]:
    """Return what a worker may not have made: the same again, but for Kubernetes' schemas.

    Whoever took a worker over says what they like: not in another namespace, of another kind or
    for another workload than it was asked for.
    """
    refused = refused_kind(body, permissions)
    if refused is not None:
        return [refused]
    kind, metadata = body["kind"], child(body, "metadata")
    written = child(metadata, "labels")
    own = {name: value for name, value in written.items() if name not in labels}
    found = list(metadata_mistakes(kind, {**metadata, "labels": own}, key.namespace))
    sound = child(metadata, "annotations") == metadata.get("annotations", {})
    namespace = None if kind == "Namespace" else key.namespace
    if metadata.get("namespace") != namespace or written != {**own, **labels} or not sound:
        found.append(Mistake(("metadata",), "is not that of the workload that asked for it"))
    found.extend(particular_mistakes(kind, body, key))
    return found


def refused_kind(body: Json, permissions: Permissions) -> Mistake | None:
    """Return why an object of this kind may not be made, None where it may."""
    kind = body.get("kind")
    if kind == "Secret":
        message = "a Secret does not belong in Git: whoever can read the repository can read it"
        fix = "make it in the namespace by other means, and name it in the template"
        return Mistake(_KIND_AT, message, fix, "secret-in-git")
    if not isinstance(kind, str) or kind not in ALLOWABLE:
        near = likely(kind, ALLOWABLE)
        fix = f"did you mean {near}?" if near else f"known kinds: {', '.join(sorted(ALLOWABLE))}"
        return Mistake(_KIND_AT, f"{shown(kind)} is no kind of additional object", fix, "kind")
    if kind not in permissions.kinds:
        allowed = ", ".join(permissions.kinds) or "none"
        message = f"whoever runs Gamekeeper does not let this repository make a {kind}"
        fix = f"have {kind} added to --allow-kinds; allowed: {allowed}"
        return Mistake(_KIND_AT, message, fix, "kind-not-allowed")
    if body.get("apiVersion") != ALLOWABLE[kind]:
        message = f"must be {ALLOWABLE[kind]}, not {shown(body.get('apiVersion'))}"
        return Mistake(("apiVersion",), message, f"write {ALLOWABLE[kind]}", "api-version")
    return None


def metadata_mistakes(kind: str, metadata: Json, namespace: str) -> Iterator[Mistake]:
    """Yield the mistakes of an object's name, namespace, labels and annotations."""
    name = metadata.get("name")
    if not isinstance(name, str):
        yield Mistake(("metadata",), "name is missing", "add name:", "missing-property", True)
    else:
        judge = names.label_problem if kind == "Service" else names.subdomain_problem
        problem = judge(name)
        if problem is not None:
            yield Mistake(_NAME_AT, problem, "choose another name", "name")
        elif name.startswith(RESERVED):
            message = f"{shown(name)} is reserved"
            yield Mistake(_NAME_AT, message, "choose another name", "reserved-name")
    if metadata.get("namespace", namespace) != namespace:
        message = f"is that of the rooms, {shown(namespace)}, and no other"
        yield Mistake(("metadata", "namespace"), message, "take it out", "namespace")
    for other in metadata:
        if other not in _METADATA:
            message = f"only {', '.join(_METADATA)} may be written here"
            at = ("metadata", other)
            yield Mistake(at, message, "take it out", "unknown-property", at_key=True)
    for mistake in check_metadata(metadata, (SENSITIVE,)):
        yield below(("metadata",), mistake)
    sensitive = child(metadata, "annotations").get(SENSITIVE, "true")
    if sensitive not in ("true", "false"):
        message = f'must be "true" or "false", not {shown(sensitive)}'
        yield Mistake(("metadata", "annotations", SENSITIVE), message, 'write "true"', "enum")


def _service(body: Json, _namespace: str) -> Iterator[Mistake]:
    """Refuse what takes other people's traffic, or sends the cluster's outside."""
    spec = child(body, "spec")
    if spec.get("externalIPs"):
        message = "takes the traffic to these addresses from everybody in the cluster"
        yield Mistake(("spec", "externalIPs"), message, "take it out", "service", at_key=True)
    if spec.get("type") == "ExternalName":
        message = "is a name for somebody outside of the cluster"
        yield Mistake(("spec", "type"), message, "let the game ask that host itself", "service")


def _role_binding(body: Json, namespace: str) -> Iterator[Mistake]:
    """Bind nobody but service accounts of this namespace, to nothing but a Role in it."""
    role = child(body, "roleRef")
    if role.get("kind") != "Role":
        at: tuple[str | int, ...] = ("roleRef", "kind")
        message = f"must be Role, not {shown(role.get('kind'))}: what is granted stands beside it"
        yield Mistake(at, message, "write a Role in a template of its own", "role-binding")
    for at, subject in entries(body, "subjects"):
        if subject.get("kind") != "ServiceAccount":
            message = f"must be ServiceAccount, not {shown(subject.get('kind'))}"
            yield Mistake((*at, "kind"), message, "bind the rooms' account", "role-binding")
        elif subject.get("namespace", namespace) != namespace:
            message = f"must be {shown(namespace)}: other namespaces' accounts get nothing here"
            yield Mistake((*at, "namespace"), message, "take it out", "role-binding")


_PARTICULAR = {"Service": _service, "RoleBinding": _role_binding}


def particular_mistakes(kind: str, body: Json, key: WorkloadKey) -> Iterator[Mistake]:
    """Yield what one kind alone may not ask for, beside the rooms of `key`."""
    if kind in _PARTICULAR:
        yield from _PARTICULAR[kind](body, key.namespace)
    elif kind in ADDED:
        yield from own_mistakes(body, key)
