"""Decided counts go into Git: one commit onto the judged head, or nothing and the reason.

The ids of our commits go on record before the push, so that none of ours is ever taken for a
human's. Only the judged head is built upon: another one may hold a human's word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.core import carried_counts, counts_in_git, intents
from reconciler.core.reviewed_bounds import is_shut_out
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.suspension import in_time
from reconciler.loop import noting
from reconciler.loop.commit_text import DEFAULT_SUBJECT, message_of
from reconciler.loop.count_files import Rewritten, rewrite
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.tries import Place, Tries
from reconciler.model.edits import Refusal
from reconciler.model.errors import Conflict, PortError
from reconciler.model.intents import Intent, Scaling
from reconciler.model.pushes import Change, Person, SigningKey
from reconciler.model.readings import Reading
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import Relation
from reconciler.ports import WritableRepository


@dataclass(frozen=True, slots=True)
class Terms:
    """How we commit: as whom, at most how often, with which first line, and signed with what."""

    author: Person
    quiet_seconds: float = 60.0
    subject: str = DEFAULT_SUBJECT
    signing: SigningKey | None = None


@dataclass(frozen=True, slots=True)
class Landed:
    """What one try came to: the workloads whose counts a commit of ours holds now.

    `refused` are edits that cannot be made exactly, with what a person can do about it. Where the
    commit stands there and our records do not say so, `unrecorded` is why: the next head tells it.
    """

    commit: str = ""
    intents: Mapping[WorkloadKey, Intent] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    unrecorded: PortError | None = None


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a commit of ours stands on: `base` is what `branch` stands at, or is made from.

    `head` is the judged head, with the commit of its branch of counts.
    """

    head: tuple[str, str]
    branch: str
    base: str
    creates: bool = False

    @property
    def place(self) -> Place:
        """Where the push goes to."""
        return self.branch, "" if self.creates else self.base


def is_judged(lane: HeadLane) -> bool:
    """Whether the newest head that was read was taken in."""
    reading = lane.reading
    return reading is not None and bool(lane.judged_at) and lane.home.wanted.head == reading.head


def may_hide(lane: HeadLane) -> bool:
    """Whether anything may wait that `waiting` does not tell.

    So it is beside a head that is not judged, or whose Config cannot be read: then what is decided
    may wait for that, and nobody knows what a record says that cannot be read.
    """
    reading, store = lane.reading, lane.home.store
    if reading is not None and reading.config is not None and is_judged(lane):
        return False
    decided = (record.scaling.intent for record in store.states().values())
    is_decided = any(intent and intent.moves_git for intent in decided)
    return is_decided or bool(store.unreadable_workloads())


def waiting(lane: HeadLane) -> dict[WorkloadKey, Intent]:
    """Return the intents that the judged head can take: those decided over its own numbers.

    None where it is held as a whole: its numbers may be a person's word, not heard yet, and without
    its Config nobody knows which branch has them.
    """
    reading, found = lane.reading, {}
    if reading is None or reading.config is None or not is_judged(lane):
        return {}
    records = {key: lane.home.store.state(key) for key in reading.workloads}
    dated = lane.dates.at(lane.home.view.elapsed())
    for key, workload in counts_in_git.numbered(reading, records).workloads.items():
        record = records[key]
        intent = record.scaling.intent
        acting = lane.home.wanted.effective.get(key)
        if intent is None or record.held or acting is None or not acting.workload.scales:
            continue
        if record.scaling.waits_by or not in_time(workload, dated).scales:
            continue  # in a freeze what acts scales still: whose word waits is not overruled
        if is_shut_out(intent.value, acting.workload, workload):
            continue  # new bounds wait with the freeze: nothing of ours may contradict them in Git
        if workload.replicas == intent.base != intent.value:
            # A host may say that it took a commit, and stay at the base.
            found[key] = intents.untold(intent, record.scaling.landings)
    return found


async def land(
    lane: HeadLane,
    repository: WritableRepository,
    terms: Terms,
    now: float,
    tries: Tries,
) -> Landed:
    """Commit every waiting intent and push; `now` is Unix seconds.

    `repository` is the committer's own: the lane's may be busy with another fetch. Raises what
    `push` raises. Conflict: a branch moved, so it is to be judged first, or, as RecordChanged, a
    record of ours was written by somebody else; what stands on record is in `tries` then, for the
    next push. After Unavailable the commit may stand there all the same.
    """
    found, reading = waiting(lane), lane.reading
    if not found or reading is None:
        return Landed()
    words = {key: _word_in(lane.home.store.state(key)) for key in found}
    ground = await _ground(lane, repository, reading, tries)
    made = await _rewritten(lane, repository, reading, ground, found)
    landed = _taken(found, made)
    if not landed or not made.files:
        return Landed(refused=made.refused)
    message = message_of(landed, lane.home.instance, terms.subject, made.gone)
    change = _change_of(ground, made, message, terms, now)
    commit = await repository.write(change)
    await noting.note_id(lane, commit, tries, tries.ended(lane.home.view.elapsed()), now)

    def pushing(key: WorkloadKey, known: StateRecord) -> Scaling:
        # A head stands on record before it is published: by then its word is heard already.
        if lane.home.wanted.head != ground.head or _word_in(known) != words[key]:
            raise Conflict("another head was taken in meanwhile: decided anew")
        return intents.pushing(known.scaling, commit, landed[key])

    try:
        await noting.change(lane, landed, pushing)
        await repository.push(change, commit)
    except PortError as error:
        tries.failed(error, commit, ground.place, lane.home.view.elapsed())
        await _lost(lane, tries, landed, error)
        raise
    tries.took(commit, ground.place, now)
    unrecorded = await noting.note_pushed(lane, commit, tries, landed)
    return Landed(commit, landed, made.refused, unrecorded)


def _taken(found: Mapping[WorkloadKey, Intent], made: Rewritten) -> dict[WorkloadKey, Intent]:
    wrong = {refusal.edit.where for refusal in made.refused}
    return {key: intent for key, intent in found.items() if key not in wrong}


def _word_in(record: StateRecord) -> tuple[object, ...]:
    """Return what heads said of a workload until now: another head's word makes it another."""
    return record.accepted, record.deleting, record.held, record.scaling.held_by


async def _lost(
    lane: HeadLane, tries: Tries, landed: Mapping[WorkloadKey, Intent], error: PortError
) -> None:
    """Keep on record what is pushed again after a lost race, or may stand on the branch.

    After any other failure that is all of it, also what lost a race before: nobody knows what
    reached the branch, whatever was answered, and a number on it is ours for as long as its id is.
    Where a push is in doubt, a race may be lost to that very one. So it is with what another
    process put on record: whoever led before may have pushed it, and had no answer.
    """
    noting.leave_out(tries.raced, landed)
    if not isinstance(error, Conflict):
        return
    try:
        await noting.withdraw(lane, tries.raced)
    finally:
        if not tries.unanswered:
            tries.raced |= {
                key: intent
                for key, intent in landed.items()
                if intents.pushed_as(lane.home.store.state(key).scaling, intent) in ("", *tries.own)
            }


def _change_of(ground: _Ground, made: Rewritten, message: str, terms: Terms, now: float) -> Change:
    return Change(
        ground.base,
        ground.branch,
        made.files,
        message,
        terms.author,
        int(now),
        terms.signing,
        creates=ground.creates,
    )


async def _ground(
    lane: HeadLane, repository: WritableRepository, reading: Reading, tries: Tries
) -> _Ground:
    """Return what to build upon: the head that was judged. Raises Conflict where it moved.

    After a push in doubt the host is asked in any case: one that is away gets no commit after
    the other.
    """
    tracked, counts = reading.head
    branch = carried_counts.counts_branch(reading.config, lane.branch)
    creates = bool(branch) and not counts
    ground = _Ground(reading.head, branch or lane.branch, counts or tracked, creates)
    # Where our mirror has the head the push itself asks: it moves the branch from there or not at
    # all. To fetch first only gives those who push all the time another moment to come first.
    tries.begun(ground.place, lane.home.view.elapsed())
    if branch or tries.unanswered or not await repository.holds(tracked):
        newest = (await repository.fetch()).commit
        tip = await repository.tip(branch) if branch else ""
        if (newest, tip) != (tracked, counts):
            raise Conflict("somebody pushed since the head was judged: judge that first")
        for commit in tries.overtaken(ground.place):
            relations = {await repository.relation(commit, at) for at in reading.head if at}
            stands = not relations.isdisjoint((Relation.FORWARD, Relation.SAME))
            tries.answered(commit, stands=stands)
    return ground


async def _rewritten(
    lane: HeadLane,
    repository: WritableRepository,
    reading: Reading,
    ground: _Ground,
    found: Mapping[WorkloadKey, Intent],
) -> Rewritten:
    """Return the files with the new numbers, each where the old one stands."""
    apart, by_file = ground.branch != lane.branch, dict[str, dict[WorkloadKey, int]]()
    for key, intent in found.items():
        nowhere = key in reading.unnumbered
        file = reading.workloads[key].replicas_source.file
        file = REPLICAS_FILE if apart or nowhere else file
        by_file.setdefault(file, {})[key] = intent.value
    acting = {key: each.workload for key, each in lane.home.wanted.effective.items()}
    gone = counts_in_git.gone(reading, lane.home.store.states(), acting, apart=apart)
    if len(by_file) > 1:
        await repository.tree(ground.base)  # all at once: its files are known from then on
    return await rewrite(repository, ground.base, by_file, gone)
