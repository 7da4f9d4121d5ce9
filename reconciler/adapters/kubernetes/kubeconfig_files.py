"""Kubeconfig files, read and merged as kubectl does: the first to name something wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reconciler.model.errors import Misconfigured

_TYPES: Mapping[str, Mapping[str, type]] = {
    "cluster": {
        "server": str,
        "certificate-authority": str,
        "certificate-authority-data": str,
        "insecure-skip-tls-verify": bool,
        "tls-server-name": str,
        "proxy-url": str,
    },
    "user": {
        "token": str,
        "tokenFile": str,
        "username": str,
        "password": str,
        "client-certificate": str,
        "client-certificate-data": str,
        "client-key": str,
        "client-key-data": str,
        "as": str,
        "as-uid": str,
        "as-groups": list,
        "as-user-extra": dict,
        "exec": dict,
        "auth-provider": dict,
    },
    "context": {"cluster": str, "user": str},
    "exec": {
        "command": str,
        "args": list,
        "env": list,
        "apiVersion": str,
        "interactiveMode": str,
        "installHint": str,
        "provideClusterInfo": bool,
    },
}
_SHAPES = {str: "text (in quotes)", bool: "true or false", list: "a list", dict: "a mapping"}
_NO_YAML = (
    *(yaml.YAMLError, ValueError, RecursionError),
    *(LookupError, AttributeError, TypeError),
)
"""What PyYAML raises; the last three of tags that do not fit what they stand at, as `!!int ""`."""
_FILES = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}


@dataclass(frozen=True, slots=True)
class Merged:
    """All files as one. `entries` are by section and name, each with the folder of its file."""

    origin: str
    context_name: str
    entries: Mapping[tuple[str, str], tuple[Any, Path]]

    def entry(self, section: str, name: str) -> dict[str, Any]:
        """Return the `cluster`, `context` or `user` of this name, the paths in it absolute.

        Raises Misconfigured naming those that are there, or what in it is of the wrong type.
        """
        found = self.entries.get((section, name))
        if found is None:
            known = sorted(each for place, each in self.entries if place == section)
            raise Misconfigured(
                f"{self.origin} has no {section} named {name}: choose one of its {section}s: "
                f"{', '.join(known) or 'none'}"
            )
        where = f"{self.origin}: {section} {name}"
        value, folder = found
        entry = checked(value, section, where)
        rooted = {key: str(folder / entry[key]) for key in _FILES.get(section, ()) if key in entry}
        if "exec" not in entry:
            return {**entry, **rooted}
        plugin = checked(entry["exec"], "exec", f"{where}: exec")
        if "/" in plugin.get("command", ""):
            plugin["command"] = str(folder / plugin["command"])
        return {**entry, **rooted, "exec": plugin}


def merge(files: Sequence[Path]) -> Merged:
    """Read and merge the files.

    Raises Misconfigured naming a file that cannot be read.
    """
    context_name = ""
    entries: dict[tuple[str, str], tuple[Any, Path]] = {}
    for file in files:
        document = _read(file)
        context_name = context_name or str(document.get("current-context") or "")
        for section in ("cluster", "context", "user"):
            listed = document.get(f"{section}s") or ()
            if not isinstance(listed, (list, tuple)):
                raise Misconfigured(f"the kubeconfig {file}: {section}s must be a list")
            for entry in listed:
                if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                    place = (section, entry["name"])
                    entries.setdefault(place, (entry.get(section), file.absolute().parent))
    origin = ", ".join(str(each) for each in files) or "the command line"
    return Merged(origin, context_name, entries)


def checked(value: Any, section: str, where: str) -> dict[str, Any]:
    """Return a mapping without what is empty in it.

    Raises Misconfigured where a value is of the wrong type; it is not repeated, it may be secret.
    """
    if value is not None and not isinstance(value, dict):
        raise Misconfigured(f"{where} must be a mapping: write it again")
    filled = {key: item for key, item in (value or {}).items() if item not in (None, "")}
    for key, kind in _TYPES[section].items():
        if key in filled and not isinstance(filled[key], kind):
            raise Misconfigured(f"{where}: {key} must be {_SHAPES[kind]}")
    return filled


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
        # Not the parser in Python: it takes seconds for some thousand braces.
        document = yaml.load(text, Loader=yaml.CSafeLoader)  # the safe one, in C
    except OSError as error:
        raise Misconfigured(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
    except _NO_YAML as error:
        raise Misconfigured(f"the kubeconfig {file} is not YAML: write it again") from error
    if document is None:  # a file that was only touched names nothing, as for kubectl
        return {}
    if not isinstance(document, dict):
        raise Misconfigured(f"the kubeconfig {file} is no mapping: write it again")
    return document
