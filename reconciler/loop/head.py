"""The repository lane: a new head becomes an immutable snapshot of what is wanted.

    fetch -> tree -> reading -> intake (accepted, held, refused) -> records -> rendered -> Wanted

What is accepted stands in the records before anything acts on it. When Git does not answer,
what was accepted before stays wanted, and nothing is deleted for having left Git.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reconciler.core import (
    approval,
    carried_counts,
    counts_in_git,
    intake,
    trailers,
    vouching,
)
from reconciler.core.approval import Approval
from reconciler.core.asked import asked_by
from reconciler.core.change import hash_of_lines
from reconciler.core.compile import workload_from_json
from reconciler.core.trailers import Endorsed
from reconciler.loop.approvals import by_our_clock, drop_approvals, read_approvals, tell_clock
from reconciler.loop.arriving import arrival_of
from reconciler.loop.dropped import read_dropped
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.judging import Asking, Scene, asked_for, beside, judged
from reconciler.loop.keep_records import Verdict, keep_records
from reconciler.loop.lost_records import restore
from reconciler.loop.passages import Trail, counts_of, read_moves
from reconciler.loop.publish import publish
from reconciler.loop.read_head import Reader
from reconciler.loop.trailers import Asked, read_trailers
from reconciler.loop.vouching import Vouching
from reconciler.model.errors import Conflict, PortError
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import Relation
from reconciler.model.wanted import Wanted

JUDGED_SECONDS = 300.0
HELD_WITHOUT_GIT = (HoldKind.SUSPENDED, HoldKind.UNREADABLE_RECORD)


@dataclass(frozen=True, slots=True)
class _Granted:
    """The record with what approvals let through, which of them are used up, and which doubted."""

    repository: RepositoryRecord
    used: frozenset[str]
    doubts: tuple[Hold, ...]


async def look(lane: HeadLane, now: float) -> Wanted:
    """Fetch, judge and publish the newest head to the home lane; return what is wanted.

    `now` is Unix seconds. Raises the errors of the repository, the compiler and the cluster;
    what was wanted before then stays wanted.
    """
    # Before anything is waited for, which would come between the two clocks.
    lane.dates.follow(now, lane.home.view.elapsed())
    # Before Git, which may not answer for long.
    try:
        await restore(lane.home.store, lane.home.cluster, search=lane.records_doubted)
    except Conflict:
        await lane.home.begin_term()  # another process led: its records are taken over
        raise
    lane.records_doubted = False
    if lane.home.store.repository_problem:
        await lane.home.store.recheck()  # without it nobody knows from where on to ask who signed
    reading = await read(lane, now)
    await lane.home.store.recheck()
    if _is_judged(lane, reading, now):
        return lane.home.wanted
    lane.home.store.doubted, lane.judged_at = False, 0.0
    try:
        return await _taken_in(lane, reading, now)
    except BaseException:
        # It is made again, in its time: no doubt is lost, and none wakes anybody until then.
        lane.home.store.doubted = True
        raise


async def _taken_in(lane: HeadLane, reading: Reading, now: float) -> Wanted:
    """Judge a reading, put the verdict on record, and publish what is wanted."""
    verdict = await _judge(lane, reading, now)
    if counts_in_git.tells_of_people(verdict.arrival):
        # Whoever led before may have put a commit on record since ours were read.
        await lane.home.store.check_repository()
    await keep_records(lane.home.store, verdict)
    await drop_approvals(lane.home, verdict.used)
    lane.given = {name: given for name, given in lane.given.items() if name not in verdict.used}
    dropped = await read_dropped(lane.repository, verdict)
    wanted = await publish(lane, verdict.result, reading.head, dropped)
    lane.judged_at = now
    return wanted


def _is_judged(lane: HeadLane, reading: Reading, now: float) -> bool:
    """Whether nothing that a judgement rests on has changed: then an idle look costs nothing.

    Once in a while it is made all the same: approvals expire, and strays appear in the cluster.
    """
    home = lane.home
    same = home.wanted.head == reading.head and not (lane.approvals_changed or home.store.doubted)
    same = same and lane.dates.due_in_seconds(home.view.elapsed()) != 0.0
    waiting = lane.given or lane.home.store.repository.approved
    return same and not waiting and abs(now - lane.judged_at) < JUDGED_SECONDS


def due_in_seconds(lane: HeadLane, now: float) -> float | None:
    """Return when a date in Git changes what acts, None where none does; 0 where one has."""
    elapsed = lane.home.view.elapsed()
    lane.dates.follow(now, elapsed)
    return lane.dates.due_in_seconds(elapsed)


async def preview(lane: HeadLane, now: float) -> Wanted:
    """Do what `look` does, in memory alone: nothing is put on record.

    Raises what `look` raises.
    """
    lane.dates.follow(now, lane.home.view.elapsed())
    reading = await read(lane, now)
    verdict = await _judge(lane, reading, now)
    records = verdict.result.records
    lane.home.previewed = {key: record.scaling for key, record in records.items()}
    return await publish(lane, verdict.result, reading.head)


async def resume(lane: HeadLane, now: float) -> Wanted:
    """Publish what is on record as accepted: all that can be had while Git does not answer.

    `now` is Unix seconds.
    """
    lane.dates.follow(now, lane.home.view.elapsed())
    await lane.home.store.recheck()
    records = lane.home.store.states()
    reading = Reading("", None, {}, {}, (), (), ())
    dated = lane.dates.at(lane.home.view.elapsed())
    arrival = replace(arrival_of(lane, reading, None, 0.0), dated=dated)
    known = lane.home.store.repository
    asked = asked_by(arrival, records, workload_from_json)
    result = intake.take_in(arrival, known, records, workload_from_json, asked)
    lasting = tuple(hold for hold in result.holds if hold.kind in HELD_WITHOUT_GIT)
    head = known.commit, known.counts_commit
    return await publish(lane, replace(result, holds=lasting), head)


async def read(lane: HeadLane, now: float) -> Reading:
    """Fetch and return the newest head; nothing is judged. Raises what `look` raises."""
    sources = lane.repository, lane.compiler, lane.permissions
    reader = Reader(*sources, lane.branch, await _vouching(lane, now))
    head, reading = await reader.read(lane.reading)
    if reading is not lane.reading:
        lane.counts = _known(lane.reading) | _known(reading)
        lane.head, lane.reading = head, reading
        lane.judged_at = 0.0
    return reading


async def _vouching(lane: HeadLane, now: float) -> Vouching | None:
    if lane.rules is None:
        return None
    record = lane.home.store.repository
    given = await _given(lane, now)
    return Vouching(lane.repository, lane.rules, record, lane.url, given, now)


def _known(reading: Reading | None) -> dict[str, Mapping[WorkloadKey, int]]:
    """Return the counts of a head by its commit; a branch of counts may have changed them.

    Of one where a count stands nowhere they do not tell all: that may be a person's word.
    """
    if reading is None or reading.counts_commit or reading.unnumbered or reading.vouched.problem:
        return {}
    return {reading.commit: counts_of(reading)}


async def _judge(lane: HeadLane, reading: Reading, now: float) -> Verdict:
    store = lane.home.store
    before = store.repository
    relation = await _relation(lane, before.commit, reading.commit)
    sources = lane.repository, lane.compiler, lane.permissions
    trail = Trail(*sources, before.pushed, heads=lane.counts, eldest=before.eldest)
    renewed = carried_counts.come_under_lines(reading, store.states())
    moves = await read_moves(trail, before, reading, relation, lane.branch, renewed=renewed)
    # All at one instant: records may be read again at any await from here on.
    records = store.states()
    dated = lane.dates.at(lane.home.view.elapsed())
    arrival = replace(arrival_of(lane, reading, relation, now), dated=dated, moves=moves)
    scene = Scene(arrival, before, records, lane.dates.zones)
    asking = await beside(scene, asked_for, scene)
    granted = await _granted(lane, asking)
    asking = replace(asking, arrival=replace(asking.arrival, doubts=granted.doubts))
    found = await beside(scene, judged, scene, asking, granted.repository)
    lane.dates.due_at = found.due_at
    used = granted.used | vouching.used(found.result.repository, reading)
    return Verdict(found.result, used, before, records, found.arrival)


async def _granted(lane: HeadLane, asking: Asking) -> _Granted:
    """Return what approvals let through of what is asked for."""
    asked, now = asking.ask, asking.ask.now
    endorsed = Endorsed(asking.repository, {})
    if asked.marks:
        ask = Asked(lane.approval_signers, asked.commit, hash_of_lines(asked.marks))
        endorsed = await read_trailers(lane.repository, ask, asking.repository, now)
    given = {**await _given(lane, now), **endorsed.given}
    repository, used = endorsed.repository, frozenset[str]()
    if asking.arrival.reading.config is not None:
        # Else nobody knows what is asked for: approvals wait for a head that says it.
        repository, used = approval.grant(repository, given, asked)
        repository = approval.standing(repository, asked)
    repository = trailers.spend(repository, used)
    return _Granted(repository, used - endorsed.given.keys(), endorsed.doubts)


async def _given(lane: HeadLane, now: float) -> Mapping[str, Approval]:
    """Return the approvals that are not used up; asked for only when there may be new ones."""
    if lane.approvals_changed:
        lane.approvals_changed = False
        try:
            lane.given = await read_approvals(lane.home)
        except PortError:
            lane.approvals_changed = True
            raise
        tell_clock(lane.home, lane.given, now)
    return by_our_clock(lane.home, lane.given, now)


async def _relation(lane: HeadLane, accepted: str, commit: str) -> Relation | None:
    if not accepted:
        return None
    return await lane.repository.relation(accepted, commit)
