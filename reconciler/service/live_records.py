"""Raw JSON of list and watch to the slotted records of `model.live`, on arrival.

Strings that repeat are interned: that, and dropping what is not asked for, makes 25 KiB of dicts
a few hundred bytes.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from sys import intern

from reconciler.model import labels
from reconciler.model.live import HostPort, LiveNode, LiveObject, LivePod, Phase
from reconciler.model.refs import Json, WorkloadKey, ref_of


def pod_of(pod: Json) -> LivePod:
    """Return the record of a pod; a room of ours where the labels say so."""
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    marks = metadata.get("labels") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    workload = intern(marks.get(labels.WORKLOAD, ""))
    return LivePod(
        uid=metadata["uid"],
        namespace=intern(metadata.get("namespace", "")),
        name=metadata["name"],
        resource_version=metadata.get("resourceVersion", ""),
        phase=_PHASES.get(status.get("phase", ""), Phase.UNKNOWN),
        ready=_is_true(conditions.get("Ready")),
        terminating=bool(metadata.get("deletionTimestamp")),
        node=intern(spec.get("nodeName") or ""),
        host_ip=intern(status.get("hostIP") or ""),
        instance=intern(marks.get(labels.INSTANCE, "")),
        workload=workload,
        ordinal=ordinal_of(metadata["name"], workload),
        revision=intern((metadata.get("annotations") or {}).get(labels.REVISION, "")),
        host_ports=host_ports_of(spec),
        created_at=_unix_seconds(metadata.get("creationTimestamp")),
        waiting=_waiting(status),
        unschedulable=_unschedulable(conditions.get("PodScheduled")),
        stamps=labels.digest_of(metadata),
        lapsed=_is_lapsed(status, conditions.get("Ready")),
    )


def node_of(node: Json) -> LiveNode:
    """Return the record of a node."""
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    return LiveNode(
        name=intern(metadata["name"]),
        ready=_is_true(conditions.get("Ready")),
        unschedulable=bool(spec.get("unschedulable")),
        labels=tuple(sorted((metadata.get("labels") or {}).items())),
        taints=tuple(
            (each["key"], each.get("value", ""), each["effect"])
            for each in spec.get("taints") or ()
        ),
        addresses=tuple((each["type"], each["address"]) for each in status.get("addresses") or ()),
    )


def object_of(obj: Json) -> LiveObject:
    """Return the record of an object that is no room, with its body but for what others keep."""
    metadata = obj["metadata"]
    marks = metadata.get("labels") or {}
    body = {name: value for name, value in obj.items() if name != "status"}
    body["metadata"] = {name: each for name, each in metadata.items() if name != "managedFields"}
    return LiveObject(
        ref=ref_of(obj),
        uid=metadata["uid"],
        resource_version=metadata.get("resourceVersion", ""),
        instance=marks.get(labels.INSTANCE, ""),
        workload=marks.get(labels.WORKLOAD, ""),
        body=body,
        terminating=bool(metadata.get("deletionTimestamp")),
    )


def key_of(obj: Json) -> WorkloadKey | None:
    """Return the workload that an object belongs to by its labels; None if it names none."""
    metadata = obj["metadata"]
    marks = metadata.get("labels") or {}
    kind, workload = marks.get(labels.KIND), marks.get(labels.WORKLOAD)
    if not kind or not workload:
        return None
    return _key(kind, metadata.get("namespace") or metadata["name"], workload)


def ordinal_of(name: str, workload: str) -> int:
    """Return the n of `<workload>-<n>`, -1 where the name is not of that form."""
    prefix = f"{workload}-"
    number = name[len(prefix) :]
    if not workload or not name.startswith(prefix) or not number.isdecimal():
        return -1
    return int(number) if str(int(number)) == number else -1


def host_ports_of(spec: Json) -> tuple[HostPort, ...]:
    """Return the host ports that a pod's containers ask for."""
    return tuple(_host_ports(spec.get("containers") or ()))


def _host_ports(containers: Iterable[Json]) -> Iterable[HostPort]:
    for container in containers:
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield _host_port(port["hostPort"], port.get("protocol") or "TCP")


@lru_cache(maxsize=1 << 17)
def _host_port(port: int, protocol: str) -> HostPort:
    return HostPort(port, protocol)


@lru_cache(maxsize=1 << 14)
def _key(kind: str, namespace: str, name: str) -> WorkloadKey:
    return WorkloadKey(intern(kind), intern(namespace), intern(name))


def _is_true(condition: Json | None) -> bool:
    return condition is not None and condition.get("status") == "True"


def _unschedulable(condition: Json | None) -> str:
    if condition is None or condition.get("status") != "False":
        return ""
    return intern(condition.get("message") or condition.get("reason") or "not scheduled")


def _waiting(status: Json) -> str:
    for group in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(group) or ():
            reason = ((container.get("state") or {}).get("waiting") or {}).get("reason")
            if reason:
                return intern(reason)
    return ""


def _is_lapsed(status: Json, ready: Json | None) -> bool:
    """Whether a pod was ready, is not, and runs on, as a game that takes no more players.

    A pod that never was ready has been so since before its first container started; one whose
    container ended has a container that does not run, or none that started before it lapsed.
    """
    if ready is None or ready.get("status") != "False":
        return False
    running = [
        (container.get("state") or {}).get("running")
        for container in status.get("containerStatuses") or ()
    ]
    if not running or not all(running):
        return False
    started_at = min(_unix_seconds((each or {}).get("startedAt")) for each in running)
    return _unix_seconds(ready.get("lastTransitionTime")) > started_at > 0


def _unix_seconds(text: str | None) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0


_PHASES = {phase.value: phase for phase in Phase}
