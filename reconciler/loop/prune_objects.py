"""Delete the objects of a workload that left Git; its namespace last, and only when empty."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext

from reconciler.loop.joining import doomed
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.loop.unseen import check_goes
from reconciler.model.errors import PortError
from reconciler.model.holds import HoldKind
from reconciler.model.plans import Plan
from reconciler.model.refs import ObjectRef

BUILT_IN = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})
"""What Kubernetes puts into every namespace itself."""


async def prune(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Delete what the plan prunes; what fails stays in the inventory and is tried again."""

    def check() -> None:
        lane.check_stands(plan)
        check_goes(lane, plan)

    for item in plan.prunes:
        try:
            if item.ref.kind == "Namespace" and not await _may_go(lane, plan, item.ref, steps):
                continue
            going = doomed(lane, item.ref.name) if item.ref.kind == "Namespace" else nullcontext()
            with going:
                await lane.cluster.delete(item.ref, item.uid, item.resource_version, check)
        except PortError as error:
            steps.failed("delete", str(item.ref), error, item.reason)
            continue
        steps.did("delete", str(item.ref), item.reason)


async def _may_go(lane: Lane, plan: Plan, namespace: ObjectRef, steps: Steps) -> bool:
    """Whether a namespace holds nothing that somebody may miss; namespace deletion ignores PDBs.

    Raises the cluster's errors: a kind that cannot be listed holds the namespace.
    """
    await lane.store.drop_ordinals(plan.key)
    kinds = (("v1", "Pod"), *lane.content_kinds)
    found = await asyncio.gather(
        *(_names(lane, version, kind, namespace.name) for version, kind in kinds)
    )
    left = [
        f"{kind} {name}"
        for (_, kind), names in zip(kinds, found, strict=True)
        for name in names
        if (kind, name) not in BUILT_IN
    ]
    if left:
        steps.held(HoldKind.FOREIGN, _kept(namespace.name, left))
    return not left


async def _names(lane: Lane, api_version: str, kind: str, namespace: str) -> list[str]:
    if not await lane.cluster.serves(api_version, kind):
        return []
    listing = await lane.cluster.list_metadata(api_version, kind, namespace)
    return [item["metadata"]["name"] for item in listing.items]


def _kept(namespace: str, left: Sequence[str]) -> str:
    shown = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    return (
        f"namespace {namespace} is kept: it still holds {shown}, which this workload did not make"
    )
