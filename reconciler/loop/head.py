"""The repository lane: a new head becomes an immutable snapshot of what is wanted.

    fetch -> tree -> reading -> intake (accepted, held, refused) -> records -> rendered -> Wanted

What is accepted stands in the records before anything acts on it. When Git does not answer,
what was accepted before stays wanted, and nothing is deleted for having left Git.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reconciler.core import approval, counts_in_git, desired, intake, trailers
from reconciler.core.approval import Approval
from reconciler.core.change import change_hash
from reconciler.core.compile import config_from_json, workload_from_json
from reconciler.core.trailers import Endorsed
from reconciler.loop.approvals import drop_approvals, read_approvals
from reconciler.loop.dropped import read_dropped
from reconciler.loop.keep_records import Verdict, keep_records
from reconciler.loop.lane import Lane
from reconciler.loop.lost_records import restore
from reconciler.loop.passages import Trail, counts_of, ours_since, read_both
from reconciler.loop.read_head import Reader
from reconciler.loop.trailers import Asked, read_trailers
from reconciler.model.arrivals import Arrival
from reconciler.model.errors import PortError
from reconciler.model.holds import HoldKind
from reconciler.model.intents import Dropped
from reconciler.model.plans import Desired
from reconciler.model.readings import Reading, Rendered
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config, Permissions, Workload
from reconciler.model.trees import Head, Relation
from reconciler.model.wanted import Wanted
from reconciler.ports import Compiler, Repository

JUDGED_SECONDS = 300.0
HELD_WITHOUT_GIT = (HoldKind.SUSPENDED, HoldKind.UNREADABLE_RECORD)
STRETCH = 20
"""So many workloads are parsed in one stretch of the event loop (a few milliseconds)."""
BIG_HEAD_WORKLOADS = 100
"""From so many on a head is judged in a thread."""


@dataclass(slots=True)
class HeadLane:
    """The tracked branch and what is needed to take its head in.

    `url` and `branch` name what is tracked in the records; `ceiling` is the operator's budget.
    `judged_at` is when the head was last judged (Unix seconds), 0 where what is on record may
    have changed since; `counts` are those of the last two heads, by commit. `approvals_changed`
    is where a person may have given one, `records_doubted` where one asks whether all records are
    there. `approval_signers` is the file of who may approve by a signed trailer; without it none
    counts.
    """

    url: str
    branch: str
    repository: Repository
    compiler: Compiler
    permissions: Permissions
    ceiling: Budgets
    home: Lane
    head: Head | None = None
    reading: Reading | None = None
    rendered: Mapping[WorkloadKey, Rendered] = field(default_factory=dict)
    counts: Mapping[str, Mapping[WorkloadKey, int]] = field(default_factory=dict)
    judged_at: float = 0.0
    approvals_changed: bool = True
    records_doubted: bool = False
    approval_signers: str = ""
    given: Mapping[str, Approval] = field(default_factory=dict)


async def look(lane: HeadLane, now: float) -> Wanted:
    """Fetch, judge and publish the newest head to the home lane; return what is wanted.

    `now` is Unix seconds. Raises the errors of the repository, the compiler and the cluster;
    what was wanted before then stays wanted.
    """
    # Before Git, which may not answer for long.
    await restore(lane.home.store, lane.home.cluster, search=lane.records_doubted)
    lane.records_doubted = False
    reading = await read(lane)
    if await lane.home.store.recheck():
        lane.home.doubted = True
    if _is_judged(lane, reading, now):
        return lane.home.wanted
    # A look that fails from here on is made again: its doubt is not lost.
    lane.home.doubted, lane.judged_at = False, 0.0
    verdict = await _judge(lane, reading, now)
    if counts_in_git.tells_of_people(verdict.arrival):
        # Whoever led before may have put a commit on record since ours were read.
        await lane.home.store.check_repository()
    await keep_records(lane.home.store, verdict)
    await drop_approvals(lane.home, verdict.used)
    lane.given = {name: given for name, given in lane.given.items() if name not in verdict.used}
    dropped = await read_dropped(lane.repository, verdict)
    wanted = await _publish(lane, verdict.result, reading.head, dropped)
    lane.judged_at = now
    return wanted


def _is_judged(lane: HeadLane, reading: Reading, now: float) -> bool:
    """Whether nothing that a judgement rests on has changed: then an idle look costs nothing.

    Once in a while it is made all the same: approvals expire, and strays appear in the cluster.
    """
    home = lane.home
    same = home.wanted.head == reading.head and not (lane.approvals_changed or home.doubted)
    waiting = lane.given or lane.home.store.repository.approved
    return same and not waiting and abs(now - lane.judged_at) < JUDGED_SECONDS


async def preview(lane: HeadLane, now: float) -> Wanted:
    """Do what `look` does, in memory alone: nothing is put on record.

    Raises what `look` raises.
    """
    reading = await read(lane)
    verdict = await _judge(lane, reading, now)
    records = verdict.result.records
    lane.home.previewed = {key: record.scaling for key, record in records.items()}
    return await _publish(lane, verdict.result, reading.head)


async def resume(lane: HeadLane) -> Wanted:
    """Publish what is on record as accepted: all that can be had while Git does not answer."""
    await lane.home.store.recheck()
    records = lane.home.store.states()
    reading = Reading("", None, {}, {}, (), (), ())
    arrival = _arrival(lane, reading, None, 0.0)
    result = intake.take_in(arrival, lane.home.store.repository, records, workload_from_json)
    known = lane.home.store.repository
    lasting = tuple(hold for hold in result.holds if hold.kind in HELD_WITHOUT_GIT)
    head = known.commit, known.counts_commit
    return await _publish(lane, replace(result, holds=lasting), head)


async def read(lane: HeadLane) -> Reading:
    """Fetch and return the newest head; nothing is judged. Raises what `look` raises."""
    reader = Reader(lane.repository, lane.compiler, lane.permissions, lane.branch)
    head, reading = await reader.read(lane.reading)
    if reading is not lane.reading:
        lane.counts = _known(lane.reading) | _known(reading)
        lane.head, lane.reading = head, reading
        lane.judged_at = 0.0
    return reading


def _known(reading: Reading | None) -> dict[str, Mapping[WorkloadKey, int]]:
    """Return the counts of a head by its commit; a branch of counts may have changed them."""
    if reading is None or reading.counts_commit:
        return {}
    return {reading.commit: counts_of(reading)}


async def _judge(lane: HeadLane, reading: Reading, now: float) -> Verdict:
    store = lane.home.store
    before = store.repository
    relation = await _relation(lane, before.commit, reading.commit)
    sources = lane.repository, lane.compiler, lane.permissions
    trail = Trail(*sources, before.pushed, heads=lane.counts)
    passages = await read_both(trail, before, reading, relation, lane.branch)
    ours = await ours_since(trail, before, reading, relation, lane.branch)
    # All at one instant: records may be read again at any await from here on.
    records = store.states()
    reading = counts_in_git.numbered(reading, records)
    arrival = _arrival(lane, reading, relation, now)
    arrival = replace(arrival, passages=passages[0], counts_passages=passages[1], ours=ours)
    waiting = {record.held.line for record in records.values() if record.held}
    removals = intake.removals_of(arrival, records, workload_from_json) if reading.config else ()
    asked = approval.ask_of(reading, removals, now)
    offered = approval.offer(before, asked, waiting)
    endorsed = Endorsed(offered, {})
    if removals:
        ask = Asked(lane.approval_signers, reading.commit, change_hash(removals))
        endorsed = await read_trailers(lane.repository, ask, offered, now)
    given = {**await _given(lane), **endorsed.given}
    repository, used = approval.grant(endorsed.repository, given, now)
    repository = trailers.spend(repository, used)
    if reading.config:
        repository = approval.standing(repository, asked)
    arrival = replace(arrival, doubts=endorsed.doubts)
    result = await _taken_in(arrival, repository, records)
    return Verdict(result, used - endorsed.given.keys(), before, records, arrival)


async def _taken_in(
    arrival: Arrival, repository: RepositoryRecord, records: Mapping[WorkloadKey, StateRecord]
) -> intake.Intake:
    """Take a head in; beside the event loop where there is much of it: all of it is immutable."""
    if max(len(records), len(arrival.reading.workloads)) < BIG_HEAD_WORKLOADS:
        return intake.take_in(arrival, repository, records, workload_from_json)
    return await asyncio.to_thread(intake.take_in, arrival, repository, records, workload_from_json)


async def _given(lane: HeadLane) -> Mapping[str, Approval]:
    """Return the approvals that are not used up; asked for only when there may be new ones."""
    if lane.approvals_changed:
        lane.approvals_changed = False
        try:
            lane.given = await read_approvals(lane.home)
        except PortError:
            lane.approvals_changed = True
            raise
    return lane.given


async def _relation(lane: HeadLane, accepted: str, commit: str) -> Relation | None:
    if not accepted:
        return None
    return await lane.repository.relation(accepted, commit)


def _arrival(lane: HeadLane, reading: Reading, relation: Relation | None, now: float) -> Arrival:
    store, view = lane.home.store, lane.home.view
    records, unreadable = store.states(), store.unreadable_workloads()
    recorded = {key for key, record in records.items() if record.accepted or record.deleting}
    unrecorded = {
        key: [pod.revision for pod in view.of(key).pods if not pod.terminating]
        for key in view.workloads()
        if key not in recorded and key not in unreadable
    }
    wanted = {key: workload.revision for key, workload in reading.workloads.items()}
    outdated = {key for key, revisions in unrecorded.items() if set(revisions) - {wanted.get(key)}}
    return Arrival(
        reading=reading,
        repository=lane.url,
        branch=lane.branch,
        relation=relation,
        cluster=lane.home.name,
        ceiling=lane.ceiling,
        accepted_config=_accepted_config(lane.home.store.repository.config_json),
        unrecorded={key: len(revisions) for key, revisions in unrecorded.items()},
        now=now,
        unreadable=unreadable,
        outdated=frozenset(outdated & wanted.keys()),
        named=store.named(),
        blank=store.is_blank and not view.workloads(),
    )


def _accepted_config(config_json: str) -> Config | None:
    return config_from_json(config_json) if config_json else None


async def _publish(
    lane: HeadLane,
    result: intake.Intake,
    head: tuple[str, str],
    dropped: tuple[Dropped, ...] = (),
) -> Wanted:
    workloads = list(result.effective.values())
    rendered = await lane.compiler.render(workloads, lane.home.instance)
    effective = {}
    for number, workload in enumerate(workloads):
        if number % STRETCH == 0:
            await asyncio.sleep(0)
        effective[workload.key] = _desired(lane, workload, rendered[workload.key])
    lane.rendered = rendered
    approved = result.repository.approved
    wanted = lane.home.wanted = Wanted(
        head[0],
        effective,
        result.deleting,
        result.holds,
        approved,
        result.newborn,
        dropped,
        head[1],
    )
    return wanted


def _desired(lane: HeadLane, workload: Workload, rendered: Rendered) -> Desired:
    """Return what is wanted of one workload; the same value where nothing of it changed."""
    known = lane.home.wanted.effective.get(workload.key)
    if known is not None and lane.rendered.get(workload.key) is rendered:
        before = known.workload
        if (before.spec_json, before.replicas) == (workload.spec_json, workload.replicas):
            return replace(known, workload=workload)
    return desired.build(workload, rendered)
