"""Pods of every description that the API server takes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.contract.differential.steps import Json

IMAGES = ("game:1", "game", "registry.example/a/game:latest", "game:2", "r:5000/game")
CPU = ("100m", "0.5", 1, "1500m", "2")
MEMORY = ("64Mi", "1Gi", 1048576, "1e6", "0.5Gi", "100M", "1024Ki")


def pod_spec(rng: Random) -> Json:
    """Write the spec of a pod."""
    spec: Json = {
        "containers": [container(rng, name) for name in ("c", "d")[: rng.choice((1, 1, 2))]]
    }
    if rng.random() < 0.2:
        spec["initContainers"] = [container(rng, "init")]
        if rng.random() < 0.5:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    for put in rng.sample(_PARTS, rng.randrange(5)):
        put(rng, spec)
    return spec


def container(rng: Random, name: str) -> Json:
    """Write one container."""
    made: Json = {"name": name, "image": rng.choice(IMAGES)}
    for put in rng.sample(_INNER, rng.randrange(4)):
        put(rng, made)
    return made


def _ports(rng: Random, made: Json) -> None:
    offset = {"c": 0, "d": 100}.get(made["name"], 200)
    ports: list[Json] = [{"containerPort": 7000 + offset}]
    if rng.random() < 0.5:
        ports[0] |= {"hostPort": 7000 + offset, "protocol": rng.choice(("UDP", "TCP"))}
    if rng.random() < 0.5:
        ports.append({"containerPort": 7001 + offset, "name": f"p{offset}", "protocol": "UDP"})
    made["ports"] = ports


def _env(rng: Random, made: Json) -> None:
    resource = {"resource": "limits.cpu", "containerName": made["name"]}
    known: list[Json] = [
        {"name": "A", "value": "1"},
        {"name": "EMPTY", "value": ""},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": resource}},
        {"name": "KEY", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "k"}}},
        {
            "name": "WORD",
            "valueFrom": {"secretKeyRef": {"name": "a", "key": "k", "optional": True}},
        },
    ]
    made["env"] = rng.sample(known, rng.randrange(1, 4))
    if rng.random() < 0.3:
        made["envFrom"] = [{"prefix": "X_", "configMapRef": {"name": "a"}}]


def _resources(rng: Random, made: Json) -> None:
    amounts = {"cpu": rng.choice(CPU), "memory": rng.choice(MEMORY)}
    part = rng.choice(("requests", "limits", "both"))
    made["resources"] = (
        {part: amounts} if part != "both" else {"requests": amounts, "limits": amounts}
    )


def _probes(rng: Random, made: Json) -> None:
    handlers: list[Json] = [
        {"httpGet": {"port": 8080}},
        {"httpGet": {"port": "http", "path": "/live", "scheme": "HTTPS"}},
        {"tcpSocket": {"port": 7000}},
        {"exec": {"command": ["true"]}},
        {"grpc": {"port": 9000}},
    ]
    for name in rng.sample(("livenessProbe", "readinessProbe", "startupProbe"), 2):
        probe = dict(rng.choice(handlers))
        if rng.random() < 0.5:
            probe |= {"periodSeconds": 5, "initialDelaySeconds": 1}
        made[name] = probe


def _lifecycle(rng: Random, made: Json) -> None:
    hook: Json = rng.choice(({"exec": {"command": ["sleep", "1"]}}, {"httpGet": {"port": 80}}))
    made["lifecycle"] = {"preStop": hook}


def _command(rng: Random, made: Json) -> None:
    made |= {"command": ["run"], "args": ["--a", "b"], "workingDir": "/srv", "tty": True}


def _rights(rng: Random, made: Json) -> None:
    made["securityContext"] = {
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def _pull(rng: Random, made: Json) -> None:
    made["imagePullPolicy"] = rng.choice(("Always", "Never", "IfNotPresent"))


_INNER: tuple[Callable[[Random, Json], None], ...] = (
    _ports,
    _env,
    _resources,
    _probes,
    _lifecycle,
    _command,
    _rights,
    _pull,
)


def _volumes(rng: Random, spec: Json) -> None:
    token = {"serviceAccountToken": {"path": "token"}}
    name = {"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}
    known: list[Json] = [
        {"name": "scratch", "emptyDir": {}},
        {"name": "nothing"},
        {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "0.5Gi"}},
        {"name": "map", "configMap": {"name": "a"}},
        {"name": "words", "secret": {"secretName": "a", "defaultMode": 256}},
        {"name": "host", "hostPath": {"path": "/srv"}},
        {"name": "all", "projected": {"sources": [token, {"downwardAPI": {"items": [name]}}]}},
        {"name": "down", "downwardAPI": {"items": [name]}},
    ]
    spec["volumes"] = rng.sample(known, rng.randrange(1, 4))
    mounts = [{"name": one["name"], "mountPath": f"/{one['name']}"} for one in spec["volumes"]]
    spec["containers"][0]["volumeMounts"] = mounts


def _tolerations(rng: Random, spec: Json) -> None:
    known: list[Json] = [
        {"key": "games", "operator": "Exists"},
        {"key": "games", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
        {"key": "games", "value": "yes"},
        {"operator": "Exists"},
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
    ]
    spec["tolerations"] = rng.sample(known, rng.randrange(1, 3))


def _affinity(rng: Random, spec: Json) -> None:
    term = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
    expression = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    preferred = {"weight": 5, "podAffinityTerm": term}
    known: list[Json] = [
        {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}},
        {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    ]
    spec["affinity"] = rng.choice(known)


def _spread(rng: Random, spec: Json) -> None:
    spec["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": rng.choice(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": {"matchLabels": {"app": "a"}},
        }
    ]


def _settings(rng: Random, spec: Json) -> None:
    known = {
        "restartPolicy": rng.choice(("Never", "OnFailure", "Always")),
        "terminationGracePeriodSeconds": rng.choice((0, 1, 60)),
        "activeDeadlineSeconds": 600,
        "schedulerName": "nobody",
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "nodeSelector": {"disk": "fast"},
        "dnsPolicy": rng.choice(("Default", "ClusterFirstWithHostNet")),
        "hostname": "room",
        "subdomain": "rooms",
        "serviceAccountName": "default",
        "priorityClassName": rng.choice(("system-node-critical", "system-cluster-critical")),
        "preemptionPolicy": "PreemptLowerPriority",
        "imagePullSecrets": [{"name": "a"}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a.example"]}],
        "readinessGates": [{"conditionType": "example.com/ready"}],
        "securityContext": {"runAsUser": 1000, "fsGroup": 2000},
        "shareProcessNamespace": True,
        "dnsConfig": {"nameservers": ["10.0.0.2"], "options": [{"name": "ndots", "value": "2"}]},
        "os": {"name": "linux"},
        "setHostnameAsFQDN": True,
        "hostNetwork": True,
    }
    for name in rng.sample(sorted(known), rng.randrange(1, 4)):
        spec[name] = known[name]


def _node(rng: Random, spec: Json) -> None:
    spec["nodeName"] = rng.choice(("n1", "n2"))


def _gates(rng: Random, spec: Json) -> None:
    if "nodeName" not in spec:
        spec["schedulingGates"] = [{"name": "example.com/one"}]


_PARTS: tuple[Callable[[Random, Json], None], ...] = (
    _volumes,
    _tolerations,
    _affinity,
    _spread,
    _settings,
    _settings,
    _node,
    _node,
    _gates,
)
