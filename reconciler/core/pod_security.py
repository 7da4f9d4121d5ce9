"""The Pod Security Standards' level `baseline`, control by control.

Our own stamped host ports are excepted by coming later: only what users write is judged.
"""

from collections.abc import Iterator
from typing import Any

from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import Path
from reconciler.core.pod_parts import child, containers, entries, handlers, text
from reconciler.model.refs import Json

_FIX = "take it out; only whoever runs Gamekeeper can allow the level privileged"
_CAPABILITIES = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"}
    | {"NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)
_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)
_SELINUX_TYPES = frozenset(
    {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
)
_SECCOMP_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APPARMOR_CONTAINER = "container.apparmor.security.beta.kubernetes.io/"


_USER_NAMESPACES = (1, 35)


def has_own_users(spec: Json, version: str) -> bool:
    """Whether a pod has users of its own (`hostUsers: false`), and the standard allows for that.

    The standard does since 1.35; `version` is the Kubernetes minor version that counts.
    """
    minor = tuple(int(part) for part in version.split("."))
    return spec.get("hostUsers") is False and minor >= _USER_NAMESPACES


def check_baseline(template: Json, version: str) -> Iterator[Mistake]:
    """Yield what of a pod template is above `baseline`; paths begin inside the template.

    `version` is the Kubernetes minor version, as 1.36, whose standard counts.
    """
    spec = child(template, "spec")
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(name) is True:
            yield _refused(("spec", name), "shares the node's namespace")
    for path, volume in entries(spec, "volumes", ("spec",)):
        if volume.get("hostPath") is not None:
            yield _refused((*path, "hostPath"), "mounts the node's files")
    yield from _sysctls(spec)
    yield from _shared_context(("spec", "securityContext"), child(spec, "securityContext"))
    for path, container in containers(spec):
        at = ("spec", *path)
        context = (*at, "securityContext")
        yield from _container_context(context, child(container, "securityContext"))
        if not has_own_users(spec, version):
            yield from _unmasked(context, child(container, "securityContext"))
        yield from _shared_context(context, child(container, "securityContext"))
        yield from _hosts(at, container)
    yield from _annotations(child(template, "metadata", "annotations"))


def _refused(path: Path, why: str) -> Mistake:
    return Mistake(path, f"{why}, which baseline forbids", _FIX, "pod-security", at_key=True)


def _sysctls(spec: Json) -> Iterator[Mistake]:
    at: Path = ("spec", "securityContext")
    for path, sysctl in entries(child(spec, "securityContext"), "sysctls", at):
        name = text(sysctl, "name")
        if name not in _SYSCTLS:
            yield _refused((*path, "name"), f"sets the unsafe sysctl {shown(name)}")


def _container_context(path: Path, context: Json) -> Iterator[Mistake]:
    if context.get("privileged") is True:
        yield _refused((*path, "privileged"), "gives the container the whole node")
    added = child(context, "capabilities").get("add")
    for index, capability in enumerate(added if isinstance(added, list) else ()):
        if not isinstance(capability, str) or capability not in _CAPABILITIES:
            where = (*path, "capabilities", "add", index)
            yield _refused(where, f"adds the capability {shown(capability)}")


def _unmasked(path: Path, context: Json) -> Iterator[Mistake]:
    if context.get("procMount") not in (None, "", "Default"):
        yield _refused((*path, "procMount"), "unmasks /proc")


def _shared_context(path: Path, context: Json) -> Iterator[Mistake]:
    """Judge what a pod's and a container's securityContext have in common."""
    for name, what in (("appArmorProfile", "AppArmor"), ("seccompProfile", "seccomp")):
        if child(context, name).get("type") == "Unconfined":
            yield _refused((*path, name, "type"), f"switches {what} off")
    selinux = child(context, "seLinuxOptions")
    if text(selinux, "type") not in _SELINUX_TYPES:
        yield _refused((*path, "seLinuxOptions", "type"), "chooses an SELinux type of its own")
    for name in ("user", "role"):
        if selinux.get(name):
            yield _refused((*path, "seLinuxOptions", name), f"chooses an SELinux {name}")
    if child(context, "windowsOptions").get("hostProcess") is True:
        yield _refused((*path, "windowsOptions", "hostProcess"), "runs on the Windows node itself")


def _hosts(path: Path, container: Json) -> Iterator[Mistake]:
    for at, port in entries(container, "ports", path):
        if port.get("hostPort"):
            yield Mistake(
                (*at, "hostPort"),
                "a host port of the template's own, which baseline forbids",
                "take it out and write spec.portRange: rooms then get free host ports",
                "pod-security",
                at_key=True,
            )
    for at, handler in handlers(container, path):
        for action in ("httpGet", "tcpSocket"):
            if child(handler, action).get("host"):
                yield _refused((*at, action, "host"), "makes the node call another host")


def _annotations(annotations: Json) -> Iterator[Mistake]:
    for name, value in annotations.items():
        at = ("metadata", "annotations", name)
        if name.startswith(_APPARMOR_CONTAINER) and not _confined(value):
            yield _refused(at, "switches AppArmor off")
        seccomp = name == _SECCOMP_ANNOTATION or name.startswith(_SECCOMP_CONTAINER)
        if seccomp and value == "unconfined":
            yield _refused(at, "switches seccomp off")


def _confined(profile: Any) -> bool:
    return isinstance(profile, str) and (
        profile in ("", "runtime/default") or profile.startswith("localhost/")
    )
