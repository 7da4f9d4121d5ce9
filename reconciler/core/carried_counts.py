"""A count whose place in Git is another one now: nobody wrote a number by that, so none acts.

A branch of counts is deleted, named otherwise, put in or taken out, or a policy is switched on
over a line of before. The number at the new place is an old one, or was never meant to act. What
acts goes on as an intent over it, and lands there with our next commit (ADR 17).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from reconciler.core.intents import human_commit
from reconciler.model.arrivals import Arrival
from reconciler.model.intents import CARRIED, Intent, Scaling, Step
from reconciler.model.readings import Reading
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Source, Workload

ReadSpec = Callable[[str, Source], Workload]
"""Canonical spec JSON and its place to a Workload: `compile.workload_from_json`."""


def counts_branch(config: Config | None, tracked: str) -> str:
    """Return the name of the branch of counts, "" where counts stand on the tracked one."""
    branch = config.write_back.branch if config else ""
    return "" if branch == tracked else branch


def is_renamed(before: Config | None, config: Config | None, tracked: str) -> bool:
    """Whether the branch of counts is another one than `before`: nobody wrote a count by that."""
    old, new = counts_branch(before, tracked), counts_branch(config, tracked)
    return bool(old and new) and old != new


def is_moved(workload: Workload) -> bool:
    """Whether a policy that is switched on moves a count."""
    return workload.autoscaling is not None and workload.autoscaling.enabled


def is_own_theirs(arrival: Arrival, key: WorkloadKey, scaling: Scaling) -> bool:
    """Whether the number on the tracked branch, under a line, is another and a person's.

    We write none there; one of ours comes there by a merge of the branch of counts.
    """
    own = arrival.reading.own.get(key)
    if own is None or scaling.own is None or own == scaling.own:
        return False
    return own != arrival.moves.joined.get(key)


def come_under_lines(reading: Reading, records: Mapping[WorkloadKey, StateRecord]) -> bool:
    """Whether a line of the branch of counts lies over a number that none lay over before."""
    return any(
        records[key].accepted is not None and records[key].scaling.own is None
        for key in reading.own.keys() & records.keys()
    )


def carried(arrival: Arrival, workload: Workload, record: StateRecord) -> StateRecord:
    """Return a record as it is for a head that has the count in another place than before.

    What acts is an intent over the number there, which is not the one it was decided over: so it
    goes on, and stands in the new place next. A number that a person wrote wins as always.
    """
    accepted, scaling = record.accepted, record.scaling
    if accepted is None or accepted.replicas == workload.replicas:
        return record
    if record.deleting:
        return record  # nothing of it acts: what comes back comes as Git has it
    if not _is_elsewhere(arrival, workload, scaling):
        return record
    value, steps = record.in_effect, scaling.intent.untold if scaling.intent else ()
    at, before = (steps[0].at, steps[0].before) if steps else (arrival.now, value)
    told = _told(arrival, workload)
    steps = (Step(at, workload.replicas, before, CARRIED, told), *steps)
    intent = Intent(workload.replicas, value, steps) if value != workload.replicas else None
    own = arrival.reading.own.get(workload.key)
    return replace(
        record,
        accepted=replace(accepted, replicas=workload.replicas),
        scaling=replace(scaling, intent=intent, landings=(), own=own),
    )


def carried_beside(
    arrival: Arrival, workload: Workload, record: StateRecord, read_spec: ReadSpec
) -> StateRecord:
    """Return what `carried` does, for a head whose spec does not act yet: the accepted one does.

    Where no policy moves that one, its number is the tracked branch's as before.
    """
    accepted = record.accepted
    if accepted is None or not is_moved(read_spec(accepted.spec_json, Source(accepted.file, 1))):
        return record
    return carried(arrival, workload, record)


def _is_elsewhere(arrival: Arrival, workload: Workload, scaling: Scaling) -> bool:
    reading, key = arrival.reading, workload.key
    if not is_moved(workload) or key in reading.unnumbered:
        return False
    # A word that was heard already is no news, though an older branch of counts has it.
    if human_commit(arrival.moves.apart.get(key, ())) not in ("", scaling.held_by):
        return False
    if key not in reading.over:
        return scaling.own is not None and workload.replicas == scaling.own
    if is_own_theirs(arrival, key, scaling):
        return False
    renamed = is_renamed(arrival.accepted_config, reading.config, arrival.branch)
    if not renamed and workload.replicas in [each.value for each in scaling.landings]:
        return False  # it is expected
    return workload.replicas == arrival.moves.stale.get(key)


def _told(arrival: Arrival, workload: Workload) -> str:
    """Say why what acts is not what stands there; the sentence goes into a commit's message."""
    reading = arrival.reading
    branch = counts_branch(reading.config, arrival.branch)
    before = counts_branch(arrival.accepted_config, arrival.branch)
    if not branch:
        return "counts stand on the tracked branch from now on"
    if workload.key in reading.over:
        return f"the line on the branch {branch} is older than what acts"
    if branch == before and not reading.counts_commit:
        return f"the branch {branch} is gone, which is nobody's number: what acted goes on"
    return f"counts stand on the branch {branch} from now on"
