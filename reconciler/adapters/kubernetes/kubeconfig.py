"""Which cluster and user the kubeconfig files and the flags of kubectl name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.adapters.kubernetes.kubeconfig_files import merge
from reconciler.model.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class ConnectionFlags:
    """kubectl's connection flags, empty where not given; settings have the same names."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    server: str = ""
    token: str = ""
    username: str = ""
    password: str = ""
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    as_user: str = ""
    as_groups: Sequence[str] = ()
    as_uid: str = ""
    as_user_extra: Sequence[str] = ()


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
    """Merge the files and apply the flags.

    Raises Misconfigured naming what is missing and the names that are there.
    """
    merged = merge(files)
    origin = merged.origin
    context_name = flags.context or merged.context_name
    context: Mapping[str, Any] = {}
    if context_name:
        context = merged.entry("context", context_name)
        origin = f"context {context_name} of {origin}"
    elif not flags.server and not flags.cluster:
        raise Misconfigured(f"{origin} has no current-context: choose one with --context")
    cluster_name = flags.cluster or context.get("cluster", "")
    user_name = flags.user or context.get("user", "")
    cluster = merged.entry("cluster", cluster_name) if cluster_name else {}
    user = merged.entry("user", user_name) if user_name else {}
    return Chosen(_with_cluster_flags(cluster, flags), _with_user_flags(user, flags), origin)


def _with_cluster_flags(cluster: Mapping[str, Any], flags: ConnectionFlags) -> Mapping[str, Any]:
    chosen = dict(cluster)
    if flags.certificate_authority or flags.insecure_skip_tls_verify:
        # Whom to trust is said anew, so what the file says of that counts no more.
        for key in ("certificate-authority", "certificate-authority-data"):
            chosen.pop(key, None)
        chosen["insecure-skip-tls-verify"] = flags.insecure_skip_tls_verify
    if flags.server:
        # Another server is known by another name.
        chosen.pop("tls-server-name", None)
    given = {
        "server": flags.server,
        "certificate-authority": flags.certificate_authority,
        "tls-server-name": flags.tls_server_name,
        "proxy-url": flags.proxy_url,
    }
    return {**chosen, **{key: value for key, value in given.items() if value}}


def _with_user_flags(user: Mapping[str, Any], flags: ConnectionFlags) -> Mapping[str, Any]:
    chosen = dict(user)
    if flags.token and flags.username:
        raise Misconfigured("--token and --username are two ways to log in: pass one of them")
    if flags.token or flags.username:
        for other in ("token", "tokenFile", "exec", "auth-provider", "username", "password"):
            chosen.pop(other, None)
    for key, path in (
        ("client-certificate", flags.client_certificate),
        ("client-key", flags.client_key),
    ):
        if path:
            chosen.pop(f"{key}-data", None)
            chosen[key] = path
    given = {
        "token": flags.token,
        "username": flags.username,
        "password": flags.password,
        "as": flags.as_user,
        "as-uid": flags.as_uid,
        "as-groups": list(flags.as_groups),
        "as-user-extra": _extra(flags.as_user_extra),
    }
    return {**chosen, **{key: value for key, value in given.items() if value}}


def _extra(words: Sequence[str]) -> dict[str, list[str]]:
    extra: dict[str, list[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise Misconfigured(f"--as-user-extra {word!r}: write it as KEY=VALUE")
        extra.setdefault(key, []).append(value)
    return extra
