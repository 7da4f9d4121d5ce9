"""Approvals as objects of their own, so that RBAC says who may give one."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from reconciler.core.approval import Approval
from reconciler.core.record_versions import READABLE, SCHEMA_VERSION
from reconciler.loop.lane import Lane
from reconciler.model import labels
from reconciler.model.refs import Json, ObjectRef

APPROVAL = "approval"
OFF_SECONDS = 600.0
"""So far off is a clock that nobody sets; less, a look that lasts may be."""

log = logging.getLogger("gamekeeper")


def approval_prefix(instance: str) -> str:
    """Return how the names of approvals begin."""
    return f"gamekeeper-{instance}-{APPROVAL}-"


def approval_body(namespace: str, instance: str, change_hash: str, by: str) -> Json:
    """Return the object that `gamekeeper approve` creates; when it was given the server says."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "generateName": approval_prefix(instance),
            "namespace": namespace,
            "labels": {labels.INSTANCE: instance, labels.RECORD: APPROVAL},
        },
        "data": {"schema": SCHEMA_VERSION, "changeHash": change_hash, "by": by},
    }


async def read_approvals(lane: Lane) -> Mapping[str, Approval]:
    """Read the approvals that were given, by the name of their object.

    One of a newer version may say less than it seems to: it lets nothing through, and stays.
    """
    return {
        item["metadata"]["name"]: Approval(
            change_hash=item.get("data", {}).get("changeHash", ""),
            by=item.get("data", {}).get("by", ""),
            at=datetime.fromisoformat(item["metadata"]["creationTimestamp"]).timestamp(),
        )
        for item in await _listed(lane)
        if item.get("data", {}).get("schema", "1") in READABLE
    }


def by_our_clock(lane: Lane, given: Mapping[str, Approval], now: float) -> Mapping[str, Approval]:
    """Return approvals with the times of our clock, where that is far from the API server's.

    When they were given the server says: by a clock that is an hour off all would have expired, or
    be of a time to come. `now` is ours, of when this look began: looks may last for minutes.
    """
    ahead = _ahead_seconds(lane, now)
    return {name: replace(each, at=each.at - ahead) for name, each in given.items()}


def tell_clock(lane: Lane, given: Mapping[str, Approval], now: float) -> None:
    """Say that our clock is not the API server's, where approvals were given."""
    minutes = _ahead_seconds(lane, now) / 60.0 if given else 0.0
    if minutes:
        log.warning(
            "the clock of this process is %.0f minutes %s the API server's, which says how old "
            "approvals are",
            abs(minutes),
            "behind" if minutes > 0.0 else "ahead of",
        )


def _ahead_seconds(lane: Lane, now: float) -> float:
    ahead = lane.server_now() - now if lane.server_now else 0.0
    return ahead if abs(ahead) >= OFF_SECONDS else 0.0


async def drop_approvals(lane: Lane, names: Collection[str]) -> None:
    """Delete approvals that were used up: one approval lets one change through."""
    if not names:
        return
    for item in await _listed(lane):
        metadata = item["metadata"]
        if metadata["name"] in names:
            ref = ObjectRef("v1", "ConfigMap", metadata["namespace"], metadata["name"])
            await lane.cluster.delete(ref, metadata["uid"], metadata["resourceVersion"])


async def _listed(lane: Lane) -> list[Json]:
    selector = f"{labels.INSTANCE}={lane.instance},{labels.RECORD}={APPROVAL}"
    namespace = lane.store.repository_ref.namespace
    listing = await lane.cluster.list("v1", "ConfigMap", namespace=namespace, labels=selector)
    return list(listing.items)
