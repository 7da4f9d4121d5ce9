"""Running pods become rooms of a workload: read, judged, numbered, and patched where they stand."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reconciler.core import adopting, ordinals
from reconciler.core.adopting import Adoption, Obstacle
from reconciler.loop.record_places import Places
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Conflict, PortError
from reconciler.model.refs import Json, ObjectRef, ref_of
from reconciler.ports import Cluster

TRIES = 3
"""The status of a pod is written all the time, and each write makes another version of it."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a selector found: pods that become rooms, and what is in the way of any of them.

    `known` are rooms of this workload already, `over` the names of pods that end. `above` is how
    many rooms of the spec's template will be more than are wanted.
    """

    pods: Sequence[Json]
    known: Sequence[str]
    over: Sequence[str]
    obstacles: Sequence[Obstacle]
    above: int = 0


async def candidates(cluster: Cluster, adoption: Adoption, selector: str, ours: str) -> Candidates:
    """Look at the pods of the workload's namespace; `ours` is that of the records.

    Raises the cluster's errors.
    """
    namespace = adoption.workload.key.namespace
    listing, rooms, budgets = await asyncio.gather(
        cluster.list("v1", "Pod", namespace=namespace, labels=selector),
        cluster.list("v1", "Pod", namespace=namespace, labels=adoption.rooms_selector),
        cluster.list("policy/v1", "PodDisruptionBudget", namespace=namespace),
    )
    over, known, pods = list[Json](), list[Json](), list[Json]()
    for each in listing.items:
        is_known = adopting.is_adopted(each, adoption)
        (over if adopting.is_over(each) else known if is_known else pods).append(each)
    obstacles = [found for pod in pods for found in adopting.obstacles_of(pod, adoption)]
    above = adopting.above_wanted(rooms.items, pods, adoption)
    obstacles += adopting.crowd_obstacles(above, adoption)
    obstacles += adopting.budget_obstacles(budgets.items, pods, adoption)
    obstacles += await _held_by_others(cluster, adoption, pods, ours)
    pods.sort(key=_name)
    return Candidates(pods, list(map(_name, known)), list(map(_name, over)), obstacles, above)


async def _held_by_others(
    cluster: Cluster, adoption: Adoption, pods: Sequence[Json], ours: str
) -> list[Obstacle]:
    """Return the other instances that still have records: their loops would see rooms lost."""
    key, found = adoption.workload.key, list[Obstacle]()
    marks = [pod["metadata"].get("labels") or {} for pod in pods]
    others = {each.get(labels.INSTANCE, "") for each in marks} - {"", adoption.instance}
    places = [Places(cluster.name, ours, other).repository for other in sorted(others)]
    places.append(Places(cluster.name, ours, adoption.instance).ordinals(key))
    for there in await asyncio.gather(*(cluster.get(place) for place in places)):
        metadata = (there or {}).get("metadata", {})
        instance = (metadata.get("labels") or {}).get(labels.INSTANCE)
        if there is not None and instance != adoption.instance:
            found.append(
                Obstacle(
                    f"{ref_of(there)} is a record of instance {instance}, which keeps these pods",
                    f"Stop its loop, then gamekeeper uninstall --yes --instance {instance}",
                )
            )
    return found


async def adopt(
    store: RecordStore, cluster: Cluster, adoption: Adoption, pods: Sequence[Json], now: float
) -> dict[str, str]:
    """Make rooms of pods; what went wrong by their names, "" for each that is one now.

    Their numbers are on record before the first is patched, so that none is ever given again.
    `now` is Unix seconds. Raises Conflict where the loop gave names meanwhile, and the cluster's
    errors of records.
    """
    numbers = await _number(store, adoption, pods, now)
    told = await asyncio.gather(
        *(_patch(cluster, adoption, pod, numbers.get(_name(pod))) for pod in pods)
    )
    return dict(zip(map(_name, pods), told, strict=True))


async def _number(
    store: RecordStore, adoption: Adoption, pods: Sequence[Json], now: float
) -> dict[str, int]:
    key = adoption.workload.key
    told = {_name(pod): ordinals.ordinal_of(_name(pod), key.name) for pod in pods}
    record = ordinals.first(store.ordinals(key), store.state(key).highest, (), now)
    free = max(record.next, *(number + 1 for number in told.values()), 0)
    nameless = [name for name, number in told.items() if number < 0]
    await store.save_ordinals(key, replace(record, next=free + len(nameless)))
    return {name: free + place for place, name in enumerate(nameless)}


async def _patch(cluster: Cluster, adoption: Adoption, pod: Json, ordinal: int | None) -> str:
    ref, seen = ref_of(pod), pod
    for left in reversed(range(TRIES)):
        try:
            await cluster.merge_patch(ref, adopting.patch_of(seen, adoption, ordinal))
        except Conflict as error:
            again = await _read_again(cluster, ref, pod)
            if again is None:
                return "it is gone, or another pod has its name by now"
            if adopting.obstacles_of(again, adoption) or not left:
                return str(error)
            seen = again
        except PortError as error:
            return str(error)
        else:
            return ""
    return ""


async def _read_again(cluster: Cluster, ref: ObjectRef, before: Json) -> Json | None:
    try:
        there = await cluster.get(ref)
    except PortError:
        return before
    if there is None or there["metadata"]["uid"] != before["metadata"]["uid"]:
        return None
    return None if adopting.is_over(there) else there


def _name(pod: Json) -> str:
    return str(pod["metadata"]["name"])
