"""Paths of the kinds that we use; others are asked of the server's discovery once."""

from dataclasses import dataclass
from urllib.parse import quote

from reconciler.model.refs import Json


@dataclass(frozen=True, slots=True)
class Resource:
    """Where a kind lives: `plural` in the paths of `api_version`."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of the collection (of all namespaces if empty), or of one object."""
        path = group_path(self.api_version)
        if self.namespaced and namespace:
            path = f"{path}/namespaces/{quote(namespace)}"
        path = f"{path}/{self.plural}"
        return f"{path}/{quote(name)}" if name else path


def group_path(api_version: str) -> str:
    """Return the path of a group and version: /api/v1, /apis/policy/v1."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


_KNOWN = (
    Resource("v1", "Namespace", "namespaces", namespaced=False),
    Resource("v1", "Node", "nodes", namespaced=False),
    Resource("v1", "Pod", "pods", namespaced=True),
    Resource("v1", "ConfigMap", "configmaps", namespaced=True),
    Resource("v1", "Event", "events", namespaced=True),
    Resource("v1", "Secret", "secrets", namespaced=True),
    Resource("v1", "ServiceAccount", "serviceaccounts", namespaced=True),
    Resource("authentication.k8s.io/v1", "TokenReview", "tokenreviews", namespaced=False),
    Resource(
        "authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
    ),
    Resource("coordination.k8s.io/v1", "Lease", "leases", namespaced=True),
    Resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", namespaced=True),
)

KNOWN = {(each.api_version, each.kind): each for each in _KNOWN}


def discovered(api_version: str, discovery: Json) -> dict[tuple[str, str], Resource]:
    """Read an APIResourceList; subresources are left out."""
    return {
        (api_version, each["kind"]): Resource(
            api_version, each["kind"], each["name"], bool(each["namespaced"])
        )
        for each in discovery["resources"]
        if "/" not in each["name"]
    }


def served_versions(groups: Json) -> frozenset[str]:
    """Read an APIGroupList: the `group/version` of all groups."""
    return frozenset(
        str(version.get("groupVersion"))
        for group in groups["groups"]
        for version in group.get("versions") or ()
    )
