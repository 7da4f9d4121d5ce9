"""Copies of Secrets and ConfigMaps of other namespaces, and what came of the last look at them.

Nothing here ever holds their content, nor a hash of it: of a short secret that is as good.
"""

from dataclasses import dataclass

from reconciler.model.refs import ObjectRef


@dataclass(frozen=True, slots=True, order=True)
class CopyFrom:
    """A Secret or ConfigMap (`kind`) of `namespace`, of which the workload wants a copy."""

    kind: str
    namespace: str
    name: str

    @property
    def source(self) -> ObjectRef:
        """Where it is copied from."""
        return ObjectRef("v1", self.kind, self.namespace, self.name)

    def copy_in(self, namespace: str) -> ObjectRef:
        """Where its copy stands."""
        return ObjectRef("v1", self.kind, namespace, self.name)


@dataclass(frozen=True, slots=True)
class Looked:
    """The last look at the sources of a workload: what was `asked` for, when, and what failed.

    `at` is in seconds of the view's clock, None where nobody looked yet.
    """

    asked: tuple[CopyFrom, ...] = ()
    at: float | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Copies:
    """What a plan looks at now: sources to copy, and copies that nobody asks for any more."""

    wanted: tuple[CopyFrom, ...] = ()
    dropped: tuple[ObjectRef, ...] = ()


NOT_LOOKED = Looked()
