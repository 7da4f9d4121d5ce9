"""The number of one workload in the text of one file, with no word on whether it is valid.

A log has commits whose documents nobody would accept any more: of those the number still tells.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from reconciler.core.compile import workload_key
from reconciler.core.counts import COUNTS, KINDS, key_named
from reconciler.core.edit_splice import API_GROUP, REPLICAS
from reconciler.core.places import Path, place_of_value
from reconciler.core.pod_parts import child
from reconciler.core.values import WORKLOADS
from reconciler.core.yaml_strict import parse_file
from reconciler.model.history import WrittenCount
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Source


def count_in(file: str, data: bytes, key: WorkloadKey) -> WrittenCount | None:
    """Return the number of a workload that a file writes, in its spec or in the file of counts.

    None where there is none, or not one alone: what cannot be told is no number.
    """
    if key.name.encode() not in data and b"\\" not in data:
        return None
    return counts_in(file, data).get(key)


def counts_in(file: str, data: bytes) -> Mapping[WorkloadKey, WrittenCount]:
    """Return every number that a file writes; none of a workload of which it writes two."""
    found: dict[WorkloadKey, WrittenCount] = {}
    twice = set[WorkloadKey]()
    for document in parse_file(file, data).documents:
        for key, path, count in _numbers(document.value):
            if key in found:
                twice.add(key)
            line, column = place_of_value(document.places, path)
            found[key] = WrittenCount(count, Source(file, line, column))
    return {key: written for key, written in found.items() if key not in twice}


def is_spoilt(file: str, data: bytes, key: WorkloadKey) -> bool:
    """Whether a file of counts keeps its number of a workload from being told, by a mistake.

    It lists the workload without a number, or has a mistake beside its counts: then nobody knows
    what it does not list.
    """
    parsed = parse_file(file, data)
    values = [one.value for one in parsed.documents if one.value is not None]
    if parsed.unreadable is not None or any(one.findings for one in parsed.documents):
        return True
    if len(values) != 1 or not _is_whole(values[0]):
        return True
    return type(child(values[0], *COUNTS).get(str(key), 0)) is not int


def _is_whole(value: Any) -> bool:
    """Whether a document is one of counts, without a mistake beside them."""
    if not isinstance(value, dict) or not value.keys() <= {"apiVersion", "kind", "spec"}:
        return False
    spec = value.get("spec", {})
    counts = (
        spec.get("counts", {}) if isinstance(spec, dict) and spec.keys() <= {"counts"} else None
    )
    named = (value.get("apiVersion"), value.get("kind")) == (f"{API_GROUP}v1", REPLICAS.kind)
    return named and isinstance(counts, dict) and all(map(_is_name, counts))


def _is_name(listed: Any) -> bool:
    return isinstance(listed, str) and key_named(listed) is not None


def _numbers(value: Any) -> Iterator[tuple[WorkloadKey, Path, int]]:
    """Yield the numbers of one document, and where it writes them."""
    if not isinstance(value, dict) or not str(value.get("apiVersion")).startswith(API_GROUP):
        return
    kind, name, spec = value.get("kind"), child(value, "metadata").get("name"), child(value, "spec")
    if kind == REPLICAS.kind:
        for listed, count in child(value, *COUNTS).items():
            key = key_named(listed) if isinstance(listed, str) else None
            if key is not None and type(count) is int:
                yield key, (*COUNTS, listed), count
    elif kind == "Values":
        for listed, values in child(value, *WORKLOADS).items():
            key = key_named(listed) if isinstance(listed, str) else None
            count = values.get("replicas") if isinstance(values, dict) else None
            if key is not None and type(count) is int:
                yield key, (*WORKLOADS, listed, "replicas"), count
    elif kind in KINDS and isinstance(name, str) and type(spec.get("replicas")) is int:
        namespace = spec.get("namespace") if kind == "Fleet" else None
        if namespace is None or isinstance(namespace, str):
            yield workload_key(kind, name, namespace), ("spec", "replicas"), spec["replicas"]
