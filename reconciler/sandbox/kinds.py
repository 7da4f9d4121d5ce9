"""The kinds that the sandbox serves, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_STANDARD = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A path below an object, with the kind that it speaks."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its names, its place in the API and what is particular to it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    fields: tuple[str, ...] = ()  # selectable besides metadata.name and metadata.namespace
    generation: bool = False
    answers_object: bool = False  # DELETE answers the object, not a Status
    verbs: tuple[str, ...] = _STANDARD
    stored: bool = True

    @property
    def api_version(self) -> str:
        """Give `version` or `group/version`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """Give the lower-case name of one."""
        return self.kind.lower()

    @property
    def resource(self) -> str:
        """Give the plural with its group, as errors name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def prefix(self) -> bytes:
        """Give the start of every object of this kind in JSON."""
        return b'{"kind":"%s","apiVersion":"%s",' % (
            self.kind.encode(),
            self.api_version.encode(),
        )

    def subresource(self, name: str) -> Subresource | None:
        """Find a subresource by its name."""
        return next((one for one in self.subresources if one.name == name), None)


def _status(kind: str) -> Subresource:
    return Subresource("status", kind, ("get", "patch", "update"))


POD = Kind(
    "",
    "v1",
    "Pod",
    "pods",
    short_names=("po",),
    categories=("all",),
    subresources=(
        Subresource("binding", "Binding", ("create",)),
        Subresource("eviction", "Eviction", ("create",), "policy", "v1"),
        Subresource("log", "Pod", ("get",)),
        _status("Pod"),
    ),
    fields=(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    generation=True,
    answers_object=True,
)
NAMESPACE = Kind(
    "",
    "v1",
    "Namespace",
    "namespaces",
    namespaced=False,
    short_names=("ns",),
    subresources=(Subresource("finalize", "Namespace", ("update",)), _status("Namespace")),
    fields=("status.phase",),
    answers_object=True,
    verbs=tuple(verb for verb in _STANDARD if verb != "deletecollection"),
)
NODE = Kind(
    "",
    "v1",
    "Node",
    "nodes",
    namespaced=False,
    short_names=("no",),
    subresources=(_status("Node"),),
    fields=("spec.unschedulable",),
)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", short_names=("cm",))
SECRET = Kind("", "v1", "Secret", "secrets", fields=("type",))
SERVICE_ACCOUNT = Kind(
    "",
    "v1",
    "ServiceAccount",
    "serviceaccounts",
    short_names=("sa",),
    subresources=(
        Subresource("token", "TokenRequest", ("create",), "authentication.k8s.io", "v1"),
    ),
    answers_object=True,
)
EVENT = Kind(
    "",
    "v1",
    "Event",
    "events",
    short_names=("ev",),
    fields=(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
BUDGET = Kind(
    "policy",
    "v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    short_names=("pdb",),
    subresources=(_status("PodDisruptionBudget"),),
    generation=True,
)
BINDING = Kind("", "v1", "Binding", "bindings", verbs=("create",), stored=False)
ACCESS_REVIEW = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
    namespaced=False,
    verbs=("create",),
    stored=False,
)
RULES_REVIEW = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectRulesReview",
    "selfsubjectrulesreviews",
    namespaced=False,
    verbs=("create",),
    stored=False,
)
SUBJECT_REVIEW = Kind(
    "authentication.k8s.io",
    "v1",
    "SelfSubjectReview",
    "selfsubjectreviews",
    namespaced=False,
    verbs=("create",),
    stored=False,
)
TOKEN_REVIEW = Kind(
    "authentication.k8s.io",
    "v1",
    "TokenReview",
    "tokenreviews",
    namespaced=False,
    verbs=("create",),
    stored=False,
)
SUBJECT_ACCESS_REVIEW = Kind(
    "authorization.k8s.io",
    "v1",
    "SubjectAccessReview",
    "subjectaccessreviews",
    namespaced=False,
    verbs=("create",),
    stored=False,
)

# Kinds that only bodies have.
DELETE_OPTIONS = Kind("", "v1", "DeleteOptions", "", stored=False)
EVICTION = Kind("policy", "v1", "Eviction", "", stored=False)
TOKEN_REQUEST = Kind("authentication.k8s.io", "v1", "TokenRequest", "", stored=False)

KINDS = (
    BINDING,
    CONFIG_MAP,
    EVENT,
    NAMESPACE,
    NODE,
    POD,
    SECRET,
    SERVICE_ACCOUNT,
    SUBJECT_REVIEW,
    TOKEN_REVIEW,
    ACCESS_REVIEW,
    RULES_REVIEW,
    SUBJECT_ACCESS_REVIEW,
    LEASE,
    BUDGET,
)
STORED = tuple(kind for kind in KINDS if kind.stored)
GROUPS = ("", "authentication.k8s.io", "authorization.k8s.io", "policy", "coordination.k8s.io")

_BY_PATH = {(kind.group, kind.version, kind.plural): kind for kind in KINDS}


def find(group: str, version: str, plural: str) -> Kind | None:
    """Find a kind by its place in the API."""
    return _BY_PATH.get((group, version, plural))


def named(group: str, version: str, kind: str) -> bool:
    """Tell whether a kind of this name is known."""
    return any((one.group, one.version, one.kind) == (group, version, kind) for one in KINDS)


@lru_cache(maxsize=256)  # groups come from whoever asks
def versions(group: str) -> tuple[str, ...]:
    """List the served versions of a group."""
    return tuple(dict.fromkeys(kind.version for kind in KINDS if kind.group == group))
