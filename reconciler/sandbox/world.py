"""What every verb and every controller of the sandbox works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from reconciler.kube import apply as ownership
from reconciler.kube.schemas import Schema, Schemas
from reconciler.sandbox import clock
from reconciler.sandbox.access import Access, User
from reconciler.sandbox.behaviour import Behaviour
from reconciler.sandbox.faults import Faults
from reconciler.sandbox.ids import Ids
from reconciler.sandbox.kinds import EVENT, Kind
from reconciler.sandbox.options import WriteOptions
from reconciler.sandbox.requests import Json, Request
from reconciler.sandbox.routes import Target
from reconciler.sandbox.runtime import Nothing, Runtime
from reconciler.sandbox.shapes import Shape, Shapes
from reconciler.sandbox.store import Store, Stored


@dataclass(slots=True)
class World:
    """The state of one sandbox."""

    store: Store
    ids: Ids
    schemas: Schemas
    shapes: Shapes
    behaviour: Behaviour
    access: Access
    faults: Faults
    runtime: Runtime = field(default_factory=Nothing)
    silent: set[str] = field(default_factory=set)
    """Nodes whose kubelets do nothing any more."""

    def schema(self, kind: Kind) -> Schema:
        """Give the schema of a kind, for field ownership and patches."""
        schema = self.schemas.for_kind(kind.api_version, kind.kind)
        if schema is None:
            raise KeyError(f"no schema of {kind.kind}: the definitions are not Kubernetes' own")
        return schema

    def shape(self, kind: Kind) -> Shape:
        """Give the shape of a kind, for decoding."""
        return self.shapes.for_kind(kind.group, kind.version, kind.kind)

    def change(
        self, kind: Kind, namespace: str, name: str, edit: Callable[[Json], bool | None]
    ) -> Stored | None:
        """Let a controller edit an object in place; nothing is written when it says False."""
        stored = self.store.get(kind, namespace, name)
        if stored is None:
            return None
        value = stored.decode(kind)
        return stored if edit(value) is False else self.store.put(kind, value)

    def add(self, kind: Kind, value: Json, now: float) -> Stored:
        """Create an object as the cluster itself does."""
        value["metadata"].setdefault("uid", self.ids.uid())
        value["metadata"].setdefault("creationTimestamp", clock.stamp(now))
        return self.store.put(kind, value)

    def report(self, kind: Kind, value: Json, manager: str, now: float) -> Stored:
        """Write the status of an object, owned by the controller that reports it."""
        metadata = value["metadata"]
        stored = self.store.get(kind, metadata.get("namespace", ""), metadata["name"])
        owners = ownership.track_update(
            stored.decode(kind) if stored else None,
            value,
            manager=manager,
            schema=self.schema(kind),
            now=clock.stamp(now),
            subresource="status",
        )
        metadata.pop("managedFields", None)
        if owners:
            metadata["managedFields"] = owners
        return self.store.put(kind, value)

    def tell(
        self, about: Json, kind: str, reason: str, message: str, source: str, now: float
    ) -> None:
        """Write an Event about an object."""
        metadata, stamp = about["metadata"], clock.stamp(now)
        named = {"namespace": metadata["namespace"], "name": metadata["name"]}
        version = metadata.get("resourceVersion", "")
        self.add(
            EVENT,
            {
                "metadata": {
                    "name": f"{metadata['name']}.{self.ids.uid().replace('-', '')[:16]}",
                    "namespace": metadata["namespace"],
                },
                "involvedObject": {
                    "kind": about["kind"],
                    "apiVersion": about["apiVersion"],
                    "uid": metadata["uid"],
                    "resourceVersion": version,
                    **named,
                },
                "reason": reason,
                "message": message,
                "source": {"component": source},
                "firstTimestamp": stamp,
                "lastTimestamp": stamp,
                "count": 1,
                "type": kind,
                "eventTime": None,
                "reportingComponent": source,
                "reportingInstance": "",
            },
            now,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way through the sandbox."""

    world: World
    request: Request
    target: Target
    user: User
    now: float

    @property
    def kind(self) -> Kind:
        """Give the kind that is asked for."""
        return self.target.kind

    @property
    def stamp(self) -> str:
        """Give the moment of the request as Kubernetes writes it."""
        return clock.stamp(self.now)

    def options(self, kind: str) -> WriteOptions:
        """Read the options of a write. Raises Refused."""
        return WriteOptions.read(self.request, kind)
