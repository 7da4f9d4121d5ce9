"""The `Cluster` port over one API server, in raw JSON: typed models cost more than the wire."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import lru_cache
from random import SystemRandom
from urllib.parse import urlencode

from reconciler.adapters.kubernetes import kinds
from reconciler.adapters.kubernetes.answers import found, listing_of, object_with_metadata
from reconciler.adapters.kubernetes.calls import JSON_TYPE, Call, Limits, OnRequest, Sends
from reconciler.adapters.kubernetes.connect import Connection
from reconciler.adapters.kubernetes.fence import Fence
from reconciler.adapters.kubernetes.kinds import Resource
from reconciler.adapters.kubernetes.refusals import is_absent, refusal
from reconciler.adapters.kubernetes.server_clock import ServerClock
from reconciler.adapters.kubernetes.transport import Transport
from reconciler.adapters.kubernetes.watch import events
from reconciler.model import labels
from reconciler.model.checks import Check, unchecked
from reconciler.model.errors import Misconfigured, Unserved
from reconciler.model.refs import Followed, Json, ObjectRef, ref_of
from reconciler.ports import Listing, WatchEvent

PAGE = 50
"""A page is parsed in one go: 500 pods would hold up the event loop for 20 ms and more."""
APPLY_TYPE = "application/apply-patch+yaml"
MERGE_TYPE = "application/merge-patch+json"
JSON_PATCH_TYPE = "application/json-patch+json"
METADATA_TYPE = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
WATCH_SECONDS = (300, 600)
"""A watch is asked to end after a time between these, so that not all end together."""

_CHANCE = SystemRandom()


def open_cluster(
    connection: Connection,
    instance: str,
    *,
    name: str = "local",
    limits: Limits | None = None,
    on_request: OnRequest | None = None,
    clock: ServerClock | None = None,
) -> "KubernetesCluster":
    """Return the cluster behind a connection, which sets `clock`; nothing is sent yet."""
    manager = labels.field_manager(instance)
    transport = Transport(connection, limits or Limits(), manager, on_request, clock)
    return KubernetesCluster(transport, instance, name=name)


class KubernetesCluster:
    """One API server. `instance` names our field manager."""

    def __init__(self, transport: Sends, instance: str, *, name: str = "local") -> None:
        self._name = name
        self._instance = instance
        self._manager = labels.field_manager(instance)
        self._transport = transport
        self._kinds = dict(kinds.KNOWN)
        self._apart: list[KubernetesCluster] = []

    @property
    def name(self) -> str:
        """The cluster's name in refs, plans and metrics."""
        return self._name

    async def get(self, ref: ObjectRef) -> Json | None:
        """Read one object; None when it is not there."""
        path = await self._path(ref)
        what = f"get {ref}"
        status, body = await self._transport.send(
            Call("get", "GET", ref.kind, path, what, repeatable=True)
        )
        if status == 404 and is_absent(body):
            return None
        return object_with_metadata(what, status, body)

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        """List a kind (every namespace when `namespace` is empty), page by page."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        return await _whole(self._pages(api_version, kind, namespace, query))

    async def list_metadata(
        self, api_version: str, kind: str, namespace: str, labels: str = ""
    ) -> Listing:
        """List a kind of a namespace, of each object only its metadata."""
        query = {"labelSelector": labels} if labels else {}
        return await _whole(self._pages(api_version, kind, namespace, query, METADATA_TYPE))

    async def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        """List what is followed, a page at a time."""
        query, kind = {"labelSelector": followed.labels}, followed.kind
        async for page in self._pages(followed.api_version, kind, followed.namespace, query):
            yield page

    async def serves(self, api_version: str, kind: str) -> bool:
        """Whether the server has this kind at all, by its discovery."""
        if (api_version, kind) not in self._kinds:
            self._kinds.update(await self._discovered(api_version))
        return (api_version, kind) in self._kinds

    async def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Follow it from `resource_version` until the server ends that."""
        kind = followed.kind
        resource = await self._resource(followed.api_version, kind)
        query: dict[str, str | int] = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": _CHANCE.randint(*WATCH_SECONDS),
            "labelSelector": followed.labels,
        }
        what, path = f"watch {kind}", resource.path(followed.namespace) + _query(query)
        call = Call("watch", "GET", kind, path, what)
        async with self._transport.stream(call) as stream:
            metadata = {"resourceVersion": resource_version}
            yield WatchEvent("BOOKMARK", {"kind": kind, "metadata": metadata})
            async for event in events(stream, what):
                yield event

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        """POST one object and return what the server made of it."""
        ref = ref_of(body)
        resource = await self._resource(ref.api_version, ref.kind)
        path = resource.path(ref.namespace) + self._writing(dry_run, fieldValidation="Strict")
        call = Call("create", "POST", ref.kind, path, f"create {ref}", body, tries=dry_run)
        return await self._write(call)

    async def replace(self, body: Json) -> Json:
        """PUT one object in exactly the version that its `metadata.resourceVersion` names."""
        ref = ref_of(body)
        if not body["metadata"].get("resourceVersion"):
            raise Misconfigured(f"replace {ref}: it names no resourceVersion to compare with")
        path = await self._path(ref) + self._writing(dry_run=False)
        return await self._write(Call("update", "PUT", ref.kind, path, f"replace {ref}", body))

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        """Server-side apply as our field manager."""
        ref = ref_of(body)
        options = {"force": "true"} if force else {}
        path = await self._path(ref) + self._writing(dry_run, **options)
        what = f"apply {ref}"
        call = Call("apply", "PATCH", ref.kind, path, what, body, APPLY_TYPE, True, tries=dry_run)
        return await self._write(call)

    async def merge_patch(self, ref: ObjectRef, patch: Json) -> Json:
        """JSON merge patch; repeated after a failure only where it carries no precondition."""
        path = await self._path(ref) + self._writing(dry_run=False)
        fenced = bool(patch.get("metadata", {}).get("resourceVersion"))
        call = Call("patch", "PATCH", ref.kind, path, f"patch {ref}", patch, MERGE_TYPE, not fenced)
        return await self._write(call)

    async def json_patch(self, ref: ObjectRef, operations: Sequence[Json]) -> Json | None:
        """JSON patch: repeated never, for its tests hold once; None where the object is gone."""
        what = f"patch {ref}"
        path = await self._path(ref) + self._writing(dry_run=False)
        call = Call("patch", "PATCH", ref.kind, path, what, operations, JSON_PATCH_TYPE)
        status, body = await self._transport.send(call)
        if status == 404 and is_absent(body):
            return None
        return object_with_metadata(what, status, body)

    async def raw_get(self, path: str) -> Json | None:
        """Read a page of the server that is no object's; None on a 404."""
        call = Call("get", "GET", "Page", path, f"read {path}", repeatable=True, accept="*/*")
        status, body = await self._transport.send(call)
        return None if status == 404 else body

    async def logs(
        self, ref: ObjectRef, container: str = "", *, follow: bool = False, tail: int | None = None
    ) -> AsyncIterator[bytes]:
        """Read the log of a pod's container as it comes."""
        query = {
            "container": container,
            "follow": "true" if follow else "",
            "tailLines": "" if tail is None else str(tail),
        }
        path = f"{await self._path(ref)}/log{_query(query)}"
        what = f"read the log of {ref}"
        call = Call("logs", "GET", "Log", path, what, accept="*/*", may_say_nothing=follow)
        async with self._transport.stream(call) as stream:
            while chunk := await stream.readany():
                yield chunk

    async def delete(
        self, ref: ObjectRef, uid: str, resource_version: str, check: Check = unchecked
    ) -> bool:
        """Delete exactly this object in exactly this version; False when it was gone already."""
        what = f"delete {ref}"
        if not uid or not resource_version:
            raise Misconfigured(f"{what}: it names no uid and version to delete")
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid, "resourceVersion": resource_version},
            "propagationPolicy": "Background",
        }
        path = await self._path(ref)
        call = Call("delete", "DELETE", ref.kind, path, what, options, check=check)
        status, body = await self._transport.send(call)
        if status == 404 and is_absent(body):
            return False
        found(what, status, body)
        return True

    def apart(self) -> "KubernetesCluster":
        """Return the same cluster on a way of its own, closed with this one.

        What may not wait (a lease) then waits for no queue and no pause of all the others.
        """
        sibling = KubernetesCluster(self._transport.apart(), self._instance, name=self._name)
        self._apart.append(sibling)
        return sibling

    def fenced(self, may_write: Callable[[], bool]) -> "KubernetesCluster":
        """Return the same cluster on the same way, which is written while `may_write` says so."""
        return KubernetesCluster(Fence(self._transport, may_write), self._instance, name=self._name)

    async def close(self) -> None:
        """Close the connections, also of those who went apart."""
        for each in (self, *self._apart):
            await each._transport.close()

    async def _discovered(self, api_version: str) -> Mapping[tuple[str, str], Resource]:
        what = f"look up the kinds of {api_version}"
        path = kinds.group_path(api_version)
        call = Call("discover", "GET", "APIResourceList", path, what, repeatable=True)
        status, body = await self._transport.send(call)
        if status != 404:
            return kinds.discovered(api_version, listing_of(body, "resources", what))
        # A page that a proxy did not find says the same; only the list of groups proves it.
        call = Call("discover", "GET", "APIGroupList", "/apis", what, repeatable=True)
        groups = listing_of(found(what, *await self._transport.send(call)), "groups", what)
        if api_version in kinds.served_versions(groups):
            raise refusal(what, status, body)
        return {}

    async def _pages(
        self,
        api_version: str,
        kind: str,
        namespace: str,
        selectors: Mapping[str, str],
        accept: str = JSON_TYPE,
    ) -> AsyncIterator[Listing]:
        resource = await self._resource(api_version, kind)
        what = f"list {kind}" + (f" in {namespace}" if namespace else "")
        query: dict[str, str | int] = {"limit": PAGE, **selectors}
        while True:
            path = resource.path(namespace) + _query(query)
            call = Call("list", "GET", kind, path, what, repeatable=True, accept=accept)
            body = listing_of(found(what, *await self._transport.send(call)), "items", what)
            items = body["items"]
            for item in items:
                # Lists leave out what every item has in common, or say `PartialObjectMetadata`.
                item.update(apiVersion=api_version, kind=kind)
            metadata = body.get("metadata") or {}
            yield Listing(items, metadata.get("resourceVersion", ""))
            if not metadata.get("continue"):
                return
            query["continue"] = metadata["continue"]

    async def _write(self, call: Call) -> Json:
        return object_with_metadata(call.what, *await self._transport.send(call))

    async def _path(self, ref: ObjectRef) -> str:
        resource = await self._resource(ref.api_version, ref.kind)
        return resource.path(ref.namespace, ref.name)

    async def _resource(self, api_version: str, kind: str) -> Resource:
        if not await self.serves(api_version, kind):
            raise Unserved(
                f"{self._name} serves no {kind} in {api_version}: check the server's version"
            )
        return self._kinds[(api_version, kind)]

    def _writing(self, dry_run: bool, **options: str) -> str:
        query = {"fieldManager": self._manager, **options}
        return _written(tuple(({**query, "dryRun": "All"} if dry_run else query).items()))


def _query(options: Mapping[str, str | int]) -> str:
    return "?" + urlencode({key: value for key, value in options.items() if value != ""})


@lru_cache(maxsize=64)
def _written(options: tuple[tuple[str, str], ...]) -> str:
    """Return the query of a write: the same few for every object."""
    return _query(dict(options))


async def _whole(pages: AsyncIterator[Listing]) -> Listing:
    items: list[Json] = []
    version = ""
    async for page in pages:
        items.extend(page.items)
        version = page.resource_version
    return Listing(items, version)
