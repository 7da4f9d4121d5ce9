"""What other people's clusters do to objects: policies of one namespace deny or change them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from reconciler.model.refs import Json
from tests.controlplane.api import Api
from tests.controlplane.cluster import ControlPlane
from tests.e2e.processes import until

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
ACTIVE_SECONDS = 30.0
ANY = {"apiGroups": [""], "apiVersions": ["v1"]}


def _of(namespace: str) -> Json:
    """Choose the objects of one namespace, and the namespace itself."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}


@contextmanager
def denying(api: Api, namespace: str, message: str) -> Iterator[None]:
    """Deny every new pod of a namespace for a block, with this message."""
    rules = [{**ANY, "operations": ["CREATE"], "resources": ["pods"]}]
    spec: Json = {
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": "false", "message": message}],
    }
    bound = {"validationActions": ["Deny"], "matchResources": _of(namespace)}
    with _policy(api, "validating", f"deny-{namespace}", spec, bound):
        until("pods are denied", lambda: message in _said_of_a_pod(api, namespace), ACTIVE_SECONDS)
        yield


@contextmanager
def injecting(api: Api, namespace: str) -> Iterator[None]:
    """Add to every new pod of a namespace, and to the namespace whenever it is written.

    A pod gets a container, a label and a toleration, the namespace a label and the level
    `baseline` of Pod Security.
    """
    pod = (
        'Object{metadata: Object.metadata{labels: {"example.com/mesh": "on"}}, spec: Object.spec{'
        'containers: [Object.spec.containers{name: "mesh", image: "registry.example/mesh:1"}]}}'
    )
    patch = (
        '[JSONPatch{op: "add", path: "/spec/tolerations/-", value: Object.spec.tolerations{'
        'key: "example.com/mesh", operator: "Exists", effect: "NoSchedule"}}]'
    )
    marks = '{"example.com/team": "net", "pod-security.kubernetes.io/enforce": "baseline"}'
    space = f"Object{{metadata: Object.metadata{{labels: {marks}}}}}"
    with (
        _changing(api, f"pods-{namespace}", namespace, "pods", [pod], [patch]),
        _changing(api, f"space-{namespace}", namespace, "namespaces", [space], []),
    ):
        yield


@contextmanager
def _changing(
    api: Api,
    name: str,
    namespace: str,
    resource: str,
    applied: Sequence[str],
    patched: Sequence[str],
) -> Iterator[None]:
    operations = ["CREATE"] if resource == "pods" else ["CREATE", "UPDATE"]
    rules = [{**ANY, "operations": operations, "resources": [resource]}]
    spec: Json = {
        "matchConstraints": {"resourceRules": rules},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [
            *(
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": each}}
                for each in applied
            ),
            *({"patchType": "JSONPatch", "jsonPatch": {"expression": each}} for each in patched),
        ],
    }
    with _policy(api, "mutating", name, spec, {"matchResources": _of(namespace)}):
        yield


@contextmanager
def _policy(api: Api, kind: str, name: str, spec: Json, bound: Json) -> Iterator[None]:
    """Make a policy with its binding; both are gone when the block has ended."""
    policies = f"{ADMISSION}/{kind}admissionpolicies"
    bindings = f"{ADMISSION}/{kind}admissionpolicybindings"
    binding = {"metadata": {"name": name}, "spec": {"policyName": name, **bound}}
    try:
        api.demand("POST", policies, {"metadata": {"name": name}, "spec": spec})
        api.demand("POST", bindings, binding)
        yield
    finally:
        api.ask("DELETE", f"{bindings}/{name}")
        api.ask("DELETE", f"{policies}/{name}")


def _said_of_a_pod(api: Api, namespace: str) -> str:
    """Return what the server says of a pod that somebody would make there."""
    spec = {"containers": [{"name": "c", "image": "registry.example/try:1"}]}
    body = {"metadata": {"name": "try"}, "spec": spec}
    answer = api.ask("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", body)
    return str(answer.body.get("message", ""))


def asked_for(cluster: ControlPlane, namespace: str, account: str, since: float) -> list[Json]:
    """Return the POSTs of pods of a namespace by an account after `since` (Unix seconds)."""
    user = "system:serviceaccount:" + account.replace("/", ":")
    found = []
    for event in cluster.audited(f'"namespace":"{namespace}"', '"verb":"create"'):
        ref = event["objectRef"]
        is_room = ref["resource"] == "pods" and not ref.get("subresource")
        if is_room and event["user"]["username"] == user and _at(event) > since:
            found.append(event)
    return found


def _at(event: Json) -> float:
    return datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
