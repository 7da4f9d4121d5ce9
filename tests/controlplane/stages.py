"""What simulated kubelets do: kwok's Stage documents, written for this harness.

A pod is taken in at once, runs and is ready a while later, and is gone a while after its deletion.
An image whose tag is `missing` cannot be pulled; one whose tag is `crash` ends right after its
start. A pod's annotation `controlplane.test/start-after` (as `5s`) overrides its start-up time.
Nothing is told of a node with the annotation `controlplane.test/silent`: a test writes what it is.
"""

from __future__ import annotations

import json
from typing import Any

START_AFTER = "controlplane.test/start-after"
SILENT = "controlplane.test/silent"

Json = dict[str, Any]

_DELETED: Json = {"key": ".metadata.deletionTimestamp", "operator": "Exists"}
_NOT_DELETED: Json = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
_NOT_SILENT: Json = {"key": f'.metadata.annotations["{SILENT}"]', "operator": "DoesNotExist"}
_NO_FINALIZERS: Json = {"key": ".metadata.finalizers", "operator": "DoesNotExist"}
_TAKEN_IN: Json = {"key": ".status.startTime", "operator": "Exists"}
_NOT_TAKEN_IN: Json = {"key": ".status.startTime", "operator": "DoesNotExist"}
_PENDING: Json = {"key": ".status.phase", "operator": "In", "values": ["Pending"]}


def documents(*, start_seconds: float, stop_seconds: float | None) -> str:
    """Return all Stage documents.

    `start_seconds` lie between a pod's arrival on its node and its readiness. `stop_seconds` after
    its deletion it is gone; None means the whole of its grace period.
    """
    stop: Json = {"durationFrom": {"expressionFrom": ".metadata.deletionTimestamp"}}
    if stop_seconds is not None:
        stop = {"durationMilliseconds": int(stop_seconds * 1000)}
    start: Json = {
        "durationMilliseconds": int(start_seconds * 1000),
        "durationFrom": {"expressionFrom": f'.metadata.annotations["{START_AFTER}"]'},
    }
    missing, crash = _has_tag("missing"), _has_tag("crash")
    whole = [_NOT_DELETED, _PENDING, _TAKEN_IN, _without(missing), _without(crash)]
    waits: Json = {"key": ".status.containerStatuses.[].state.waiting.reason", "operator": "In"}
    creating: Json = {**waits, "values": ["ContainerCreating"]}
    stages = [
        _stage("node-ready", "Node", [_not_ready(), _NOT_SILENT], {"statusTemplate": _NODE_READY}),
        _stage("pod-arrives", "Pod", [_NOT_DELETED, _NOT_TAKEN_IN], {"statusTemplate": _ARRIVED}),
        _stage("pod-runs", "Pod", whole, {"statusTemplate": _RUNNING, "event": _STARTED}, start),
        _stage(
            "pod-image-fails",
            "Pod",
            [_NOT_DELETED, _PENDING, creating, missing],
            {"statusTemplate": _IMAGE_FAILED, "event": _PULL_FAILED},
        ),
        _stage(
            "pod-crashes",
            "Pod",
            [_NOT_DELETED, _PENDING, creating, crash, _without(missing)],
            {"statusTemplate": _CRASHED, "event": _BACK_OFF},
            start,
        ),
        _stage("pod-leaves", "Pod", [_DELETED, _NO_FINALIZERS], {"delete": True}, stop),
    ]
    return "\n---\n".join(json.dumps(stage, indent=1) for stage in stages) + "\n"


def _stage(name: str, kind: str, when: list[Json], then: Json, after: Json | None = None) -> Json:
    spec: Json = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": when},
        "next": then,
    }
    if after is not None:
        spec["delay"] = after
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": spec,
    }


def _has_tag(tag: str) -> Json:
    key = f'.spec.containers.[].image | select( endswith(":{tag}") )'
    return {"key": key, "operator": "Exists"}


def _without(requirement: Json) -> Json:
    return {**requirement, "operator": "DoesNotExist"}


def _not_ready() -> Json:
    key = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    return {"key": key, "operator": "NotIn", "values": ["True"]}


_STARTED = {"type": "Normal", "reason": "Started", "message": "Started container"}
_PULL_FAILED = {"type": "Warning", "reason": "Failed", "message": "Error: ErrImagePull"}
_BACK_OFF = {"type": "Warning", "reason": "BackOff", "message": "Back-off restarting container"}

_NODE_READY = """\
{{ $now := Now }}
conditions:
- {type: Ready, status: "True", reason: KubeletReady, message: kubelet is posting ready status,
   lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
- {type: MemoryPressure, status: "False", reason: KubeletHasSufficientMemory, message: "",
   lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
- {type: DiskPressure, status: "False", reason: KubeletHasNoDiskPressure, message: "",
   lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
- {type: PIDPressure, status: "False", reason: KubeletHasSufficientPID, message: "",
   lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
"""

_ARRIVED = """\
{{ $now := Now }}
{{ $ip := PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" )
  ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
hostIPs: [{ip: {{ NodeIPWith .spec.nodeName | Quote }}}]
podIP: {{ $ip | Quote }}
podIPs: [{ip: {{ $ip | Quote }}}]
conditions:
- {type: Initialized, lastTransitionTime: {{ $now | Quote }},
   status: {{ if .spec.initContainers }}"False"{{ else }}"True"{{ end }}}
- {type: Ready, status: "False", reason: ContainersNotReady,
   lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: ContainersNotReady,
   lastTransitionTime: {{ $now | Quote }}}
{{ if .spec.initContainers }}
initContainerStatuses:
{{ range .spec.initContainers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: false,
   restartCount: 0, started: false, state: {waiting: {reason: PodInitializing}}}
{{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: false,
   restartCount: 0, started: false, state: {waiting: {reason: ContainerCreating}}}
{{ end }}
phase: Pending
"""

_RUNNING = """\
{{ $now := Now }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", reason: "", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", reason: "", lastTransitionTime: {{ $now | Quote }}}
{{ if .spec.initContainers }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ .image | Quote }}
  ready: true
  restartCount: 0
{{ if eq ( or .restartPolicy "" ) "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ else }}
  started: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }},
          finishedAt: {{ $now | Quote }}}}
{{ end }}
{{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: {{ .image | Quote }},
   ready: true, restartCount: 0, started: true,
   state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
phase: Running
"""

_IMAGE_FAILED = """\
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: false,
   restartCount: 0, started: false,
   state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image}}}
{{ end }}
phase: Pending
"""

_CRASHED = """\
{{ $now := Now }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: {{ .image | Quote }},
   ready: false, restartCount: 1, started: false,
   state: {waiting: {reason: CrashLoopBackOff, message: back-off restarting failed container}},
   lastState: {terminated: {exitCode: 1, reason: Error, startedAt: {{ $now | Quote }},
               finishedAt: {{ $now | Quote }}}}}
{{ end }}
phase: Running
"""
