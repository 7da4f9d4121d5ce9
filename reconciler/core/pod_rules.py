"""What Kubernetes checks of a pod beyond its published schemas: enums, bounds, forms of names.

An overlay of JSON Schema fragments by definition; properties that a version lacks are skipped.
"""

from collections.abc import Mapping
from typing import Any

from reconciler.model.refs import Json

_PORT = {"minimum": 1, "maximum": 65535}
_POSITIVE = {"minimum": 1}
_COUNT = {"minimum": 0}
_LABEL = {"format": "dns-label"}
_SUBDOMAIN = {"format": "dns-subdomain"}
_IMAGE = {"type": "string", "format": "image"}
_TEXT = {"minLength": 1, "type": "string"}
_MODE = {"minimum": 0, "maximum": 511}
_KEY = {
    "type": "string",
    "pattern": "[-._a-zA-Z0-9]{1,253}",
    "x-plain": "at most 253 letters, digits, '-', '_' and '.'",
}
_ABSOLUTE = {"type": "string", "pattern": "/.*", "x-plain": "a path that begins with /"}
_NAMES = {
    "type": "string",
    "pattern": r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?",
    "x-plain": "letters, digits, '-', '_' and '.', after an optional domain and '/'",
}


def _enum(*words: str) -> Json:
    return {"enum": list(words)}


def _kind(required: tuple[str, ...] = (), /, **properties: Any) -> Json:
    return {"required": list(required), "properties": properties}


_SPREAD = _enum("Honor", "Ignore")
_PULL = _enum("Always", "IfNotPresent", "Never", "")
_CONTAINER = _kind(
    ("image",),
    name=_LABEL,
    image=_IMAGE,
    imagePullPolicy=_PULL,
    terminationMessagePolicy=_enum("File", "FallbackToLogsOnError"),
    restartPolicy=_enum("Always", "OnFailure", "Never"),
)

_BY_KIND: Mapping[str, Json] = {
    "PodSpec": _kind(
        restartPolicy=_enum("Always", "OnFailure", "Never", ""),
        dnsPolicy=_enum("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
        preemptionPolicy=_enum("PreemptLowerPriority", "Never"),
        # A week: a room that is told to go keeps its name and port until then.
        terminationGracePeriodSeconds={"minimum": 0, "maximum": 604_800},
        activeDeadlineSeconds=_POSITIVE,
        hostname=_LABEL,
        subdomain=_LABEL,
        priorityClassName=_SUBDOMAIN,
        runtimeClassName=_SUBDOMAIN,
        containers={"minItems": 1},
    ),
    "Container": _CONTAINER,
    "ContainerPort": _kind(
        containerPort=_PORT,
        hostPort={"minimum": 0, "maximum": 65535},
        name={"format": "port-name"},
        protocol=_enum("TCP", "UDP", "SCTP", ""),
    ),
    "ContainerResizePolicy": _kind(
        resourceName=_enum("cpu", "memory"), restartPolicy=_enum("NotRequired", "RestartContainer")
    ),
    "EnvVar": _kind(name={"format": "env-name"}),
    "SecretKeySelector": _kind(("name",), key=_KEY, name=_SUBDOMAIN),
    "ConfigMapKeySelector": _kind(("name",), key=_KEY, name=_SUBDOMAIN),
    "SecretEnvSource": _kind(("name",), name=_SUBDOMAIN),
    "ConfigMapEnvSource": _kind(("name",), name=_SUBDOMAIN),
    "LocalObjectReference": _kind(("name",), name=_SUBDOMAIN),
    "ConfigMapVolumeSource": _kind(("name",), name=_SUBDOMAIN, defaultMode=_MODE),
    "SecretVolumeSource": _kind(("secretName",), secretName=_SUBDOMAIN, defaultMode=_MODE),
    "PersistentVolumeClaimVolumeSource": _kind(claimName=_SUBDOMAIN),
    "EmptyDirVolumeSource": _kind(
        medium={
            "pattern": "(Memory|HugePages(-.+)?)?",
            "x-plain": "Memory, HugePages or HugePages-<size>",
        }
    ),
    "HostPathVolumeSource": _kind(
        type=_enum(
            "",
            "DirectoryOrCreate",
            "Directory",
            "FileOrCreate",
            "File",
            "Socket",
            "CharDevice",
            "BlockDevice",
        )
    ),
    "ImageVolumeSource": _kind(reference=_IMAGE, pullPolicy=_PULL),
    "Volume": _kind(name=_LABEL),
    "NFSVolumeSource": _kind(server=_TEXT, path=_ABSOLUTE),
    "ProjectedVolumeSource": _kind(defaultMode=_MODE),
    "DownwardAPIVolumeSource": _kind(defaultMode=_MODE),
    "DownwardAPIVolumeFile": _kind(path=_TEXT, mode=_MODE),
    "KeyToPath": _kind(key=_KEY, path=_TEXT, mode=_MODE),
    "PersistentVolumeClaimSpec": _kind(
        accessModes={
            "items": _enum("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
        }
    ),
    "VolumeDevice": _kind(name=_LABEL, devicePath=_TEXT),
    "ObjectFieldSelector": _kind(
        fieldPath={
            "type": "string",
            "pattern": r"(metadata|spec|status)\..+",
            "x-plain": "a field of the pod, such as metadata.name or status.hostIP",
        }
    ),
    "ResourceFieldSelector": _kind(
        resource={
            "type": "string",
            "pattern": "(limits|requests)[.](cpu|memory|ephemeral-storage|hugepages-.+)",
            "x-plain": "such as limits.memory or requests.cpu",
        }
    ),
    "ResourceClaim": _kind(name=_LABEL),
    "ExecAction": _kind(("command",), command={"minItems": 1}),
    "HostAlias": _kind(
        ip={
            "type": "string",
            "pattern": "[0-9a-fA-F:.]*[:.][0-9a-fA-F:.]*",
            "x-plain": "an IP address",
        }
    ),
    "HTTPHeader": _kind(name={"type": "string", "pattern": "[-A-Za-z0-9]+"}),
    "ServiceAccountTokenProjection": _kind(expirationSeconds={"minimum": 600}),
    "PodReadinessGate": _kind(conditionType=_NAMES),
    "PodSchedulingGate": _kind(name=_NAMES),
    "VolumeMount": _kind(
        name=_LABEL,
        mountPath=_TEXT,
        mountPropagation=_enum("None", "HostToContainer", "Bidirectional"),
        recursiveReadOnly=_enum("Disabled", "IfPossible", "Enabled"),
    ),
    "Probe": _kind(
        initialDelaySeconds=_COUNT,
        periodSeconds=_POSITIVE,
        timeoutSeconds=_POSITIVE,
        successThreshold=_POSITIVE,
        failureThreshold=_POSITIVE,
        terminationGracePeriodSeconds=_POSITIVE,
    ),
    "HTTPGetAction": _kind(scheme=_enum("HTTP", "HTTPS")),
    "GRPCAction": _kind(port=_PORT),
    "SleepAction": _kind(seconds=_COUNT),
    "Toleration": _kind(
        key={**_NAMES, "pattern": f"({_NAMES['pattern']})?"},
        operator=_enum("Exists", "Equal", "Lt", "Gt", ""),
        effect=_enum("NoSchedule", "PreferNoSchedule", "NoExecute", ""),
    ),
    "NodeSelectorRequirement": _kind(
        operator=_enum("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    ),
    "NodeSelector": _kind(nodeSelectorTerms={"minItems": 1}),
    "PreferredSchedulingTerm": _kind(weight={"minimum": 1, "maximum": 100}),
    "WeightedPodAffinityTerm": _kind(weight={"minimum": 1, "maximum": 100}),
    "PodAffinityTerm": _kind(topologyKey=_TEXT),
    "TopologySpreadConstraint": _kind(
        maxSkew=_POSITIVE,
        minDomains=_POSITIVE,
        topologyKey=_TEXT,
        whenUnsatisfiable=_enum("DoNotSchedule", "ScheduleAnyway"),
        nodeAffinityPolicy=_SPREAD,
        nodeTaintsPolicy=_SPREAD,
    ),
    "PodSecurityContext": _kind(
        runAsUser=_COUNT,
        runAsGroup=_COUNT,
        fsGroup=_COUNT,
        fsGroupChangePolicy=_enum("OnRootMismatch", "Always"),
        supplementalGroupsPolicy=_enum("Merge", "Strict"),
    ),
    "SecurityContext": _kind(
        runAsUser=_COUNT, runAsGroup=_COUNT, procMount=_enum("Default", "Unmasked")
    ),
    "SeccompProfile": _kind(type=_enum("Localhost", "RuntimeDefault", "Unconfined")),
    "AppArmorProfile": _kind(type=_enum("Localhost", "RuntimeDefault", "Unconfined")),
    "PodOS": _kind(name=_enum("linux", "windows")),
}

_CORE = "io.k8s.api.core.v1."
POD_SPEC = f"{_CORE}PodSpec"
CONTAINER = f"{_CORE}Container"
REFINED: Mapping[str, Json] = {f"{_CORE}{kind}": more for kind, more in _BY_KIND.items()} | {
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement": _kind(
        operator=_enum("In", "NotIn", "Exists", "DoesNotExist")
    )
}
