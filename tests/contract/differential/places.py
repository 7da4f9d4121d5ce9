"""Where the kinds of a run live in the API."""

from __future__ import annotations

from dataclasses import dataclass

CORE = "/api/v1"


@dataclass(frozen=True, slots=True)
class Place:
    """One kind and its path; `weight` says how often a run is about it."""

    kind: str
    plural: str
    weight: int
    group: str = ""
    namespaced: bool = True
    has_status: bool = False

    @property
    def api_version(self) -> str:
        """Give `v1` or `group/v1`."""
        return f"{self.group}/v1" if self.group else "v1"

    def collection(self, namespace: str) -> str:
        """Give the path of the collection."""
        root = f"/apis/{self.group}/v1" if self.group else CORE
        inside = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{inside}/{self.plural}"


POD = Place("Pod", "pods", 10, has_status=True)
NODE = Place("Node", "nodes", 3, namespaced=False, has_status=True)
BUDGET = Place("PodDisruptionBudget", "poddisruptionbudgets", 3, "policy", has_status=True)
EVENT = Place("Event", "events", 2)
CONFIG_MAP = Place("ConfigMap", "configmaps", 5)
SECRET = Place("Secret", "secrets", 3)
ACCOUNT = Place("ServiceAccount", "serviceaccounts", 2)
LEASE = Place("Lease", "leases", 2, "coordination.k8s.io")
NAMESPACE = Place("Namespace", "namespaces", 2, namespaced=False, has_status=True)

PLACES = (POD, NODE, BUDGET, EVENT, CONFIG_MAP, SECRET, ACCOUNT, LEASE, NAMESPACE)
