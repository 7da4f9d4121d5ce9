"""Pods that an API server refuses: what is wrong with their specs, in its words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.api_server_world import Json, pod

_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_CHARACTERS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_OF_ENV = (
    '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", '
    '"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
)


def _refused(what: str, told: str, **spec: Any) -> Any:
    message = f'Pod "k" is invalid: {told}'
    return pytest.param("POST", "/pods", pod("k", **spec), "", 422, "Invalid", message, id=what)


def _running(**container: Any) -> Json:
    return {"containers": [{"name": "c", "image": "i", **container}]}


def _env(source: str, **reference: Any) -> Json:
    return _running(env=[{"name": "A", "valueFrom": {source: reference}}])


def _wanting(*expressions: Json) -> Json:
    terms = [{"matchExpressions": [*expressions]}] if expressions else []
    required = {"nodeSelectorTerms": terms}
    return {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required},
        }
    }


def _mounting(volume: Json) -> Json:
    return {"volumes": [{"name": "v", **volume}], "serviceAccountName": "default"}


REFUSED_PODS = [
    _refused(
        "a variable of a key of no config map",
        f'spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "": '
        f"{_SUBDOMAIN}",
        **_env("configMapKeyRef", key="k"),
    ),
    _refused(
        "a variable of a key that starts with two dots",
        'spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: "..k": '
        "must not start with '..'",
        **_env("secretKeyRef", name="a", key="..k"),
    ),
    _refused(
        "a variable of an unknown amount",
        'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "x": '
        'supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", '
        '"requests.cpu", "requests.ephemeral-storage", "requests.memory"',
        **_env("resourceFieldRef", resource="x"),
    ),
    _refused(
        "a variable of a field that only selectors know",
        "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "
        f'"spec.restartPolicy": supported values: {_OF_ENV}',
        **_env("fieldRef", fieldPath="spec.restartPolicy"),
    ),
    _refused(
        "a variable with two sources",
        'spec.containers[0].env[0].valueFrom: Invalid value: "": '
        "may not have more than one field specified at a time",
        **_running(
            env=[
                {
                    "name": "A",
                    "valueFrom": {
                        "configMapKeyRef": {"name": "a", "key": "k"},
                        "secretKeyRef": {"name": "a", "key": "k"},
                    },
                }
            ]
        ),
    ),
    _refused(
        "variables of a config map without a name",
        "spec.containers[0].envFrom[0].configMapRef.name: Required value",
        **_running(envFrom=[{"configMapRef": {}}]),
    ),
    _refused(
        "variables of nowhere",
        'spec.containers[0].envFrom: Invalid value: "": '
        "must specify one of: `configMapRef` or `secretRef`",
        **_running(envFrom=[{}]),
    ),
    _refused(
        "a node wanted by no term",
        f"{_TERMS}.nodeSelectorTerms: Required value: must have at least one node selector term",
        **_wanting(),
    ),
    _refused(
        "a node wanted by an unknown operator",
        f"{_TERMS}.nodeSelectorTerms[0].matchExpressions[0].operator: "
        'Invalid value: "text": not a valid selector operator',
        **_wanting({"key": "zone", "operator": "text", "values": ["a"]}),
    ),
    _refused(
        "a node wanted with more than two numbers",
        f"{_TERMS}.nodeSelectorTerms[0].matchExpressions[0].values: Required value: "
        "must be specified single value when `operator` is 'Lt' or 'Gt'",
        **_wanting({"key": "cores", "operator": "Gt", "values": ["1", "2"]}),
    ),
    _refused(
        "a node wished for with no weight",
        "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
        "Invalid value: 0: must be in the range 1-100",
        affinity={
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 0,
                        "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
                    }
                ]
            }
        },
    ),
    _refused(
        "a host without an address",
        f'spec.hostAliases[0].ip: Invalid value: "": {_NO_ADDRESS}',
        hostAliases=[{"hostnames": ["a.example"]}],
    ),
    _refused(
        "a name server without an address",
        f'spec.dnsConfig.nameservers[0]: Invalid value: "x": {_NO_ADDRESS}',
        dnsConfig={"nameservers": ["x"]},
    ),
    _refused(
        "no name server of its own, where there is no other",
        "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
        dnsPolicy="None",
    ),
    _refused(
        "a gate with a bad name",
        f'spec.schedulingGates[0]: Invalid value: "a b": name part {_CHARACTERS}',
        schedulingGates=[{"name": "a b"}],
    ),
    _refused(
        "a gate twice",
        'spec.schedulingGates[1]: Duplicate value: "a"',
        schedulingGates=[{"name": "a"}, {"name": "a"}],
    ),
    _refused(
        "readiness of a bad name",
        f'spec.readinessGates[0].conditionType: Invalid value: "a b": name part {_CHARACTERS}',
        readinessGates=[{"conditionType": "a b"}],
    ),
    _refused(
        "a toleration with an unknown operator",
        'spec.tolerations[0].operator: Unsupported value: "text": '
        'supported values: "Equal", "Exists"',
        tolerations=[{"key": "a", "operator": "text"}],
    ),
    _refused(
        "two spreads of one kind",
        "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: "
        'Duplicate value: "{a, DoNotSchedule}"',
        topologySpreadConstraints=[
            {"maxSkew": skew, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}
            for skew in (1, 2)
        ],
    ),
    _refused(
        "a subdomain of two parts",
        'spec.subdomain: Invalid value: "a.b": must not contain dots',
        subdomain="a.b",
    ),
    _refused(
        "a system that is none",
        'spec.os: Unsupported value: "x": supported values: "linux", "windows"',
        os={"name": "x"},
    ),
    _refused(
        "a user below nobody",
        "spec.securityContext.runAsUser: Invalid value: -1: "
        "must be between 0 and 2147483647, inclusive",
        securityContext={"runAsUser": -1},
    ),
    _refused(
        "a token without a path",
        "spec.volumes[0].projected.path: Required value",
        **_mounting({"projected": {"sources": [{"serviceAccountToken": {}}]}}),
    ),
    _refused(
        "a file of no field",
        "spec.volumes[0].downwardAPI: Required value: "
        "one of fieldRef and resourceFieldRef is required",
        **_mounting({"downwardAPI": {"items": [{"path": "n"}]}}),
    ),
    _refused(
        "another port on the host's network",
        "spec.containers[0].ports[0].hostPort: Invalid value: 81: "
        "must match `containerPort` when `hostNetwork` is true",
        hostNetwork=True,
        **_running(ports=[{"containerPort": 80, "hostPort": 81}]),
    ),
    pytest.param(
        "POST",
        "/pods",
        pod("k", preemptionPolicy="Never"),
        "",
        403,
        "Forbidden",
        'pods "k" is forbidden: the string value of PreemptionPolicy (Never) must not be provided '
        "in pod spec; priority admission controller computed PreemptLowerPriority from the given "
        "PriorityClass name",
        id="a preemption that its class does not have",
    ),
]
