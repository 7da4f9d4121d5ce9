"""Values for tests of the pure core, with everything that a test does not care about filled in."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

from reconciler.core import desired
from reconciler.model import labels
from reconciler.model.live import (
    HostPort,
    LiveNode,
    LiveObject,
    LivePod,
    LiveWorkload,
    Nodes,
    Phase,
    Seen,
)
from reconciler.model.plans import Desired, Situation
from reconciler.model.readings import Reading, Rendered
from reconciler.model.records import Accepted, Ordinals, StateRecord
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.model.rooms import Ears, Heard, Said
from reconciler.model.scaling import Autoscaling, Bounds, PolicySpec
from reconciler.model.specs import (
    Config,
    Disruption,
    PortRange,
    Rollout,
    Scheduling,
    Source,
    Workload,
)

NOW = 1_800_000_000.0
NEW, OLD, REPORTS = "1-new", "1-old", "1-newr"
STAMPS = labels.digest_of({"labels": {}, "annotations": {}})
"""The digest of the rooms that `rendered` makes."""


def a_key(name: str = "arena") -> WorkloadKey:
    return WorkloadKey("Scheduler", name, name)


def a_workload(name: str = "arena", replicas: int = 3, **changes: Any) -> Workload:
    template: Json = changes.pop("template", {"spec": {"containers": [{"name": "game"}]}})
    workload = Workload(
        key=a_key(name),
        game="arena-royale",
        replicas=replicas,
        reports="none",
        rollout=Rollout(),
        port_range=None,
        disruption=Disruption(),
        scheduling=Scheduling.PACKED,
        suspend=False,
        template=template,
        revision=NEW,
        spec_json="",
        source=Source(f"schedulers/{name}.yaml", 1),
        replicas_source=Source(f"schedulers/{name}.yaml", 7),
    )
    workload = replace(workload, **changes)
    spec = {"name": name, "replicas": replicas, "revision": workload.revision}
    spec |= {"suspend": workload.suspend}
    if workload.autoscaling is not None:
        bounds = workload.autoscaling.bounds
        spec["bounds"] = [bounds.minimum, bounds.maximum, workload.autoscaling.enabled]
    return replace(workload, spec_json=json.dumps(spec))


def autoscaling(minimum: int, maximum: int, enabled: bool = True) -> Autoscaling:
    return Autoscaling(enabled, Bounds(minimum, maximum), PolicySpec("buffer", {"rooms": 5}))


def read_spec(spec_json: str, source: Source) -> Workload:
    """The stand-in for `compile.workload_from_json`, for specs that `a_workload` wrote."""
    spec = json.loads(spec_json)
    workload = a_workload(
        spec["name"],
        spec["replicas"],
        revision=spec["revision"],
        suspend=spec["suspend"],
        autoscaling=autoscaling(*spec["bounds"]) if "bounds" in spec else None,
    )
    return replace(workload, source=source)


def a_pod(ordinal: int, **changes: Any) -> LivePod:
    pod = LivePod(
        uid=f"uid-{ordinal}",
        namespace="arena",
        name=f"arena-{ordinal}",
        resource_version=str(ordinal + 100),
        phase=Phase.RUNNING,
        ready=True,
        terminating=False,
        node="node-1",
        host_ip="10.0.0.1",
        instance="main",
        workload="arena",
        ordinal=ordinal,
        revision=NEW,
        host_ports=(),
        created_at=NOW - 60,
        stamps=STAMPS,
        guard=("false", "true"),
        started_at=NOW - 50,
        seen=Seen(starting=NOW - 50),
    )
    pod = replace(pod, **changes)
    return pod if "running" in changes else replace(pod, running=pod.phase is Phase.RUNNING)


def a_room(ordinal: int, **changes: Any) -> LivePod:
    """A pod of the newest revision of a workload whose rooms report."""
    return a_pod(ordinal, **{"revision": REPORTS, **changes})


def a_heard(**changes: Any) -> Heard:
    """What a room that reports periodically, and is empty, said last."""
    return replace(Heard(at=NOW - 5, said=Said.READY), **changes)


def ears(**rooms: Heard) -> Ears:
    """What is heard of rooms, by their n: `ears(r0=a_heard())`."""
    by_uid = {f"uid-{name.removeprefix('r')}": heard for name, heard in rooms.items()}
    return Ears(by_uid, since=NOW - 1000)


def pods(number: int, first: int = 0, **changes: Any) -> list[LivePod]:
    return [a_pod(first + index, **changes) for index in range(number)]


def pending(number: int, first: int = 0, **changes: Any) -> list[LivePod]:
    return pods(number, first, phase=Phase.PENDING, ready=False, node="", **changes)


def waiting_for_port(ordinal: int, port: int, **changes: Any) -> LivePod:
    return a_pod(
        ordinal,
        phase=Phase.PENDING,
        ready=False,
        node="",
        host_ports=(HostPort(port, "UDP"),),
        unschedulable="0/2 nodes are available: 2 node(s) didn't have free ports",
        **changes,
    )


def a_node(name: str, **changes: Any) -> LiveNode:
    return replace(LiveNode(name, True, False, (), (), ()), **changes)


def nodes(number: int) -> Nodes:
    """So many nodes that take anything."""
    return nodes_of(*(a_node(f"node-{n}") for n in range(1, number + 1)))


def nodes_of(*there: LiveNode) -> Nodes:
    return Nodes(there, tuple(node for node in there if node.ready and not node.unschedulable))


def rendered(name: str = "arena") -> Rendered:
    metadata = {"name": name, "labels": {"gamekeeper.dev/instance": "main"}}
    inner = {**metadata, "namespace": name}
    budget = {"selector": {"matchLabels": {"gamekeeper.dev/workload": name}}, "minAvailable": 0}
    objects = (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": inner},
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": inner,
            "spec": budget,
        },
    )
    room = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": name, "labels": {}, "annotations": {}},
        "spec": {"containers": [{"name": "game", "ports": [{"containerPort": 7777}]}]},
    }
    return Rendered(a_key(name), tuple(json.dumps(body) for body in objects), json.dumps(room))


def wanted(workload: Workload) -> Desired:
    return desired.build(workload, rendered(workload.key.name))


def live_objects(workload: Workload, kinds: tuple[str, ...] = ()) -> tuple[LiveObject, ...]:
    """The objects of a workload exactly as wanted, all of them or of some kinds."""
    return tuple(
        LiveObject(item.ref, f"uid-{item.ref.kind}", "1", "main", workload.key.name, item.body)
        for item in wanted(workload).objects
        if not kinds or item.ref.kind in kinds
    )


def a_situation(
    workload: Workload | None, there: list[LivePod] | None = None, **changes: Any
) -> Situation:
    objects = live_objects(workload) if workload else ()
    situation = Situation(
        key=workload.key if workload else a_key(),
        desired=wanted(workload) if workload else None,
        live=LiveWorkload(tuple(there or ()), objects),
        record=StateRecord(),
        ordinals=Ordinals(100),
        in_use=Counter(),
        confirmed=frozenset(),
        create_not_before=0.0,
        complete=True,
        rooms_complete=True,
        nodes=nodes(4),
        deleting=workload is None,
        version=1000,
        instance="main",
        elapsed=NOW,
    )
    return replace(situation, **changes)


def a_reading(*workloads: Workload, commit: str = "c2", **changes: Any) -> Reading:
    reading = Reading(
        commit=commit,
        config=Config(),
        workloads={workload.key: workload for workload in workloads},
        invalid={},
        unreadable=(),
        missing_paths=(),
        findings=(),
        directories=frozenset({"schedulers"}),
    )
    return replace(reading, **changes)


def accepted(workload: Workload, commit: str = "c1") -> StateRecord:
    source = workload.source
    return StateRecord(
        Accepted(workload.spec_json, workload.replicas, commit, source.file, source.line)
    )


def port_range(start: int, end: int) -> PortRange:
    return PortRange(start, end)


def ref(kind: str, name: str = "arena", namespace: str = "") -> ObjectRef:
    return ObjectRef("v1", kind, namespace, name)
