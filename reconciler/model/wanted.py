"""What is wanted now, as one immutable snapshot: published by the repository lane, used by all."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.model import additional
from reconciler.model.holds import Hold
from reconciler.model.intents import Dropped
from reconciler.model.plans import Desired
from reconciler.model.records import Approved
from reconciler.model.refs import ObjectRef, WorkloadKey


@dataclass(frozen=True, slots=True)
class Wanted:
    """The effective state at `commit`. A lane uses the newest one it has and waits for nobody."""

    commit: str = ""
    effective: Mapping[WorkloadKey, Desired] = field(default_factory=dict)
    deleting: frozenset[WorkloadKey] = frozenset()
    holds: tuple[Hold, ...] = ()
    approved: tuple[Approved, ...] = ()
    newborn: frozenset[WorkloadKey] = frozenset()
    """Workloads whose first name is n = 0, unless a record or a room says otherwise."""
    dropped: tuple[Dropped, ...] = ()
    """Counts that were decided and that this very head took back."""
    counts_commit: str = ""
    """That of the branch of counts, "" where there is none (ADR 17)."""
    keys: frozenset[WorkloadKey] = field(init=False, repr=False, compare=False)
    """Every workload that there is something to do about."""
    _inside: Mapping[str, tuple[WorkloadKey, ...]] = field(init=False, repr=False, compare=False)
    _asking: Mapping[ObjectRef, frozenset[WorkloadKey]] = field(
        init=False, repr=False, compare=False
    )
    """Who asks for each additional object of the namespaces that several workloads share."""
    _held: Mapping[WorkloadKey | None, tuple[Hold, ...]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        # Asked for every key of every pass, so looked through once, not a thousand times.
        held: dict[WorkloadKey | None, list[Hold]] = {}
        for hold in self.holds:
            held.setdefault(hold.key, []).append(hold)
        by_key = {key: tuple(holds) for key, holds in held.items()}
        object.__setattr__(self, "_held", by_key)
        object.__setattr__(self, "keys", frozenset(self.effective) | self.deleting)
        inside: dict[str, list[WorkloadKey]] = {}
        for key in self.keys:
            inside.setdefault(key.namespace, []).append(key)
        shared = {name: tuple(keys) for name, keys in inside.items() if len(keys) > 1}
        object.__setattr__(self, "_inside", shared)
        asking: dict[ObjectRef, frozenset[WorkloadKey]] = {}
        for key in (key for keys in shared.values() for key in keys if key in self.effective):
            for item in self.effective[key].objects:
                if item.ref.kind in additional.KINDS:
                    asking[item.ref] = asking.get(item.ref, frozenset()) | {key}
        object.__setattr__(self, "_asking", asking)

    @property
    def head(self) -> tuple[str, str]:
        """The commit of the tracked branch, and that of the branch of counts."""
        return self.commit, self.counts_commit

    def without(self, key: WorkloadKey) -> "Wanted":
        """Return the snapshot without a deletion that is done."""
        return replace(self, deleting=self.deleting - {key})

    def neighbours(self, key: WorkloadKey) -> Iterator[WorkloadKey]:
        """Other workloads that are wanted, or going, in the namespace of one."""
        # One by one: of a thousand fleets in one namespace the first mostly settles it.
        return (each for each in self._inside.get(key.namespace, ()) if each != key)

    def asked_by_others(self, key: WorkloadKey, refs: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
        """Return those additional objects that another workload than `key` asks for."""
        if key.namespace not in self._inside:
            return frozenset()
        return frozenset(ref for ref in refs if self._asking.get(ref, frozenset()) - {key})

    def holds_of(self, key: WorkloadKey) -> tuple[Hold, ...]:
        """Holds of one workload; those of the whole commit are not repeated for each."""
        return self._held.get(key, ())
