"""Additional objects: what a repository may ask for beside rooms, where the operator allows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.model.findings import Finding
from reconciler.model.refs import WorkloadKey

_RBAC = "rbac.authorization.k8s.io/v1"
KINDS: Mapping[str, str] = {
    "LimitRange": "v1",
    "ResourceQuota": "v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "ConfigMap": "v1",
    "Role": _RBAC,
    "RoleBinding": _RBAC,
    "Service": "v1",
}
"""What an operator can allow beside rooms, with its apiVersion, in the order of applying it."""
OWN: Mapping[str, str] = {
    "Namespace": "v1",
    "ServiceAccount": "v1",
    "PodDisruptionBudget": "policy/v1",
}
"""Objects of ours that each workload has, to which an operator can let a repository add."""
ALLOWABLE: Mapping[str, str] = {**KINDS, **OWN}
"""Everything that an operator can allow."""


@dataclass(frozen=True, slots=True)
class Template:
    """A template of a repository. `problem` says why it cannot even be read as text."""

    file: str
    text: str
    problem: Finding | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A manifest as JSON, from the template `file`, in which its name stands at line and column."""

    file: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the templates of one workload."""

    key: WorkloadKey
    made: tuple[Made, ...] = ()
    findings: tuple[Finding, ...] = ()
