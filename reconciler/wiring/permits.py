"""What the operator allows a repository, whatever it asks for."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.kube.names import label_problem, subdomain_problem
from reconciler.model.additional import ALLOWABLE
from reconciler.model.errors import Misconfigured
from reconciler.model.specs import LOOSEST, Budgets, Permissions, PodSecurity
from reconciler.model.trees import CONFIG_FILE, is_plain, is_yaml
from reconciler.settings import Settings
from reconciler.wiring.outside import egress_of

_CONTENT_KINDS = (
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "ReplicaSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)
"""What keeps a namespace from being removed, unless a setting names other kinds."""
_LEVELS: Mapping[str, PodSecurity] = {level: level for level in get_args(PodSecurity)}
_ONE = re.compile(r"\[[^]]+\]|[?]")
"""What stands for one character in a glob."""
_NEEDED = re.compile(r"^\*+(?=-|$)|(?<=-)\*+$")
"""Where `*` stands for one at least: no name begins or ends with a hyphen."""
NO_INSTANCE = "render"
"""The instance in labels where none is set: such manifests belong to no installation."""


def permissions_of(settings: Settings) -> Permissions:
    """Return what repositories may do under these settings.

    Whom webhooks may ask is not known where no host is named: who validates on a laptop has no
    list, and the process that acts may have one. Raises Misconfigured for an entry that is none.
    """
    egress_of(settings)
    reserved = frozenset({*settings.reserved_namespaces, settings.namespace})
    return Permissions(
        _LEVELS[settings.pod_security],
        reserved,
        settings.egress_hosts or None,
        kinds=kinds_of(settings),
        namespaces=_namespaces_of(settings),
        instance=settings.instance or NO_INSTANCE,
        copy_from=copy_from_of(settings),
        values=_values_of(settings),
    )


def _namespaces_of(settings: Settings) -> tuple[str, ...]:
    for entry in settings.allow_namespaces:
        # As the shortest name that it may mean: what is none then can match none.
        problem = label_problem(_NEEDED.sub("a", _ONE.sub("a", entry)).replace("*", ""))
        if problem:
            raise Misconfigured(
                f"--allow-namespaces {entry[:100]!r} can match no namespace: {problem}"
            )
    return settings.allow_namespaces


def copy_from_of(settings: Settings) -> tuple[str, ...]:
    """Return what repositories may have copied: NAMESPACE or NAMESPACE/NAME. Raises Misconfigured.

    Never from our own namespace, whose Secrets are what rooms are believed by, nor Kubernetes'.
    """
    for entry in settings.copy_from_namespaces:
        namespace, slash, name = entry.partition("/")
        bad = label_problem(namespace) or (subdomain_problem(name) if slash else None)
        if bad:
            raise Misconfigured(f"--copy-from-namespaces {entry}: {bad}")
        if namespace == settings.namespace or namespace.startswith("kube-"):
            raise Misconfigured(
                f"--copy-from-namespaces {entry}: nothing of {namespace} may be copied, for keys "
                "stand there; put what rooms need into a namespace of its own"
            )
    return settings.copy_from_namespaces


def _values_of(settings: Settings) -> tuple[str, ...]:
    for file in settings.values:
        if not is_plain(file) or not is_yaml(file) or file in (CONFIG_FILE, REPLICAS_FILE):
            raise Misconfigured(
                f"--values {file[:100]!r} is no file of values: write its path in the repository, "
                "as environments/eu-prod.yaml"
            )
    return settings.values


def kinds_of(settings: Settings) -> tuple[str, ...]:
    """Return the kinds that repositories may make, or add to. Raises Misconfigured."""
    for kind in settings.allow_kinds:
        if kind not in ALLOWABLE:
            raise Misconfigured(
                f"--allow-kinds {kind}: repositories may be allowed "
                f"{', '.join(sorted(ALLOWABLE))}, and nothing else"
            )
    return tuple(kind for kind in ALLOWABLE if kind in settings.allow_kinds)


def content_kinds_of(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return the kinds that keep a namespace from being removed, as (apiVersion, kind).

    Written `v1/Service` and `apps/v1/Deployment`. Raises Misconfigured.
    """
    found = []
    for text in settings.namespace_content_kinds:
        api_version, _, kind = text.rpartition("/")
        if not api_version or not kind:
            raise Misconfigured(
                f"{text!r} is no kind: write it as v1/Service or apps/v1/Deployment"
            )
        found.append((api_version, kind))
    return tuple(found) or _CONTENT_KINDS


def ceiling_of(settings: Settings) -> Budgets:
    """Return the operator's budgets, which no repository can allow itself more than.

    The larger of rooms and per cent counts, so one that is set alone takes the other away. With
    a ceiling removals are summed up over at least the default window, else a repository would
    walk around it in small steps.
    """
    workload_rooms, workload_percent = _ceiling(
        settings.ceiling_workload_rooms, settings.ceiling_workload_percent
    )
    total_rooms, total_percent = _ceiling(
        settings.ceiling_total_rooms, settings.ceiling_total_percent
    )
    ceiling = Budgets(
        workload_rooms, workload_percent, total_rooms, total_percent, LOOSEST.window_seconds
    )
    if ceiling == LOOSEST:
        return ceiling
    return replace(ceiling, window_seconds=Budgets().window_seconds)


def _ceiling(rooms: int, percent: float) -> tuple[int, float]:
    has_rooms, has_percent = rooms < LOOSEST.workload_rooms, percent < LOOSEST.workload_percent
    if has_rooms and not has_percent:
        return rooms, 0.0
    return (0, percent) if has_percent and not has_rooms else (rooms, percent)
