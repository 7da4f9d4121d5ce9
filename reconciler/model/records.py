"""What Gamekeeper remembers in the cluster: all of it can be lost without losing a room.

A state record a workload and one repository record an instance stand in Gamekeeper's namespace;
an ordinal record a workload stands beside its rooms (DESIGN §2 rule 5, §5).
"""

from dataclasses import dataclass
from enum import StrEnum

from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import NO_SCALING, Scaling
from reconciler.model.refs import ObjectRef, WorkloadKey


@dataclass(frozen=True, slots=True)
class Failures:
    """How often rooms of `revision` ended lately; `last_at` in Unix seconds."""

    revision: str
    count: int
    last_at: float


@dataclass(frozen=True, slots=True)
class Ordinals:
    """The next n, and names that were raised but whose pods are not known to have been made.

    `seen` is the newest resourceVersion among the pods made at `seen_at` (Unix seconds): a view
    that is older does not show them yet, and whoever trusts it would make them twice.
    """

    next: int
    outstanding: frozenset[int] = frozenset()
    seen: int = 0
    seen_at: float = 0.0
    failures: Failures | None = None
    """Of the revision whose rooms ended last, where its next ones have to wait."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The spec that was let through: its canonical JSON, its count, and the commit it came with.

    `replicas` differs from the spec's own where a scale-in was refused. `unreviewed` is whether it
    was taken from a commit that is held, for want of a record: no room goes by it while that is.
    """

    spec_json: str
    replicas: int
    commit: str
    file: str
    line: int
    unreviewed: bool = False


@dataclass(frozen=True, slots=True, order=True)
class LedgerEntry:
    """A count that was left at `at` (Unix seconds): budgets look at the largest in the window."""

    at: float
    count: int


@dataclass(frozen=True, slots=True, order=True)
class Owned:
    """An object of the inventory. `made` is whether we created it: what we did not make stays."""

    ref: ObjectRef
    made: bool


@dataclass(frozen=True, slots=True, order=True)
class Applied:
    """The digest of what Git asked of an object when it was last seen to be as Git says."""

    ref: ObjectRef
    digest: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in kstatus' form. `since` is Unix seconds of the last change of `status`."""

    type: str
    status: bool
    reason: str
    message: str
    since: float


@dataclass(frozen=True, slots=True)
class HeldRemoval:
    """A removal that waits for an approval: `line` is `changes.Removal.line`.

    It stays held, whatever time passes, until the line is approved or asked for no more. `back_to`
    is the commit to which the branch moved other than forward with that number, "" for none.
    `count` is the one that acted when a budget refused it, of which `reason` tells; 0 elsewhere.
    `acts` says what of that commit acts all the same, "" for nothing, and `released` is a JSON
    object of the fields of the accepted spec that this changed, as they were (null: not there).
    `line` is "" once no head asks for it any more, where what it stopped stays so: then the record
    is of that alone.
    """

    kind: HoldKind
    line: str
    reason: str
    back_to: str = ""
    count: int = 0
    acts: str = ""
    released: str = ""

    @property
    def told(self) -> str:
        """Why it is held, and what of its commit is not."""
        if not self.line:
            return f"{self.acts}, by an earlier commit that was held"
        return f"{self.reason} (that {self.acts} acts at once)" if self.acts else self.reason


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """A room that failed `at` (Unix seconds) under the spec whose digest is `spec`."""

    at: float
    uid: str
    spec: str


@dataclass(frozen=True, slots=True)
class StateRecord:
    """What is remembered of one workload.

    `deleting` is true once its deletion was let through. `highest` is the highest n ever used,
    should the ordinal record be lost; None where no name was raised under this record.
    """

    accepted: Accepted | None = None
    deleting: bool = False
    held: HeldRemoval | None = None
    inventory: tuple[Owned, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    highest: int | None = None
    conditions: tuple[Condition, ...] = ()
    observed_commit: str = ""
    failures: tuple[Failure, ...] = ()
    """Within the window of the spec's `failure`, while it sets a limit."""
    scaling: Scaling = NO_SCALING
    demand: bytes = b""
    """How many rooms turned occupied in each quarter of an hour (`core/demand.py`)."""
    applied: tuple[Applied, ...] = ()
    """Only where the spec's `drift` is `warn`: by it a commit's change is told from others'."""
    copied: tuple[ObjectRef, ...] = ()
    """The copies of `copyFrom` that are there, or may be."""

    @property
    def in_effect(self) -> int:
        """The count that is wanted now: what was accepted, or what was decided since."""
        if self.accepted is None or self.deleting:
            return 0
        intent = self.scaling.intent
        return intent.value if intent else self.accepted.replicas


NO_RECORD = StateRecord()
"""Of a workload that nothing is remembered of."""


@dataclass(frozen=True, slots=True, order=True)
class Approved:
    """One removal line that a person let through, until `until` (Unix seconds).

    `mark` names the spec that the line was asked with: another one ends it.
    """

    line: str
    until: float
    by: str = ""
    mark: str = ""


class OfferEnd(StrEnum):
    """Why an offer takes no approval any more. The values stand in records: never rename one."""

    WAITING = ""
    """It takes one."""
    DONE = "done"
    """What it stands for was let through."""
    OVERTAKEN = "overtaken"
    """No head asks for it any more."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A change hash that was shown, and what approving it lets through.

    `asks` are the prints of the lines, each with the mark of its workload's spec in `commit`
    (`core/offers.py`); `lines` are those of them that are kept to be shown. One that is over has
    neither. `since` (Unix seconds) is when the hash was offered again, 0 where it was not: what was
    approved before meant another commit.
    """

    change_hash: str
    lines: tuple[str, ...]
    commit: str
    asks: frozenset[str] = frozenset()
    since: float = 0.0
    end: OfferEnd = OfferEnd.WAITING


@dataclass(frozen=True, slots=True)
class Endorsement:
    """A signed trailer that counts, first seen `at` (Unix seconds).

    It is `spent` once it let its change through or has expired, and then never counts again.
    """

    commit: str
    change_hash: str
    by: str
    at: float
    spent: bool = False

    @property
    def name(self) -> str:
        """Its name among approvals; no object can have such a one."""
        return f"{self.commit} {self.change_hash}"


@dataclass(frozen=True, slots=True)
class Departed:
    """A workload that left Git: its ledger entry outlives its state record, which is deleted."""

    key: WorkloadKey
    entry: LedgerEntry


@dataclass(frozen=True, slots=True)
class Notice:
    """What is held of the head and stands in no state record: whole commits, files, new specs.

    `change_hash` is what to approve where no offer tells it.
    """

    kind: HoldKind
    where: str
    reason: str
    change_hash: str = ""


IDS_KEPT = 1000
"""So many of our commits are known by their ids."""
_FULL = IDS_KEPT * 9 // 10
"""Ids of pushes that never landed are taken off again, and what they displaced is gone."""
_ELDEST = 100


@dataclass(frozen=True, slots=True)
class RepositoryRecord:
    """What was last accepted from Git as a whole; `config_json` is the last valid Config.

    `departed` is what left Git within the window of the budgets. `in_step` is the last head of
    which nothing was held: whatever is held now was asked for by a commit after it. `known` are
    the digests of all workloads that ever were, None where that cannot be told; `newborn` those
    of them of which no name may have been given yet (`core.births`). `pushed` are the ids of our
    last commits, the newest last: by them ours are told from people's. The newest was put on
    record at `pushed_at` (Unix seconds). `counts_commit` is that of the branch of counts that
    `commit` was judged with. `path` is the folder that was read, "" for the top. `verified` says
    whose word `commit` is ("signed by anna"), "" where nobody asked.
    """

    repository: str = ""
    branch: str = ""
    commit: str = ""
    config_json: str = ""
    approved: tuple[Approved, ...] = ()
    offers: tuple[Offer, ...] = ()
    departed: tuple[Departed, ...] = ()
    notices: tuple[Notice, ...] = ()
    in_step: str = ""
    endorsements: tuple[Endorsement, ...] = ()
    known: frozenset[int] | None = None
    newborn: frozenset[int] = frozenset()
    pushed: tuple[str, ...] = ()
    pushed_at: float = 0.0
    counts_commit: str = ""
    verified: str = ""
    freezes: tuple[Freeze, ...] = ()
    """Those that were open when the head was judged: no commit lifts one that it stands under."""
    frozen_hash: str = ""
    """What to approve of what people changed that waits for their end, "" where nothing does."""
    path: str = ""

    @property
    def eldest(self) -> tuple[str, ...]:
        """The eldest of our commits that are known, where there may be elder ones; else none.

        They are several, for one that never landed is behind no other.
        """
        return self.pushed[:_ELDEST] if len(self.pushed) > _FULL else ()
