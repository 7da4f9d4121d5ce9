"""Which cluster and user the kubeconfig files and the flags of kubectl name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reconciler.model.errors import Misconfigured

_CLUSTER_FILES = ("certificate-authority",)
_USER_FILES = ("client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True, slots=True)
class ConnectionFlags:
    """kubectl's connection flags, "" where not given."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    server: str = ""
    token: str = ""
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""
    insecure_skip_tls_verify: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cluster and user entries to connect with; paths in them are absolute.

    `origin` says where they come from, for messages.
    """

    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    origin: str


def files_of(flags: ConnectionFlags, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the kubeconfig files to merge, as kubectl does: flag, KUBECONFIG, home directory.

    Raises Misconfigured when the file that the flag names is not there.
    """
    if flags.kubeconfig:
        named = Path(flags.kubeconfig).expanduser()
        if not named.is_file():
            raise Misconfigured(f"the kubeconfig {named} is not there: check --kubeconfig")
        return (named,)
    listed = environ.get("KUBECONFIG", "")
    if listed:
        return tuple(Path(each) for each in listed.split(":") if each and Path(each).is_file())
    usual = Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config"
    return (usual,) if usual.is_file() else ()


def choose(files: Sequence[Path], flags: ConnectionFlags) -> Chosen:
    """Merge the files (the first to name something wins) and apply the flags.

    Raises Misconfigured naming what is missing and the names that are there.
    """
    merged = _merge(files)
    origin = ", ".join(str(each) for each in files) or "the command line"
    context_name = flags.context or merged["current-context"]
    context: Mapping[str, Any] = {}
    if context_name:
        context = _named(merged, "contexts", context_name, origin)["context"]
        origin = f"context {context_name} of {origin}"
    elif not flags.server and not flags.cluster:
        raise Misconfigured(f"{origin} has no current-context: choose one with --context")
    cluster_name = flags.cluster or context.get("cluster", "")
    user_name = flags.user or context.get("user", "")
    cluster = _named(merged, "clusters", cluster_name, origin)["cluster"] if cluster_name else {}
    user = _named(merged, "users", user_name, origin).get("user") if user_name else {}
    return Chosen(
        _with_cluster_flags(cluster or {}, flags), _with_user_flags(user or {}, flags), origin
    )


def _with_cluster_flags(cluster: Mapping[str, Any], flags: ConnectionFlags) -> Mapping[str, Any]:
    chosen = dict(cluster)
    if flags.server:
        chosen["server"] = flags.server
    if flags.certificate_authority:
        chosen.pop("certificate-authority-data", None)
        chosen["certificate-authority"] = flags.certificate_authority
    if flags.insecure_skip_tls_verify:
        chosen["insecure-skip-tls-verify"] = True
    return chosen


def _with_user_flags(user: Mapping[str, Any], flags: ConnectionFlags) -> Mapping[str, Any]:
    chosen = dict(user)
    if flags.token:
        for other in ("tokenFile", "exec", "username", "password"):
            chosen.pop(other, None)
        chosen["token"] = flags.token
    for key, path in (
        ("client-certificate", flags.client_certificate),
        ("client-key", flags.client_key),
    ):
        if path:
            chosen.pop(f"{key}-data", None)
            chosen[key] = path
    return chosen


def _merge(files: Sequence[Path]) -> dict[str, Any]:
    merged: dict[str, Any] = {"current-context": "", "clusters": {}, "contexts": {}, "users": {}}
    for file in files:
        document = _read(file)
        merged["current-context"] = merged["current-context"] or document.get("current-context")
        for section in ("clusters", "contexts", "users"):
            for entry in document.get(section) or ():
                if isinstance(entry, dict) and "name" in entry:
                    merged[section].setdefault(entry["name"], _rooted(entry, file.parent))
    return merged


def _read(file: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misconfigured(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Misconfigured(f"the kubeconfig {file} is not YAML: write it again") from error
    if not isinstance(document, dict):
        raise Misconfigured(f"the kubeconfig {file} is empty or no mapping: write it again")
    return document


def _rooted(entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    rooted = dict(entry)
    for section, keys in (("cluster", _CLUSTER_FILES), ("user", _USER_FILES)):
        values = rooted.get(section)
        if isinstance(values, dict):
            paths = {key: str(folder / values[key]) for key in keys if values.get(key)}
            rooted[section] = {**values, **paths}
    command = ((rooted.get("user") or {}).get("exec") or {}).get("command", "")
    if "/" in command:
        plugin = {**rooted["user"]["exec"], "command": str(folder / command)}
        rooted["user"] = {**rooted["user"], "exec": plugin}
    return rooted


def _named(merged: dict[str, Any], section: str, name: str, origin: str) -> dict[str, Any]:
    entry = merged[section].get(name)
    if entry is None:
        known = ", ".join(sorted(merged[section])) or "none"
        raise Misconfigured(
            f"{origin} has no {section[:-1]} named {name}: choose one of its {section}: {known}"
        )
    return dict(entry)
