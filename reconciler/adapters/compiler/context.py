"""What templates see of a workload: plain data, never a count, so that scaling renders nothing."""

import re

from reconciler.model.labels import INSTANCE, KIND, MANAGED_BY, NAME, PART_OF, REVISION, WORKLOAD
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Workload

_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


def context_of(workload: Workload, instance: str) -> Json:
    """Return the variables of the templates.

    `owned` are the labels that say whose the object is, `labels` those and the usual ones,
    `shared` those of an object that several workloads have in common,
    `selector` finds the rooms of the workload, `fleet` those of the whole instance.
    """
    key = workload.key
    fleet = {INSTANCE: instance}
    selector = {INSTANCE: instance, WORKLOAD: key.name}
    owned = {**selector, KIND: key.kind}
    shared = {**fleet, KIND: key.kind, MANAGED_BY: "gamekeeper"}
    usual = {NAME: key.name, MANAGED_BY: "gamekeeper"}
    if _LABEL_VALUE.fullmatch(workload.game):  # a game may have a name that no label can hold
        usual[PART_OF] = workload.game
    metadata = workload.template.get("metadata") or {}
    return {
        "instance": instance,
        "workload": {
            "kind": key.kind,
            "name": key.name,
            "namespace": key.namespace,
            "game": workload.game,
            "scheduling": workload.scheduling.value,
            "disruption": workload.disruption.mode,
            "revision": workload.revision,
        },
        "fleet": fleet,
        "selector": selector,
        "owned": owned,
        "shared": shared,
        "labels": {**usual, **owned},
        "annotations": {REVISION: workload.revision},
        "template": {
            "metadata": {
                "labels": metadata.get("labels") or {},
                "annotations": metadata.get("annotations") or {},
            },
            "spec": workload.template.get("spec") or {},
        },
    }


def key_in(context: Json) -> WorkloadKey:
    """Return the workload that a context is of. Raises LookupError for what is none."""
    workload = context["workload"]
    return WorkloadKey(workload["kind"], workload["namespace"], workload["name"])
