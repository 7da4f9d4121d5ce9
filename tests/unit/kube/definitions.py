"""Kubernetes' type definitions, as the tests of pure code read them once."""

import functools
import importlib.resources
import json

from reconciler.kube.json_types import Json
from reconciler.kube.schemas import Schema, Schemas

_FILE = "kubernetes-json-schema/v1.36.0-local-strict/_definitions.json"


@functools.cache
def schemas() -> Schemas:
    """Read the definitions of Kubernetes 1.36."""
    file = importlib.resources.files("kubernetes_validate") / _FILE
    return Schemas(json.loads(file.read_text(encoding="utf-8"))["$defs"])


def schema_of(obj: Json) -> Schema:
    """Give the schema of an object of a built-in kind."""
    found = schemas().for_kind(obj["apiVersion"], obj["kind"])
    assert found is not None
    return found


def config_map(data: Json | None = None, **metadata: object) -> Json:
    """Make a ConfigMap named `a`."""
    obj: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}}
    return obj if data is None else {**obj, "data": data}


def pod(*containers: Json, **spec: object) -> Json:
    """Make a Pod named `a`."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {**({"containers": list(containers)} if containers else {}), **spec},
    }
