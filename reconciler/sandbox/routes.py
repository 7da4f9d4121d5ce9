"""Which kind, namespace, name and subresource a path means."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from reconciler.sandbox import kinds, refusals
from reconciler.sandbox.kinds import Kind


@dataclass(frozen=True, slots=True)
class Target:
    """What a path points at; an empty name is the collection."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


class Unrouted(Exception):
    """A path that is no part of the API at all."""


def route(path: str) -> Target:
    """Read a resource path.

    Raises:
        Unrouted: the group or version is unknown.
        Refused: the resource or subresource is unknown.
    """
    parts = [unquote(part) for part in path.strip("/").split("/")]
    group, version, rest = _group(parts)
    if not rest:
        raise refusals.unknown_resource()
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    kind = kinds.find(group, version, rest[0])
    if kind is None or len(rest) > 3:
        raise refusals.unknown_resource()
    name = rest[1] if len(rest) > 1 else ""
    sub = rest[2] if len(rest) > 2 else ""
    misplaced = bool(namespace) != kind.namespaced and (bool(namespace) or bool(name))
    if misplaced or (sub and kind.subresource(sub) is None):
        raise refusals.unknown_resource()
    return Target(kind, namespace, name, sub)


def _group(parts: list[str]) -> tuple[str, str, list[str]]:
    if parts[0] == "api" and len(parts) > 1:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 2:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise Unrouted
    if not kinds.versions(group):
        raise Unrouted
    if version not in kinds.versions(group):
        raise refusals.unknown_resource()
    return group, version, rest
