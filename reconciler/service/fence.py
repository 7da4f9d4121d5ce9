"""The fence around writes: whoever does not lead any more writes nothing more.

Asked right before each write, since a lease may run out between the stages of one plan. The uid
and version that every delete carries are the fence beyond that.
"""

from collections.abc import AsyncIterator, Callable, Sequence

from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Cluster, Listing, WatchEvent


class Fenced:
    """A cluster of which everything may be read, and written only while `may_write` says so."""

    def __init__(self, cluster: Cluster, may_write: Callable[[], bool]) -> None:
        self._cluster = cluster
        self._may_write = may_write

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self._cluster.name

    async def get(self, ref: ObjectRef) -> Json | None:
        """Read one object."""
        return await self._cluster.get(ref)

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        """List a kind."""
        return await self._cluster.list(api_version, kind, namespace, labels, fields)

    async def list_metadata(self, api_version: str, kind: str, namespace: str) -> Listing:
        """List a kind of a namespace, metadata only."""
        return await self._cluster.list_metadata(api_version, kind, namespace)

    def pages(self, api_version: str, kind: str, labels: str = "") -> AsyncIterator[Listing]:
        """List a kind by pages."""
        return self._cluster.pages(api_version, kind, labels)

    async def serves(self, api_version: str, kind: str) -> bool:
        """Whether the server has this kind."""
        return await self._cluster.serves(api_version, kind)

    def watch(
        self, api_version: str, kind: str, resource_version: str, labels: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """Follow a kind."""
        return self._cluster.watch(api_version, kind, resource_version, labels)

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        """POST one object. Raises Unavailable where we do not lead."""
        self._check(f"create {body['kind']}", dry_run)
        return await self._cluster.create(body, dry_run=dry_run)

    async def replace(self, body: Json) -> Json:
        """PUT one object. Raises Unavailable where we do not lead."""
        self._check(f"replace {body['kind']}")
        return await self._cluster.replace(body)

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        """Server-side apply. Raises Unavailable where we do not lead."""
        self._check(f"apply {body['kind']}", dry_run)
        return await self._cluster.apply(body, dry_run=dry_run, force=force)

    async def merge_patch(self, ref: ObjectRef, patch: Json) -> Json:
        """JSON merge patch. Raises Unavailable where we do not lead."""
        self._check(f"patch {ref}")
        return await self._cluster.merge_patch(ref, patch)

    async def json_patch(self, ref: ObjectRef, operations: Sequence[Json]) -> Json | None:
        """JSON patch. Raises Unavailable where we do not lead."""
        self._check(f"patch {ref}")
        return await self._cluster.json_patch(ref, operations)

    async def raw_get(self, path: str) -> Json | None:
        """Read a page of the server."""
        return await self._cluster.raw_get(path)

    def logs(
        self, ref: ObjectRef, container: str = "", *, follow: bool = False, tail: int | None = None
    ) -> AsyncIterator[bytes]:
        """Read the log of a pod's container."""
        return self._cluster.logs(ref, container, follow=follow, tail=tail)

    async def delete(self, ref: ObjectRef, uid: str, resource_version: str) -> bool:
        """Delete exactly this object. Raises Unavailable where we do not lead."""
        self._check(f"delete {ref}")
        return await self._cluster.delete(ref, uid, resource_version)

    async def close(self) -> None:
        """Close the connections."""
        await self._cluster.close()

    def _check(self, what: str, dry_run: bool = False) -> None:
        if not dry_run and not self._may_write():
            raise Unavailable(f"{what}: another process leads now, so nothing is written here")
