"""The environment of a container, as its kubelet makes it from the pod's spec."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping

from reconciler.sandbox.requests import Json

Find = Callable[[str, str], Json | None]
"""Finds an object in the pod's namespace by its kind (ConfigMap, Secret) and name."""

_REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")
_KEYED = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


def environment_of(pod: Json, container: Json, find: Find) -> dict[str, str]:
    """Return what a container's process finds in its environment."""
    made: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        for part, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if part in source:
                texts = _texts(find(kind, source[part]["name"]))
                prefix = source.get("prefix", "")
                made.update((prefix + name, text) for name, text in texts.items())
    for entry in container.get("env") or ():
        text = _value(entry, pod, find)
        if text is not None:
            made[entry["name"]] = _expanded(text, made)
    return made


def _value(entry: Json, pod: Json, find: Find) -> str | None:
    source = entry.get("valueFrom")
    if not source:
        return str(entry.get("value", ""))
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"])
    for part, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        if part in source:
            return _texts(find(kind, source[part]["name"])).get(source[part]["key"])
    return None


def field(pod: Json, path: str) -> str:
    """Return a field of a pod that an environment may ask for, "" where it has none."""
    keyed = _KEYED.fullmatch(path)
    if keyed:
        return str((pod["metadata"].get(keyed[1]) or {}).get(keyed[2], ""))
    value: object = pod
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, list):  # status.podIPs, status.hostIPs
        return ",".join(str(one["ip"]) for one in value)
    return "" if value is None else str(value)


def _texts(found: Json | None) -> dict[str, str]:
    texts = dict((found or {}).get("data") or {})
    if found and found["kind"] == "Secret":
        return {name: _text(data) for name, data in texts.items()}
    return texts


def _text(data: str) -> str:
    # What is no text reaches the process byte by byte (`os.fsencode`), as kubelets have it but
    # for some of 1.34 and later, whose containers cannot be made then (kubernetes#139132).
    return base64.b64decode(data).decode(errors="surrogateescape")


def _expanded(text: str, known: Mapping[str, str]) -> str:
    """Put earlier variables in for $(NAME); what is not known stays as it is written."""

    def put(found: re.Match[str]) -> str:
        return "$" if found[1] == "$" else known.get(found[2], found[0])

    return _REFERENCE.sub(put, text)
