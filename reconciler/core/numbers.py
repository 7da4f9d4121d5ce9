"""Where the count of a spec stands that does not write it: `replicas.yaml`, or another branch.

A branch of counts (`writeBack.branch`) lies over the tracked one, for workloads that a policy
moves; of all others the count is what people reviewed there (ADR 17).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from reconciler.core.counts import Counts, read_counts, untold
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake
from reconciler.core.pod_parts import child
from reconciler.core.spec_kit import SpecKit
from reconciler.model.findings import Finding
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Source, WriteBack
from reconciler.model.trees import Tree


@dataclass(frozen=True, slots=True)
class Number:
    """A count that stands in `source`; None is nowhere yet.

    `own` is the count of the tracked branch, where another branch's lies over it.
    """

    count: int
    source: Source | None = None
    own: int | None = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """All counts beside the specs.

    `listed` are those of the tracked branch's `replicas.yaml`, `over` those that lie over it.
    With `may_lack` the count of a workload that a policy moves may stand nowhere yet; `covered`
    says that the Config names a branch of counts.
    """

    listed: Counts = field(default_factory=Counts)
    over: Counts | None = None
    may_lack: bool = False
    covered: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The mistakes of both files."""
        return (*self.listed.findings, *(self.over.findings if self.over else ()))

    def of(self, document: Document, key: WorkloadKey | None) -> Number | None:
        """Return the count of a document, None where it writes its own or has none."""
        spec = child(document.value, "spec")
        if key is None or not spec:
            return None
        own = spec.get("replicas", self.listed.counts.get(key))
        if self.over and key in self.over.counts and is_moved(spec):
            own = own if type(own) is int else None
            return Number(self.over.counts[key], self.over.places[key], own)
        if "replicas" in spec:
            return None
        if key in self.listed.counts:
            return Number(self.listed.counts[key], self.listed.places[key])
        least = child(spec, "autoscaling").get("min")
        return Number(least) if type(least) is int and self._may_lack(spec, key) else None

    def mistakes(self, document: Document, key: WorkloadKey | None) -> Iterator[Mistake]:
        """Yield what is wrong with the count of a document."""
        spec = document.value.get("spec")
        if not isinstance(spec, dict):
            return
        if "replicas" in spec or not self._may_lack(spec, key):
            yield from self.listed.mistakes(document, key, covered=self.covered)
        over = self.over
        if over is None or key is None or key in over.counts or not is_moved(spec):
            return
        if key in over.places or not over.is_whole:
            yield Mistake(
                ("spec",), untold(over.file), f"mend {over.file}", "replicas-file", at_key=True
            )

    def _may_lack(self, spec: Json, key: WorkloadKey | None) -> bool:
        """Whether a count that is written nowhere begins at `min`."""
        known = self.listed
        return self.may_lack and known.is_whole and key not in known.places and is_moved(spec)


def read_numbers(tree: Tree, kit: SpecKit, back: WriteBack) -> Numbers:
    """Return the counts beside the specs of a tree; never raises for what stands in them."""
    listed = read_counts(tree, kit)
    may_lack = back.to == "file" or bool(back.branch)
    if not tree.counts_file:
        return Numbers(listed, None, may_lack, bool(back.branch))
    over = read_counts(tree, kit, tree.counts_file)
    return Numbers(listed, over, may_lack, bool(back.branch))


def filled(document: Document, number: Number | None) -> Document:
    """Return a document with its count."""
    if number is None:
        return document
    spec = {**child(document.value, "spec"), "replicas": number.count}
    return replace(document, value={**document.value, "spec": spec})


def is_moved(spec: Json) -> bool:
    """Whether a policy moves the count of a spec."""
    autoscaling = child(spec, "autoscaling")
    return bool(autoscaling) and autoscaling.get("enabled", True) is True
