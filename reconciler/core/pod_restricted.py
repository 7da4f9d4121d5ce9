"""The Pod Security Standards' level `restricted`: what it asks for beyond `baseline`."""

from collections.abc import Iterator
from typing import Any

from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import Path
from reconciler.core.pod_parts import child, containers, entries, text
from reconciler.core.pod_security import has_own_users
from reconciler.model.refs import Json

_VOLUMES = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"}
    | {"persistentVolumeClaim", "projected", "secret"}
)
_PROFILES = ("RuntimeDefault", "Localhost")
_POD: Path = ("spec", "securityContext")


def check_restricted(template: Json, version: str) -> Iterator[Mistake]:
    """Yield what of a pod template is above `restricted` and not above `baseline` by itself.

    Paths begin inside the template. `version` is the Kubernetes minor version, as 1.36, whose
    standard counts.
    """
    spec = child(template, "spec")
    windows = child(spec, "os").get("name") == "windows"
    yield from _volumes(spec)
    if not has_own_users(spec, version):
        yield from _users(spec)
    yield from _unmasked(spec)
    if windows:
        return
    yield from _seccomp(spec)
    for path, context in _contexts(spec):
        if context.get("allowPrivilegeEscalation") is not False:
            fix = "write securityContext: {allowPrivilegeEscalation: false} in this container"
            at = (*path, "allowPrivilegeEscalation")
            yield _refused(at, "may gain more rights than it started with", fix)
        yield from _capabilities((*path, "capabilities"), child(context, "capabilities"))


def _contexts(spec: Json) -> Iterator[tuple[Path, Json]]:
    """Yield the securityContext of every container; an empty one where it has none."""
    for path, container in containers(spec):
        yield ("spec", *path, "securityContext"), child(container, "securityContext")


def _refused(path: Path, why: str, fix: str) -> Mistake:
    return Mistake(path, f"{why}, which restricted forbids", fix, "pod-security", at_key=True)


def _volumes(spec: Json) -> Iterator[Mistake]:
    for path, volume in entries(spec, "volumes", ("spec",)):
        given = {name for name in volume.keys() - {"name"} if volume[name] is not None}
        if given & _VOLUMES:
            continue
        for name in sorted(given):
            fix = f"use one of {', '.join(sorted(_VOLUMES))}"
            yield _refused((*path, name), f"is a volume of the kind {name}", fix)


def _users(spec: Json) -> Iterator[Mistake]:
    pod = child(spec, "securityContext")
    whole = pod.get("runAsNonRoot")
    for path, context in ((_POD, pod), *_contexts(spec)):
        if _is_root(context.get("runAsUser")):
            fix = "write the number of another user, or take it out"
            yield _refused((*path, "runAsUser"), "runs as root", fix)
        own = context.get("runAsNonRoot")
        if own is False:
            yield _refused((*path, "runAsNonRoot"), "lets it run as root", "write true")
        elif own is not True and path != _POD and whole is None:
            fix = "write securityContext: {runAsNonRoot: true} for the pod"
            yield _refused((*path, "runAsNonRoot"), "may run as root", fix)


def _is_root(user: Any) -> bool:
    return not isinstance(user, bool) and user == 0


def _unmasked(spec: Json) -> Iterator[Mistake]:
    """Yield what baseline lets a pod with users of its own have; that of others it tells itself."""
    for path, context in _contexts(spec):
        if context.get("procMount") not in (None, "", "Default"):
            fix = "take it out, or write Default"
            yield _refused((*path, "procMount"), "unmasks /proc", fix)


def _seccomp(spec: Json) -> Iterator[Mistake]:
    pod = child(spec, "securityContext").get("seccompProfile")
    for path, context in ((_POD, child(spec, "securityContext")), *_contexts(spec)):
        at = (*path, "seccompProfile")
        profile = context.get("seccompProfile")
        if profile is not None:
            kind = text(child(context, "seccompProfile"), "type")
            if kind not in _PROFILES:
                why = f"chooses the seccomp profile {shown(kind)}"
                yield _refused((*at, "type"), why, f"write one of {', '.join(_PROFILES)}")
        elif path != _POD and pod is None:
            fix = "write securityContext: {seccompProfile: {type: RuntimeDefault}} for the pod"
            yield _refused(at, "runs without a seccomp profile", fix)


def _capabilities(path: Path, capabilities: Json) -> Iterator[Mistake]:
    dropped, added = capabilities.get("drop"), capabilities.get("add")
    if not isinstance(dropped, list) or "ALL" not in dropped:
        fix = "write securityContext: {capabilities: {drop: [ALL]}} in this container"
        yield _refused((*path, "drop"), "keeps capabilities", fix)
    for index, capability in enumerate(added if isinstance(added, list) else ()):
        if capability != "NET_BIND_SERVICE":
            why = f"adds the capability {shown(capability)}"
            fix = "take it out: NET_BIND_SERVICE alone may be added"
            yield _refused((*path, "add", index), why, fix)
