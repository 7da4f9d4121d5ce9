"""Who moved a count since the head that was accepted: each commit beside its parents.

Commits of ours are told by their ids. Of all others the numbers are read there and in every
parent: an author, a message or a trailer proves nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from reconciler.core.carried_counts import counts_branch, is_renamed
from reconciler.core.compile import config_from_json
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.loop.squashes import squashes_of, without
from reconciler.model.intents import Passage
from reconciler.model.moves import Counts, Moves, Passages
from reconciler.model.pushes import Lineage
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.model.trees import Relation, Tree
from reconciler.ports import Compiler, Repository

MOST_COMMITS = 100
"""Of more commits of people the two ends are compared, and the newest of ours between them."""
MOST_LISTED = 2000
"""So many ids are listed to find ours among them: that costs no more than a moment."""
MOST_SPECS = 3000
"""So many specs are read for it: a person who pushes forty commits to a large repository must not
wait for each of them to be read whole."""


def counts_of(reading: Reading) -> Counts:
    """Return the counts that stand in the specs of a reading."""
    return {
        key: workload.replicas
        for key, workload in reading.workloads.items()
        if key not in reading.unnumbered
    }


@dataclass(slots=True)
class Trail:
    """Reads the counts of commits, each once; `ours` are the ids of our own.

    Of a branch of counts nothing but its `replicas.yaml` is read: `own` are then the counts of
    the tracked branch, for workloads that the file does not list. `heads` are the counts of heads
    that were read already, by commit. `eldest` are those of ours before which others may be ours
    that nobody knows any more.
    """

    repository: Repository
    compiler: Compiler
    permissions: Permissions
    ours: Collection[str]
    own: Counts | None = None
    heads: Mapping[str, Counts] = field(default_factory=dict)
    known: dict[str, tuple[tuple[str, ...], Counts]] = field(default_factory=dict)
    spans: dict[tuple[str, str], Lineage] = field(default_factory=dict)
    unnumbered: dict[str, frozenset[WorkloadKey]] = field(default_factory=dict)
    eldest: Collection[str] = ()

    async def lineage(self, base: str, head: str) -> Lineage:
        """Return the commits between two; cut where there are too many to look at each."""
        found = self.spans.get((base, head))
        if found is None:
            found = await self.repository.lineage(base, head, MOST_LISTED)
            self.spans[base, head] = found
        return found

    async def read(self, commit: str) -> tuple[tuple[str, ...], Counts]:
        """Return the parents of a commit and the counts there."""
        found = self.known.get(commit)
        if found is None:
            tree = await self.repository.tree(commit)
            self.known[commit] = found = tree.parents, await self._counts(tree)
        return found

    async def _counts(self, tree: Tree) -> Counts:
        if self.own is not None:
            listed = {path: tree.entries[path] for path in {REPLICAS_FILE} & tree.entries.keys()}
            reading = await self.compiler.read(replace(tree, entries=listed), self.permissions)
            return {**self.own, **reading.counts}
        known = self.heads.get(tree.commit)
        if known:
            return known
        reading = await self.compiler.read(tree, self.permissions)
        self.unnumbered[tree.commit] = reading.unnumbered
        return counts_of(reading)


async def read_moves(
    trail: Trail,
    before: RepositoryRecord,
    reading: Reading,
    relation: Relation | None,
    tracked: str,
    *,
    renewed: bool = False,
) -> Moves:
    """Return who moved counts that a policy may move, on the tracked branch and on that of counts.

    `before` is what was accepted, to which the tracked head stands in `relation`; `tracked` is the
    name of its branch; `renewed` says that a line lies over a count that none lay over before.
    Raises the errors of the repository and the compiler.
    """
    if relation is None:
        return Moves()
    keys = [key for key, workload in reading.workloads.items() if workload.autoscaling]
    span = before.commit, reading.commit
    found = await read_passages(trail, span, relation, keys)
    accepted = config_from_json(before.config_json) if before.config_json else None
    branch = counts_branch(reading.config, tracked)
    base = before.counts_commit if counts_branch(accepted, tracked) else ""
    if is_renamed(accepted, reading.config, tracked) and not await _goes_on(trail, base, reading):
        base = ""
    tip = reading.counts_commit
    if not branch or not (base or tip):
        # Where it is not there yet, the tracked one counts.
        wrote, begun = await _written(trail, span, relation)
        return Moves(found, {}, wrote, begun=begun, taken_out=_taken_out(trail, reading, found))
    if not tip:
        return Moves(found)  # it is gone, and that writes no number
    squashes = await squashes_of(trail.repository, found.values(), tip, base)
    found, brought = without(found, squashes)
    joined = {**((await _written(trail, span, relation))[0] or {}), **brought}
    trail = replace(trail, own={**counts_of(reading), **reading.own}, known={})
    moves = await _moves_apart(trail, base, reading, keys, renewed=renewed)
    return replace(moves, tracked=found, joined=joined)


async def _moves_apart(
    trail: Trail, base: str, reading: Reading, keys: Collection[WorkloadKey], *, renewed: bool
) -> Moves:
    """Return who moved counts on the branch of counts since `base`, "" where it counts anew."""
    tip, since, stale = reading.counts_commit, base, dict[WorkloadKey, int]()
    if renewed or not base:
        # It begins at a commit of the tracked branch. What people wrote there before a commit of
        # ours was heard before that, and what stood where it begins lies over nothing.
        begins = await _newest_of_ours(trail, reading.commit, tip)
        begins = begins or await _beginning(trail, reading.commit, tip)
        if begins:
            stale = dict((await trail.read(begins))[1])
        since = base or begins
    if base == tip:
        return Moves(wrote={}, stale=stale)  # nobody moved it
    relation = await trail.repository.relation(base, tip) if base else Relation.FORWARD
    theirs = await read_passages(trail, (since or reading.commit, tip), relation, keys)
    wrote, _ = await _written(trail, (base or reading.commit, tip), relation)
    return Moves({}, theirs, wrote, stale, taken_out=_taken_out(trail, reading, theirs))


def _taken_out(trail: Trail, reading: Reading, moved: Passages) -> dict[WorkloadKey, Passage]:
    """Return the commits of people after which a count stands nowhere, as at the head.

    Where a count cannot be told, by a mistake in the file, nobody has taken it out.
    """
    known, found = {**trail.unnumbered, **dict.fromkeys(reading.head, reading.unnumbered)}, {}
    for key in reading.unnumbered & moved.keys():
        for passage in moved[key]:
            if any(number is not None for number in passage.before):
                gone = passage.after is None and key in known.get(passage.commit, ())
                found[key] = passage if gone else None
    return {key: passage for key, passage in found.items() if passage is not None}


async def _newest_of_ours(trail: Trail, tracked: str, tip: str) -> str:
    """Return our newest commit on a branch of counts, "" where none is listed."""
    mine = frozenset(trail.ours)
    lineage = await trail.lineage(tracked, tip)
    return next((commit for commit in lineage.commits if commit in mine), "")


async def _beginning(trail: Trail, tracked: str, tip: str) -> str:
    """Return the commit of the tracked branch at which that of counts begins, "" where unknown."""
    lineage = await trail.lineage(tracked, tip)
    if not lineage.commits:
        return tip
    parents = () if lineage.cut else (await trail.read(lineage.commits[-1]))[0]
    return next(iter(parents), "")


async def _goes_on(trail: Trail, base: str, reading: Reading) -> bool:
    """Whether a branch of counts of another name goes on where that of before stood."""
    if not base or not reading.counts_commit:
        return False
    relation = await trail.repository.relation(base, reading.counts_commit)
    return relation in (Relation.SAME, Relation.FORWARD)


async def _written(
    trail: Trail, span: tuple[str, str], relation: Relation
) -> tuple[Counts | None, Counts]:
    """Return the counts that commits of ours wrote in a span, of each workload the newest.

    The second are those that stood nowhere before. Of many commits only the newest are read.
    """
    if relation in (Relation.SAME, Relation.UNKNOWN):
        return {}, {}
    lineage = await trail.lineage(*span)
    if lineage.cut:
        return None, {}
    mine = frozenset(trail.ours)
    ours = [commit for commit in lineage.commits if commit in mine]
    found, begun = dict[WorkloadKey, int](), dict[WorkloadKey, int]()
    most = len(ours) and _most_commits(trail, (await trail.read(ours[0]))[1])
    for commit in ours[:most]:
        parents, after = await trail.read(commit)
        behind = [(await trail.read(parent))[1] for parent in parents]
        for key, count in after.items():
            if count not in (numbers := [counts.get(key) for counts in behind]):
                found.setdefault(key, count)
                if not any(number is not None for number in numbers):
                    begun[key] = count
    return found, begun


async def read_passages(
    trail: Trail, span: tuple[str, str], relation: Relation, keys: Collection[WorkloadKey]
) -> Passages:
    """Return what commits between two heads did to the counts of `keys`, the oldest first.

    `span` is the accepted commit and the head, which stands to it in that relation. Where nobody
    can tell any more, a number that is not ours wins without a hold; so it is where commits of
    ours may be among those that are nobody's by the record. Raises the errors of the
    repository and the compiler.
    """
    base, head = span
    if not keys or relation is Relation.SAME:
        return {}
    if relation is Relation.UNKNOWN:
        return await _ends(trail, head, (), keys, went_back=True)
    lineage = await trail.lineage(base, head)
    mine = frozenset(trail.ours)
    foreign = [commit for commit in reversed(lineage.commits) if commit not in mine]
    _, before = await trail.read(base)
    # We force nothing: who sets a branch back, to a commit of ours even, is a person.
    if relation is Relation.DIVERGED:
        return await _ends(trail, head, (before,), keys, went_back=True)
    forgotten = not frozenset(trail.eldest).isdisjoint(lineage.commits)
    if lineage.cut or forgotten or len(foreign) > _most_commits(trail, before):
        newest = next((commit for commit in lineage.commits if commit in mine), "")
        between = [(await trail.read(newest))[1]] if newest else []
        return await _ends(trail, head, (before, *between), keys)
    found: dict[WorkloadKey, list[Passage]] = {key: [] for key in keys}
    for commit in foreign:
        parents, after = await trail.read(commit)
        behind = [(await trail.read(parent))[1] for parent in parents]
        for key in keys:
            numbers = tuple(counts.get(key) for counts in behind)
            found[key].append(Passage(commit, after.get(key), numbers))
    return {key: tuple(passages) for key, passages in found.items()}


def _most_commits(trail: Trail, before: Counts) -> int:
    """Return of how many commits each is read; of a branch of counts that is one file each."""
    if trail.own is not None:
        return MOST_COMMITS
    return min(MOST_COMMITS, max(2, MOST_SPECS // max(1, len(before))))


async def _ends(
    trail: Trail,
    head: str,
    before: Collection[Counts],
    keys: Collection[WorkloadKey],
    *,
    went_back: bool = False,
) -> Passages:
    """Return the passage from what was known before to the head, as one of a single commit."""
    _, after = await trail.read(head)
    return {
        key: (
            Passage(head, after.get(key), tuple(counts.get(key) for counts in before), went_back),
        )
        for key in keys
    }
