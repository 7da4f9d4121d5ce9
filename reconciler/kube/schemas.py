"""Kubernetes' own type definitions, walked field by field.

The definitions are the `$defs` of a Kubernetes JSON schema, handed in by the caller. They say how
lists and maps merge; what they leave out (a default that is part of a list key) stands here.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from reconciler.kube.json_types import Json

_REF_PREFIX = "#/$defs/"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
# Defaults that identify list items; the definitions carry no defaults at all.
_KEY_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "io.k8s.api.core.v1.ContainerPort": {"protocol": "TCP"},
    "io.k8s.api.core.v1.ServicePort": {"protocol": "TCP"},
}
_NOTHING: Mapping[str, Any] = MappingProxyType({})
# Optional fields that the API server's own structs hold by value: unset they read as empty, so
# that to fill one adds what is inside it, and not the field itself.
_HELD_BY_VALUE: Mapping[str, tuple[str, ...]] = {
    "io.k8s.api.apps.v1.DaemonSetSpec": ("updateStrategy",),
    "io.k8s.api.apps.v1.DeploymentSpec": ("strategy",),
    "io.k8s.api.apps.v1.StatefulSetSpec": ("updateStrategy",),
    "io.k8s.api.batch.v1.JobTemplateSpec": ("metadata", "spec"),
    "io.k8s.api.core.v1.Container": ("resources",),
    "io.k8s.api.core.v1.ContainerStatus": ("state", "lastState"),
    "io.k8s.api.core.v1.EphemeralContainer": ("resources",),
    "io.k8s.api.core.v1.Event": (
        *("source", "eventTime", "firstTimestamp", "lastTimestamp"),
        *("reportingComponent", "reportingInstance"),
    ),
    "io.k8s.api.core.v1.NodeDaemonEndpoints": ("kubeletEndpoint",),
    "io.k8s.api.core.v1.NodeStatus": ("daemonEndpoints", "nodeInfo"),
    "io.k8s.api.core.v1.PersistentVolumeClaimSpec": ("resources",),
    "io.k8s.api.core.v1.PodTemplate": ("template",),
    "io.k8s.api.core.v1.PodTemplateSpec": ("metadata", "spec"),
    "io.k8s.api.core.v1.ServicePort": ("targetPort",),
    "io.k8s.api.core.v1.ServiceStatus": ("loadBalancer",),
    "io.k8s.api.networking.v1.IngressStatus": ("loadBalancer",),
    "io.k8s.api.policy.v1.PodDisruptionBudgetStatus": (
        *("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"),
    ),
}
_HELD_BY_VALUE_IN_KINDS = ("metadata", "spec", "status")
_ZEROS: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}


class Schemas:
    """The definitions of one Kubernetes version."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions
        self._known: dict[str, Schema] = {}
        self._by_kind: dict[tuple[str, str], str] = {
            (_api_version(kind), kind["kind"]): name
            for name, node in definitions.items()
            for kind in node.get("x-kubernetes-group-version-kind") or ()
        }

    def for_kind(self, api_version: str, kind: str) -> "Schema | None":
        """Find the schema of a kind; None for one that this version does not have."""
        name = self._by_kind.get((api_version, kind))
        return None if name is None else self.definition(name)

    def kinds(self) -> Iterator[tuple[str, str]]:
        """Name every known (apiVersion, kind)."""
        return iter(self._by_kind)

    def definition(self, name: str) -> "Schema":
        """Give the schema of a named definition.

        Raises KeyError for a name that this version does not have.
        """
        if name not in self._known:
            self._known[name] = Schema(self, self._definitions[name], name)
        return self._known[name]

    def of(self, node: Json) -> "Schema":
        """Give the schema of a node, following its reference."""
        if "$ref" not in node:
            return Schema(self, node, "")
        name = node["$ref"].removeprefix(_REF_PREFIX)
        beside = {key: value for key, value in node.items() if key.startswith("x-")}
        if not beside:
            return self.definition(name)
        return Schema(self, {**self._definitions[name], **beside}, name)


class Schema:
    """One type: what kind of value it is, how it merges, and the types inside it."""

    __slots__ = (
        "_children",
        "_items",
        "_node",
        "_schemas",
        "_zeros",
        "format",
        "key_defaults",
        "list_map_keys",
        "list_type",
        "map_type",
        "name",
        "patch_merge_key",
        "patch_strategy",
        "properties",
        "required",
        "type",
    )

    def __init__(self, schemas: Schemas, node: Json, name: str) -> None:
        kind = node.get("type", "")
        self._schemas, self._node = schemas, node
        self._children: dict[str, Schema] = {}
        self._items: Schema | None = None
        self._zeros: Mapping[str, Any] | None = None
        self.name = name
        self.type: str = kind if isinstance(kind, str) else next(k for k in kind if k != "null")
        self.format: str = _FORMATS.get(name) or node.get("format", "")
        self.list_type: str = node.get("x-kubernetes-list-type", "atomic")
        self.list_map_keys: tuple[str, ...] = tuple(node.get("x-kubernetes-list-map-keys", ()))
        self.map_type: str = node.get("x-kubernetes-map-type", "granular")
        self.patch_merge_key: str | None = node.get("x-kubernetes-patch-merge-key")
        strategy = node.get("x-kubernetes-patch-strategy", "")
        self.patch_strategy: tuple[str, ...] = tuple(strategy.split(",")) if strategy else ()
        self.properties: frozenset[str] = frozenset(node.get("properties", ()))
        self.required: frozenset[str] = frozenset(node.get("required", ()))
        self.key_defaults: Mapping[str, Any] = _KEY_DEFAULTS.get(name, _NOTHING)

    @property
    def untyped(self) -> bool:
        """Whether nothing is declared, so that the value itself tells its type."""
        return not self.type and not self.format

    @property
    def description(self) -> str:
        """What Kubernetes says about the type."""
        text: str = self._node.get("description", "")
        return text

    def field(self, name: str) -> "Schema | None":
        """Give the type of a field or map entry; None where none of that name may be."""
        if name not in self._children:
            node = self._node.get("properties", {}).get(name)
            if node is None:
                return self._entry()
            self._children[name] = self._schemas.of(node)
        return self._children[name]

    def items(self) -> "Schema":
        """Give the type of the items of a list."""
        if self._items is None:
            node = self._node.get("items")
            self._items = self._schemas.of(node) if isinstance(node, dict) else UNTYPED
        return self._items

    @property
    def zeros(self) -> Mapping[str, Any]:
        """What fields are when unset that the API server never leaves out (null: an empty one)."""
        if self._zeros is None:
            by_value = _HELD_BY_VALUE.get(self.name, ())
            if "x-kubernetes-group-version-kind" in self._node:
                by_value = (*by_value, *_HELD_BY_VALUE_IN_KINDS)
            names = self.required | self.properties.intersection(by_value)
            self._zeros = {name: self._zero(name) for name in names}
        return self._zeros

    def _zero(self, name: str) -> Any:
        child = self.field(name)
        if child is None or child.format == "date-time":
            return None
        if child.properties and child.map_type != "atomic":
            return {}
        return _ZEROS.get(child.type)

    def _entry(self) -> "Schema | None":
        """Give the type of every entry of a map; a type without any fields may hold anything."""
        more = self._node.get("additionalProperties")
        if isinstance(more, dict):
            if "" not in self._children:
                self._children[""] = self._schemas.of(more)
            return self._children[""]
        return None if more is False or self.properties else UNTYPED


_FORMATS = {_QUANTITY: "quantity", _INT_OR_STRING: "int-or-string"}

UNTYPED: Final = Schema(Schemas({}), {}, "")


def _api_version(kind: Mapping[str, str]) -> str:
    return f"{kind['group']}/{kind['version']}" if kind["group"] else kind["version"]
