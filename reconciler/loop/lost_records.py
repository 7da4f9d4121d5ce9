"""Records that somebody deleted are written again, as whoever leads remembers them.

Only while the repository record is the one that is remembered: a process that slept while another
led would bring back what has left Git since.
"""

import asyncio
import logging
from collections.abc import Sequence

from reconciler.loop.store import RecordStore
from reconciler.model.errors import Conflict
from reconciler.model.refs import ObjectRef
from reconciler.ports import Cluster

log = logging.getLogger(__name__)

AT_ONCE = 100


async def ensure_namespace(cluster: Cluster, namespace: str) -> None:
    """Make the namespace that the records stand in, where it is not there yet."""
    if await cluster.get(ObjectRef("v1", "Namespace", "", namespace)) is None:
        await cluster.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        )


async def restore(store: RecordStore, cluster: Cluster, *, search: bool = False) -> None:
    """Write again what is gone of what was suspected to be; `search` for more, and for changes.

    Raises Conflict where another process wrote them, and the cluster's errors.
    """
    if not (search or store.suspected):
        return  # every look comes by here
    written = store.written()
    if search:
        there = await store.versions()
        store.suspected |= written.keys() - there.keys()
        await store.compare_states(there)
    suspected = sorted(store.suspected & written.keys())
    gone = await _gone(cluster, suspected)
    if gone:
        await _check_same(store, cluster)
    for start in range(0, len(gone), AT_ONCE):
        batch = gone[start : start + AT_ONCE]
        await asyncio.gather(*(store.write_again(written[ref]) for ref in batch))
    if gone:
        named = ", ".join(str(ref) for ref in gone[:3]) + (", ..." if len(gone) > 3 else "")
        what = "1 lost record was" if len(gone) == 1 else f"{len(gone)} lost records were"
        log.warning("%s written again from memory: %s", what, named)
    store.suspected -= {*suspected, *(store.suspected - written.keys())}


async def _gone(cluster: Cluster, refs: Sequence[ObjectRef]) -> list[ObjectRef]:
    gone = []
    for start in range(0, len(refs), AT_ONCE):
        batch = refs[start : start + AT_ONCE]
        found = await asyncio.gather(*(cluster.get(ref) for ref in batch))
        gone += [ref for ref, there in zip(batch, found, strict=True) if there is None]
    return gone


async def _check_same(store: RecordStore, cluster: Cluster) -> None:
    there = await cluster.get(store.repository_ref)
    if there is not None and there["metadata"]["resourceVersion"] != store.repository_version:
        raise Conflict("another process wrote the repository record: its records are taken over")
