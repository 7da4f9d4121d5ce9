"""A head as it arrives: the reading of its tree, and how it stands to what was accepted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.model.freezes import Edit, Freeze
from reconciler.model.holds import Hold
from reconciler.model.moves import Moves
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config
from reconciler.model.trees import Relation


@dataclass(frozen=True, slots=True)
class Arrival:
    """A head with all that judging it needs.

    `relation` is how it stands to the accepted commit, None when none is on record. `ceiling`
    is the operator's budget. `unrecorded` are workloads that live in the cluster without a state
    record, by their rooms; `outdated` those of them whose rooms are of another revision than
    the head's. `now` is Unix seconds, `shared_now` the same by the API server's clock, which all
    replicas share, None where that is not known. `doubts` say why trailers do not count.
    `unreadable` are workloads a record of which cannot be read, by the reason; `named` those with
    an ordinal record. `blank` is whether nothing of this instance is on record or in the cluster.
    """

    reading: Reading
    repository: str
    branch: str
    relation: Relation | None
    cluster: str
    ceiling: Budgets
    accepted_config: Config | None
    unrecorded: Mapping[WorkloadKey, int]
    now: float
    doubts: tuple[Hold, ...] = ()
    unreadable: Mapping[WorkloadKey, str] = field(default_factory=dict)
    outdated: frozenset[WorkloadKey] = frozenset()
    named: frozenset[WorkloadKey] = frozenset()
    blank: bool = False
    moves: Moves = field(default_factory=Moves)
    """Who moved counts since the accepted head."""
    dated: float = 0.0
    """The time by which dates in Git are read (Unix seconds)."""
    freezes: tuple[Freeze, ...] = ()
    """Those that are open: what people changed waits."""
    waiting: tuple[Edit, ...] = ()
    """What of it does; the reading is as though nobody had changed it."""
    read_by: Config | None = None
    """The head's own gamekeeper.yaml where something of it waits: specs are of the paths in it."""
    withheld: Mapping[WorkloadKey, tuple[str, bool]] = field(default_factory=dict)
    """By workload, the commit of a person whose number is among that; did the branch go back?"""
    left: frozenset[WorkloadKey] = frozenset()
    """Of what waits, the workloads of which nothing is judged: with brakes that are still pulled
    they are neither as the head has them nor as they were accepted."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """All lines of the change hash, those of what waits among them, with their marks."""
    frozen: Mapping[str, str] = field(default_factory=dict)
    """Those of them that wait for the end of a freeze, each with why it is over budget, or ""."""
    shared_now: float | None = None
    remarks: tuple[Hold, ...] = ()
    """What is shown beside what is held, and stops nothing."""
    path: str = ""
    """The folder of the repository that was read, "" for its top."""

    @property
    def spent_at(self) -> float:
        """The time by which budgets count (Unix seconds): the next leader's clock is another."""
        return self.now if self.shared_now is None else self.shared_now
