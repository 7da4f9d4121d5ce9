"""What volumes and their mounts must be."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kube import names
from reconciler.sandbox.refusals import (
    Cause,
    duplicate,
    forbidden_value,
    invalid_value,
    missing_value,
    required,
)
from reconciler.sandbox.requests import Json

_NAMES = (("secret", "secretName"), ("configMap", "name"), ("hostPath", "path"))
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_LARGEST_MODE = 0o777


def check_volumes(spec: Json) -> tuple[list[Cause], set[str]]:
    """Check the volumes of a pod; gives also the names that may be mounted."""
    causes: list[Cause] = []
    usable: set[str] = set()
    for index, volume in enumerate(spec.get("volumes") or ()):
        path, name = f"spec.volumes[{index}]", volume.get("name", "")
        wrong = [*_source(volume, path), *_name(name, f"{path}.name", usable)]
        causes += wrong
        if not wrong:
            usable.add(name)
    return causes, usable


def _name(name: str, path: str, usable: set[str]) -> Iterator[Cause]:
    told = names.label_problem(name) if name else None
    if not name:
        yield required(path)
    elif told:
        yield invalid_value(path, name, told)
    if name in usable:
        yield duplicate(path, name)


def check_tokens(spec: Json) -> Iterator[Cause]:
    """Check that tokens are only asked for of an account."""
    if spec.get("serviceAccountName"):
        return
    for index, volume in enumerate(spec.get("volumes") or ()):
        for place, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if "serviceAccountToken" in source:
                path = f"spec.volumes[{index}].projected.sources[{place}].serviceAccountToken"
                detail = "must not be specified when serviceAccountName is not set"
                yield forbidden_value(path, detail)


def _source(volume: Json, path: str) -> Iterator[Cause]:
    for source, wanted in _NAMES:
        if source in volume and not volume[source].get(wanted):
            yield required(f"{path}.{source}.{wanted}")
    for source in ("secret", "configMap", "downwardAPI", "projected"):
        mode = (volume.get(source) or {}).get("defaultMode", 0)
        if not 0 <= mode <= _LARGEST_MODE:
            yield invalid_value(f"{path}.{source}.defaultMode", mode, _MODE_TEXT)
    yield from _fields(volume.get("downwardAPI") or {}, f"{path}.downwardAPI")
    for place, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
        inside = f"{path}.projected.sources[{place}]"
        yield from _fields(source.get("downwardAPI") or {}, f"{inside}.downwardAPI")
        if "serviceAccountToken" in source and not source["serviceAccountToken"].get("path"):
            yield required(f"{path}.projected.path")


def _fields(source: Json, path: str) -> Iterator[Cause]:
    for item in source.get("items") or ():
        if not item.get("path"):
            yield required(f"{path}.path")
        if "fieldRef" in item:
            if not item["fieldRef"].get("fieldPath"):
                yield required(f"{path}.fieldRef.fieldPath")
        elif "resourceFieldRef" not in item:
            yield required(path, "one of fieldRef and resourceFieldRef is required")


def check_mounts(container: Json, path: str, volumes: set[str]) -> Iterator[Cause]:
    """Check where a container mounts the volumes that may be mounted."""
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        place = f"{path}.volumeMounts[{index}]"
        name, where = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{place}.name")
        if name not in volumes:
            yield missing_value(f"{place}.name", name)
        if not where:
            yield required(f"{place}.mountPath")
        elif where in seen:
            yield invalid_value(f"{place}.mountPath", where, "must be unique")
        seen.add(where)
