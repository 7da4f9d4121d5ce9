"""What the head says of counts that a policy moves: whose word it is, and what it leads to."""

import json
from collections.abc import Mapping
from dataclasses import replace

from reconciler.core import intents
from reconciler.core.carried_counts import ReadSpec, carried, counts_branch, is_moved, is_own_theirs
from reconciler.core.compile import canonical
from reconciler.model.arrivals import Arrival
from reconciler.model.intents import NO_SCALING, Dropped, Fate, HeadCount, Scaling
from reconciler.model.readings import Reading
from reconciler.model.records import NO_RECORD, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Source, Workload
from reconciler.model.trees import NOT_FORWARD

Settled = Mapping[WorkloadKey, tuple[Scaling, int]]
"""By workload: what is remembered once a head was taken in, and the count that is wanted then."""
_TAKEN_BACK: tuple[Fate, ...] = ("human", "overruled", "off")


def unfetched(reading: Reading, record: RepositoryRecord, tracked: str) -> str:
    """Return the branch of counts that is on record, and that a checkout has not, "" for none.

    A checkout has what its owner fetched: that a branch is not there says nothing of the host.
    """
    missing = record.counts_commit and not reading.counts_commit
    return counts_branch(reading.config, tracked) if missing else ""


def numbered(reading: Reading, records: Mapping[WorkloadKey, StateRecord]) -> Reading:
    """Return a reading whose workloads without a count keep the one that was accepted."""
    return _with_counts(
        reading, {key: _unlisted(reading, records, key) for key in reading.unnumbered}
    )


def numbered_anew(arrival: Arrival, records: Mapping[WorkloadKey, StateRecord]) -> Arrival:
    """Return what `numbered` does, for a head: who takes our first line out takes it back.

    What acted before that line is that person's number then, as if their commit had written it.
    Any other number that was taken out is none, whoever wrote it: what was accepted goes on.
    """
    moves = arrival.moves
    # Of one whose record is lost it is what lives.
    lost = arrival.reading.unnumbered & arrival.unrecorded.keys()
    back = {key: arrival.unrecorded[key] for key in lost if arrival.unrecorded[key]}
    tracked, apart = dict(moves.tracked), dict(moves.apart)
    for key, passage in moves.taken_out.items():
        record, moved = records.get(key, NO_RECORD), tracked.pop(key, ())
        unlisted = record.scaling.unlisted
        apart.pop(key, None)
        if unlisted and passage in moved and unlisted[1] in passage.before:
            back[key] = unlisted[0]
            tracked[key] = (*moved, replace(passage, after=unlisted[0]))
        elif record.accepted:
            back[key] = record.accepted.replicas
    reading = _with_counts(numbered(arrival.reading, records), back)
    return replace(arrival, reading=reading, moves=replace(moves, tracked=tracked, apart=apart))


def waiting_by(arrival: Arrival, key: WorkloadKey, record: StateRecord) -> str:
    """Return the commit of a person whose number waits since before, "" for none.

    One that was taken out of Git again waits no more.
    """
    return "" if key in arrival.moves.taken_out else record.scaling.waits_by


def _unlisted(
    reading: Reading, records: Mapping[WorkloadKey, StateRecord], key: WorkloadKey
) -> int:
    """Return the count of a workload that has none in Git."""
    record = records.get(key, NO_RECORD)
    if record.scaling.unlisted and record.scaling.waits_by:
        return record.scaling.unlisted[0]  # who took the line out waits for the end of a freeze
    return record.accepted.replicas if record.accepted else reading.workloads[key].replicas


def _with_counts(reading: Reading, counts: Mapping[WorkloadKey, int]) -> Reading:
    changed = {
        key: with_count(reading.workloads[key], count)
        for key, count in counts.items()
        if reading.workloads[key].replicas != count
    }
    return replace(reading, workloads={**reading.workloads, **changed}) if changed else reading


def with_count(workload: Workload, count: int) -> Workload:
    """Return a workload with another number in its spec."""
    document = json.loads(workload.spec_json)
    document["spec"]["replicas"] = count
    return replace(workload, replicas=count, spec_json=canonical(document))


def gone(
    reading: Reading,
    records: Mapping[WorkloadKey, StateRecord],
    acting: Mapping[WorkloadKey, Workload],
    *,
    apart: bool,
) -> frozenset[WorkloadKey]:
    """Return the workloads whose lines in the file of counts nobody needs any more.

    None of a reading that is not complete: what cannot be told is not gone. What is on record
    lives still, or its removal is held. A branch of counts, `apart` from the tracked one, counts
    for workloads with a policy alone: one that is switched off in Git and acts still, by a freeze
    or a gate, may be switched on again, and its line is the number that goes on then. So may one
    whose rooms wait for an approval to go.
    """
    if reading.config is None or reading.unreadable or reading.missing_paths:
        return frozenset()
    lines = reading.over if reading.counts_commit else reading.counts
    return frozenset(
        key
        for key in lines.keys() - reading.invalid.keys()
        if (
            apart
            and _is_still(reading.workloads[key])
            and _is_still(acting.get(key))
            and records.get(key, NO_RECORD).held is None
            if key in reading.workloads
            else records.get(key, NO_RECORD).accepted is None
        )
    )


def _is_still(workload: Workload | None) -> bool:
    """Whether no policy moves it; of one that is not known nobody can tell."""
    return workload is not None and not is_moved(workload)


def tells_of_people(arrival: Arrival) -> bool:
    """Whether anybody but us changed a number, as far as the ids on record tell."""
    moved = (*arrival.moves.tracked.values(), *arrival.moves.apart.values())
    return any(map(intents.human_commit, moved))


def head_count(arrival: Arrival, workload: Workload, record: StateRecord) -> HeadCount:
    """Return what a head says of the count of one workload, beside what was accepted of it."""
    reading, own = arrival.reading, arrival.reading.own.get(workload.key)
    apart = arrival.moves.apart.get(workload.key, ())
    tracked = arrival.moves.tracked.get(workload.key, ())
    human, asked = intents.human_commit(apart), None
    if not human:
        # Theirs on the tracked branch acts where nobody wrote another on the branch of counts.
        human = intents.human_commit(tracked)
        if not human and is_own_theirs(arrival, workload.key, record.scaling):
            human = reading.commit
        asked = own if human else None
    newest = reading.counts_commit or reading.commit
    if not human and is_taken_back(arrival, workload, record.scaling):
        human = newest
    if not human and workload.key not in arrival.withheld:
        # The freeze is over, or an approval lets it through.
        human = waiting_by(arrival, workload.key, record)
        human = human or _brought_back(arrival, workload, record)
    passed = (*tracked, *apart)
    went_back = any(each.went_back and each.commit == human for each in passed)
    went_back |= record.scaling.waits_back and human == record.scaling.waits_by
    back = back_to(arrival, workload.key, record)
    is_theirs = arrival.moves.wrote is not None and workload.key not in arrival.moves.wrote
    return HeadCount(
        workload.replicas,
        workload.autoscaling,
        workload.suspend,
        human,
        asked,
        own,
        accepted=record.accepted.replicas if record.accepted else None,
        foreign=(back or newest) if is_theirs else "",
        went_back=went_back or bool(back and not human),
    )


def back_to(arrival: Arrival, key: WorkloadKey, record: StateRecord) -> str:
    """Return the commit to which the branch moved other than forward with this number, else "".

    Of one that is held since then the record tells; what a person wrote after it is another's.
    """
    over = arrival.reading.counts_commit and key in arrival.reading.over
    passed = (arrival.moves.apart if over else arrival.moves.tracked).get(key, ())
    found = next((each.commit for each in passed if each.went_back), "")
    if found or intents.human_commit(passed) or record.held is None:
        return found
    return record.held.back_to


def _brought_back(arrival: Arrival, workload: Workload, record: StateRecord) -> str:
    """Return the commit of a person that brings back what is being removed, "" for none.

    They want it as Git has it now, be it the number of before. One that is gone comes as a new one.
    """
    if not record.deleting or workload.autoscaling is None:
        return ""
    if workload.key in arrival.reading.unnumbered:
        return ""
    moved = arrival.moves.tracked.get(workload.key, ())
    return intents.bringing_commit(moved) or arrival.reading.commit


def held_broken(arrival: Arrival, before: StateRecord, read_spec: ReadSpec) -> Scaling:
    """Return what is remembered of a workload whose spec is there, and has a mistake.

    Who brings it back so from its removal holds its policy: the head that mends it tells nothing.
    """
    accepted = before.accepted if before.deleting else None
    if accepted is None:
        return before.scaling
    if read_spec(accepted.spec_json, Source(accepted.file, 1)).autoscaling is None:
        return before.scaling
    commit, seconds = arrival.reading.commit, _hold_seconds(arrival)
    back = arrival.relation in NOT_FORWARD
    return intents.with_hold(before.scaling, commit, arrival.spent_at, seconds, went_back=back)


def is_taken_back(arrival: Arrival, workload: Workload, scaling: Scaling) -> bool:
    """Whether a number of ours is behind the head, and its own is none of ours all the same.

    A merge can do that without a number that neither side has: a person chose the older one. Where
    the number stands nowhere any more, nobody wrote one.
    """
    reading, wrote = arrival.reading, (arrival.moves.wrote or {}).get(workload.key)
    if wrote is None or workload.key in reading.unnumbered:
        return False
    if reading.counts_commit and not (workload.key in reading.over and is_moved(workload)):
        return False  # the tracked branch's number stands: we wrote none there
    return workload.replicas not in [wrote, *(each.value for each in scaling.landings)]


def settled(arrival: Arrival, workload: Workload, record: StateRecord) -> tuple[Scaling, int]:
    """Return what is remembered once a head was taken in, and the count that is wanted then.

    `record` is what was on record until then.
    """
    record = carried(arrival, workload, record)
    head = head_count(arrival, workload, record)
    after, _ = _settled(arrival, workload.key, head, record.scaling)
    first, accepted = arrival.moves.begun.get(workload.key), record.accepted
    # A head that is judged again, since we died over it, is on record already: what acted is gone.
    if first is not None and accepted and accepted.replicas != workload.replicas:
        after = replace(after, unlisted=(accepted.replicas, first))
    return after, intents.effective(after, head)


def dropped(arrival: Arrival, workload: Workload, record: StateRecord) -> Dropped | None:
    """Return the count that was decided and that a head takes back, None where it takes none."""
    record = carried(arrival, workload, record)
    head, intent = head_count(arrival, workload, record), record.scaling.intent
    _, fate = _settled(arrival, workload.key, head, record.scaling)
    if intent is None or fate not in _TAKEN_BACK:
        return None
    commit = head.human if fate == "human" else ""
    back = head.went_back and fate == "human"
    return Dropped(workload.key, intent.value, head.replicas, fate, commit, went_back=back)


def _settled(
    arrival: Arrival, key: WorkloadKey, head: HeadCount, scaling: Scaling
) -> tuple[Scaling, Fate]:
    hold_seconds = _hold_seconds(arrival)
    after, fate = intents.settle(scaling, head, arrival.now, hold_seconds, arrival.shared_now)
    return with_waiting(arrival, key, after), fate


def with_waiting(arrival: Arrival, key: WorkloadKey, scaling: Scaling) -> Scaling:
    """Return what is remembered, with whose number waits for the end of a freeze, if anybody's."""
    waits_by, back = arrival.withheld.get(key, ("", False))
    if (scaling.waits_by, scaling.waits_back) == (waits_by, back):
        return scaling
    return replace(scaling, waits_by=waits_by, waits_back=back)


def _hold_seconds(arrival: Arrival) -> float:
    return float((arrival.reading.config or Config()).write_back.human_hold_seconds)


def all_settled(arrival: Arrival, records: Mapping[WorkloadKey, StateRecord]) -> Settled:
    """Return what `settled` does, of each workload of a head.

    A count that no policy has, of which nothing is remembered and no commit tells, is what Git
    says. Of a thousand of these a commit is about one, and the others are asked no more than this.
    """
    told, found = _told_of(arrival), dict[WorkloadKey, tuple[Scaling, int]]()
    for key, workload in arrival.reading.workloads.items():
        record = records.get(key, NO_RECORD)
        if workload.autoscaling is None and record.scaling is NO_SCALING and key not in told:
            found[key] = NO_SCALING, workload.replicas
        else:
            found[key] = settled(arrival, workload, record)
    return found


def _told_of(arrival: Arrival) -> frozenset[WorkloadKey]:
    """Return the workloads of whose counts a head says more than the number."""
    moves = arrival.moves
    moved = (moves.tracked, moves.apart, moves.wrote or {}, moves.begun)
    return frozenset().union(*moved, arrival.withheld, arrival.reading.own)
