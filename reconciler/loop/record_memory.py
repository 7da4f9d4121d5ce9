"""What is remembered of the records, as they were last read or written; no I/O."""

from collections.abc import Mapping

from reconciler.core.conditions import held_by
from reconciler.core.intake import unreadable_record
from reconciler.core.namesakes import other_kinds
from reconciler.loop.record_places import Kept, Places, kept_ordinals, kept_repository, kept_state
from reconciler.model import labels
from reconciler.model.errors import Misconfigured, Unreadable
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.records import NO_RECORD, Ordinals, RepositoryRecord, StateRecord
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, ref_of


class RecordMemory:
    """State, ordinal and repository records of one instance in one cluster."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._states: dict[WorkloadKey, Kept[StateRecord]] = {}
        self._ordinals: dict[WorkloadKey, Kept[Ordinals]] = {}
        self._repository = Kept(RepositoryRecord())
        self._unreadable: dict[tuple[ObjectRef, WorkloadKey | None], str] = {}
        """By whose it would be, too: of one place a Scheduler and a Fleet may both have a record,
        and what is the one's cannot be read as the other's."""
        self.suspected: set[ObjectRef] = set()
        """Where something of ours was seen to be gone: `loop.lost_records` looks after it."""
        self.doubted = False
        """Whether somebody else wrote a record: what is wanted is to be judged anew."""
        self._doubt_began = False

    def states(self) -> Mapping[WorkloadKey, StateRecord]:
        """Every state record of a workload whose records can be read."""
        found = {key: kept.value for key, kept in self._states.items()}
        for key in self.unreadable_workloads():
            found.pop(key, None)
        return found

    def state(self, key: WorkloadKey) -> StateRecord:
        """One state record; an empty one where there is none."""
        kept = self._states.get(key)
        return kept.value if kept else NO_RECORD

    def ordinals(self, key: WorkloadKey) -> Ordinals | None:
        """One ordinal record; None where it is lost or was never made."""
        kept = self._ordinals.get(key)
        return kept.value if kept else None

    def unreadable(self, key: WorkloadKey) -> str:
        """Say why a record of a workload cannot be read, "" where each can."""
        return self.unreadable_workloads().get(key, "") if self._unreadable else ""

    def unreadable_workloads(self) -> Mapping[WorkloadKey, str]:
        """The workloads a record of which cannot be read, each with the reason."""
        return {key: reason for (_, key), reason in self._unreadable.items() if key is not None}

    def holds(self, key: WorkloadKey) -> tuple[Hold, ...]:
        """Return what is held of a workload, for whoever has no plan at hand.

        While a record cannot be read nobody keeps up what the other one tells. Of that only what
        may need people stands, as it was when the record could be read last.
        """
        why, told = self.unreadable(key), held_by(key, self.state(key).conditions)
        if not why:
            return told
        people = (hold for hold in told if hold.kind is HoldKind.NEEDS_INTERVENTION)
        return (unreadable_record(key, why), *people)

    def named(self) -> frozenset[WorkloadKey]:
        """The workloads that have an ordinal record."""
        return frozenset(self._ordinals)

    def written(self) -> Mapping[ObjectRef, WorkloadKey | None]:
        """Where the records stand that nobody but a person deletes: state and repository."""
        refs = {self._places.state(key): key for key in self._states if self._is_kept(key)}
        return {**refs, self.repository_ref: None} if self._is_kept(None) else refs

    def doubt(self) -> None:
        """Note that what is wanted is to be judged anew."""
        self._doubt_began |= not self.doubted
        self.doubted = True

    def doubt_began(self) -> bool:
        """Whether a doubt began since this was asked: who looks is woken once for each."""
        began, self._doubt_began = self._doubt_began, False
        return began

    @property
    def is_blank(self) -> bool:
        """Whether nothing at all is on record."""
        records = (self._repository.version, self._states, self._ordinals, self._unreadable)
        return not any(records)

    @property
    def repository_problem(self) -> str:
        """Say why the repository record cannot be read, "" where it can."""
        return self._unreadable.get((self.repository_ref, None), "")

    @property
    def repository(self) -> RepositoryRecord:
        """The repository record."""
        return self._repository.value

    @property
    def repository_version(self) -> str:
        """The resourceVersion of the repository record that is remembered."""
        return self._repository.version

    @property
    def repository_ref(self) -> ObjectRef:
        """Where the repository record stands: `reconcile` requests are written on it."""
        return self._places.repository

    def _is_kept(self, key: WorkloadKey | None) -> bool:
        """Whether a record is remembered as written, and is not about to be deleted by us."""
        if key is None:
            return bool(self._repository.version)
        kept = self._states.get(key)
        return kept is not None and bool(kept.version) and not kept.value.deleting

    def _rivals(self, key: WorkloadKey) -> tuple[WorkloadKey, ...]:
        """The workloads of this name and another kind that there are: they have a state record.

        One that cannot be read tells of a workload as well as any.
        """
        return tuple(
            each
            for each in other_kinds(key)
            if each in self._states or (self._places.state(each), each) in self._unreadable
        )

    def _check_readable(self, ref: ObjectRef, key: WorkloadKey | None = None) -> None:
        if (ref, key) in self._unreadable:
            raise Unreadable(self._unreadable[ref, key])

    def _remember(self, item: Json) -> None:
        """Take a record in where it stands at its place; what says it is one elsewhere is none."""
        ref, marks = ref_of(item), item["metadata"].get("labels") or {}
        what = marks.get(labels.RECORD)
        key = self._places.key_of(ref, marks, what)
        if key is not None:
            self._take(item, key, str(what))
        elif what == "repository" and ref == self.repository_ref:
            self._take(item, None, what)

    def _take(self, item: Json, key: WorkloadKey | None, what: str) -> None:
        ref = ref_of(item)
        self._unreadable.pop((ref, key), None)
        try:
            if key is None:
                self._repository = kept_repository(item)
                return
            self._places.check_key(item, key, self._rivals(key))
            if what == "state":
                self._states[key] = kept_state(item, key)
            else:
                self._ordinals[key] = kept_ordinals(item)
        except Misconfigured as error:
            self._unreadable[ref, key] = str(error)
            if key is not None:
                (self._states if what == "state" else self._ordinals).pop(key, None)
