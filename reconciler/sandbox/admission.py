"""What the cluster adds to an object, or refuses, before it is checked and stored."""

from __future__ import annotations

from reconciler.sandbox import refusals
from reconciler.sandbox.defaults import containers
from reconciler.sandbox.kinds import NAMESPACE, NODE, POD, SERVICE_ACCOUNT, Kind
from reconciler.sandbox.requests import Json
from reconciler.sandbox.world import World

_ACCOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOLERATION_SECONDS = 300
_GONE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_PREEMPTION = "PreemptLowerPriority"
_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_PROTECTED = ("default", "kube-system", "kube-public")


def admit_namespace(world: World, kind: Kind, namespace: str, name: str) -> None:
    """Let content into a namespace. Raises Refused (404 missing, 403 terminating)."""
    if not kind.namespaced:
        return
    stored = world.store.get(NAMESPACE, "", namespace)
    if stored is None:
        raise refusals.not_found(NAMESPACE, namespace)
    if stored.fields[0] == "Terminating":
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        raise refusals.forbidden(kind, name, why, [cause])


def protect_namespace(kind: Kind, name: str) -> None:
    """Keep the namespaces that a cluster cannot lose. Raises Refused (403)."""
    if kind is NAMESPACE and name in _PROTECTED:
        raise refusals.forbidden(kind, name, "this namespace may not be deleted")


def admit_creation(world: World, kind: Kind, value: Json) -> None:
    """Add to a new object what admission adds. Raises Refused (403)."""
    if kind is POD:
        _pod(world, value)
    elif kind is NODE:
        _new_node(value)


def admit_update(kind: Kind, value: Json) -> None:
    """Add to a changed object what admission adds each time."""
    if kind is POD:
        _add_tolerations(value["spec"])


def _new_node(node: Json) -> None:
    # Also one that says it is ready: a controller takes the taint off when it has seen that.
    taints = node["spec"].get("taints") or []
    taint = {"key": _GONE_TAINTS[0], "effect": "NoSchedule"}
    if taint not in taints:
        node["spec"]["taints"] = [*taints, taint]


def _pod(world: World, pod: Json) -> None:
    spec = pod["spec"]
    _priority(pod, spec)
    _account(world, pod, spec)
    _add_tolerations(spec)


def _add_tolerations(spec: Json) -> None:
    tolerations = spec.get("tolerations") or []
    added = [_tolerance(key) for key in _GONE_TAINTS if not _tolerated(tolerations, key)]
    if tolerations or added:
        spec["tolerations"] = tolerations + added


def _tolerance(key: str) -> Json:
    return {
        "key": key,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": _TOLERATION_SECONDS,
    }


def _tolerated(tolerations: list[Json], key: str) -> bool:
    return any(
        one.get("key", "") in ("", key) and one.get("effect", "NoExecute") in ("", "NoExecute")
        for one in tolerations
    )


def _priority(pod: Json, spec: Json) -> None:
    named = spec.get("priorityClassName", "")
    if named and named not in _PRIORITIES:
        why = f"no PriorityClass with name {named} was found"
        raise refusals.forbidden(POD, pod["metadata"].get("name", ""), why)
    computed = _PRIORITIES.get(named, 0)
    if spec.get("priority", computed) != computed:
        why = (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {computed} from the given PriorityClass name"
        )
        raise refusals.forbidden(POD, pod["metadata"].get("name", ""), why)
    spec["priority"] = computed
    policy = spec.setdefault("preemptionPolicy", _PREEMPTION)
    if policy != _PREEMPTION:
        why = (
            f"the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; "
            f"priority admission controller computed {_PREEMPTION} from the given PriorityClass "
            "name"
        )
        raise refusals.forbidden(POD, pod["metadata"].get("name", ""), why)


def _account(world: World, pod: Json, spec: Json) -> None:
    name = spec.get("serviceAccountName") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    namespace = pod["metadata"]["namespace"]
    stored = world.store.get(SERVICE_ACCOUNT, namespace, name)
    if stored is None:
        why = (
            f"error looking up service account {namespace}/{name}: "
            f'serviceaccount "{name}" not found'
        )
        raise refusals.forbidden(POD, pod["metadata"].get("name", ""), why)
    account = stored.decode(SERVICE_ACCOUNT)
    if account.get("imagePullSecrets") and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = account["imagePullSecrets"]
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        wanted = account.get("automountServiceAccountToken", True)
    if wanted:
        _mount_token(world, spec)


def _mount_token(world: World, spec: Json) -> None:
    open_to = [
        container
        for container in containers(spec)
        if all(
            mount.get("mountPath") != _ACCOUNT_PATH for mount in container.get("volumeMounts") or ()
        )
    ]
    if not open_to:
        return
    name = f"kube-api-access-{world.ids.suffix()}"
    for container in open_to:
        mount = {"name": name, "readOnly": True, "mountPath": _ACCOUNT_PATH}
        container.setdefault("volumeMounts", []).append(mount)
    spec.setdefault("volumes", []).append({"name": name, "projected": _token_sources()})


def _token_sources() -> Json:
    root = {"key": "ca.crt", "path": "ca.crt"}
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [root]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
        ],
        "defaultMode": 0o644,
    }
