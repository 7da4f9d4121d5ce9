"""What the API server takes of a new pod, and warns of."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kube import quantities
from reconciler.sandbox.requests import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_warnings(pod: Json) -> Iterator[str]:
    """Warn of what a pod says that hardly does what it was meant to."""
    spec = pod["spec"]
    for index, one in enumerate(spec.get("topologySpreadConstraints") or ()):
        yield from _selects_none(one, f"spec.topologySpreadConstraints[{index}]")
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if not source:
                yield f'volume "{volume["name"]}" (Projected) has no sources provided'
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'spec.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _parts_of_bytes(spec)
    yield from _neighbours(spec.get("affinity") or {})


def _parts_of_bytes(spec: Json) -> Iterator[str]:
    for part in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(part) or ()):
            resources, place = container.get("resources") or {}, f"spec.{part}[{index}].resources"
            for name in ("memory", "ephemeral-storage"):
                for side in ("limits", "requests"):
                    amount = (resources.get(side) or {}).get(name, "0")
                    if quantities.parse(amount) % 1:
                        why = f'fractional byte value "{amount}" is invalid, must be an integer'
                        yield f"{place}.{side}[{name}]: {why}"


def _neighbours(affinity: Json) -> Iterator[str]:
    for side in ("podAffinity", "podAntiAffinity"):
        path, wishes = f"spec.affinity.{side}", affinity.get(side) or {}
        for index, term in enumerate(wishes.get(_REQUIRED) or ()):
            yield from _selects_none(term, f"{path}.{_REQUIRED}[{index}]")
        for index, wish in enumerate(wishes.get(_PREFERRED) or ()):
            term, place = wish.get("podAffinityTerm") or {}, f"{path}.{_PREFERRED}[{index}]"
            yield from _selects_none(term, f"{place}.podAffinityTerm")


def _selects_none(term: Json, path: str) -> Iterator[str]:
    if term.get("labelSelector") is None:
        yield f"{path}.labelSelector: a null labelSelector results in matching no pod"
