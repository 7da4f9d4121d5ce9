"""What of a head does not act by itself: the three gates of DESIGN §2 rule 3 and §6, freezes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reconciler.core import brakes, budget, vanish
from reconciler.core.freeze_windows import frozen_reason
from reconciler.core.mistakes import listed
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal, leaves_git
from reconciler.model.findings import Finding, Severity
from reconciler.model.freezes import Edit
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.readings import Reading
from reconciler.model.records import NO_RECORD, HeldRemoval, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config
from reconciler.model.trees import CONFIG_FILE

CONFIG_HELD = f"{CONFIG_FILE} is missing or has an error: the whole commit is held"
_TAKES = {
    Cause.LEFT_GIT: "takes all of it away",
    Cause.SCALE_IN: "takes rooms away",
    Cause.ROLLOUT: "replaces its rooms",
}
"""What a head does to a workload whose record was lost, by the cause of the removal."""


def commit_held(reading: Reading) -> Hold | None:
    """Return why a whole commit is held: nobody vouches for it, or its gamekeeper.yaml is none."""
    vouched = reading.vouched
    if vouched.problem:
        return Hold(HoldKind.UNSIGNED, None, vouched.problem, vouched.change_hash)
    if reading.config is not None:
        return None
    first = next((item for item in reading.errors if item.file == CONFIG_FILE), None)
    reason = f"{CONFIG_HELD}: {_place(first)}: {first.message}" if first else CONFIG_HELD
    return Hold(HoldKind.CONFIG, None, reason)


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def holds_of(
    reading: Reading, held: Mapping[WorkloadKey, HeldRemoval], hashes: Mapping[str, str]
) -> Iterator[Hold]:
    """Yield what is held of a head: documents with Findings, and removals that were `blocked`.

    `hashes` are what to approve, by the lines that it lets through.
    """
    for key, findings in reading.invalid.items():
        # What holds it first, whatever only warns before it.
        first = next((each for each in findings if each.severity is Severity.ERROR), findings[0])
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        yield Hold(HoldKind.FINDING, key, f"{_place(first)}: {first.message}{more}")
    told = {finding for findings in reading.invalid.values() for finding in findings}
    for finding in reading.errors:
        if finding not in told and finding.file not in reading.unreadable:
            where = f"{finding.file}:{finding.line}"
            yield Hold(HoldKind.FINDING, None, f"{where}: {finding.message}")
    for file in reading.unreadable:
        yield Hold(HoldKind.UNREADABLE, None, f"nothing is deleted while {file} cannot be read")
    for key, removal in held.items():
        # Approved or not, no workload is deleted while a file is unreadable.
        stuck = removal.kind is HoldKind.UNREADABLE
        stuck |= bool(reading.unreadable) and leaves_git(removal.line)
        approvable = "" if stuck else hashes.get(removal.line, "")
        yield Hold(removal.kind, key, removal.told, approvable, removal.line)


def frozen_holds(arrival: Arrival, hashes: Mapping[str, str]) -> Iterator[Hold]:
    """Yield what people changed that waits for the end of a freeze, with `hashes` by line."""
    for edit in arrival.waiting:
        over_budget, approvable = arrival.frozen.get(edit.line, ""), hashes.get(edit.line, "")
        reason = frozen_reason(arrival.freezes, over_budget)
        yield Hold(HoldKind.FROZEN, edit.key, reason, approvable, edit.line)


def frozen_lines(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    removals: tuple[Removal, ...],
    edits: Iterable[Edit],
) -> dict[str, str]:
    """Return the lines that a freeze holds: edits, and what they take away with them.

    So one hash lets such an edit act as a whole, be it over the budgets, too: why it is stands
    with its lines, "" where it is not. What was held before is none of it, and of specs that leave
    Git it is those that no gate stops but the budgets: whoever ends the freeze for others lets
    none of these through.
    """
    if not arrival.freezes:
        return {}
    held = blocked(arrival, replace(repository, approved=()), records, removals)
    edited = {edit.key: edit.line for edit in edits}
    waits = {edit.line: "" for edit in edits}
    free: list[Removal] = []
    for removal in removals:
        other = held.get(removal.key)
        kind = other.kind if other else None
        is_new = _sticky(records.get(removal.key), removal) is None
        if is_new and kind in (None, HoldKind.OVER_BUDGET, HoldKind.FROZEN):
            free.append(removal)
        if kind is HoldKind.FROZEN or (is_new and removal.key in edited):
            waits[removal.line] = ""
    # As it will be judged at the end: all at once, and what is over is refused as a whole.
    over_budget = _over_budget(arrival, repository, records, free)
    for removal in free if over_budget else ():
        for line in waits.keys() & {removal.line, edited.get(removal.key)}:
            waits[line] = over_budget
    return waits


def blocked(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    removals: tuple[Removal, ...],
) -> dict[WorkloadKey, HeldRemoval]:
    """Return the removals that are held, each with its reason; the others may go.

    An approved line passes every gate but one: nothing is deleted while a file is unreadable.
    What was held stays held as long as it is asked for.
    """
    approved = {entry.line for entry in repository.approved if entry.until > arrival.now}
    vanished = _vanished(arrival, repository, records, removals)
    held: dict[WorkloadKey, HeldRemoval] = {}
    free: list[Removal] = []
    for removal in removals:
        left_git = removal.cause is Cause.LEFT_GIT
        problem = _sticky(records.get(removal.key), removal)
        if problem is None:
            problem = _orphaned(arrival, records.get(removal.key), removal)
            problem = problem or (vanished if left_git else None)
        if problem is None and left_git:
            problem = _doubted(arrival, records.get(removal.key)) or _frozen(arrival, removal)
        if removal.line in approved:
            problem = None
        if problem is None and left_git:
            problem = _unreadable(arrival)
        if problem:
            count = _told_count(records.get(removal.key), removal)
            held[removal.key] = HeldRemoval(problem[0], removal.line, problem[1], count=count)
        elif removal.line not in approved:
            free.append(removal)
    reason = _over_budget(arrival, repository, records, free)
    for removal in free if reason else ():
        count, kind = removal.to + removal.rooms, HoldKind.OVER_BUDGET
        held[removal.key] = HeldRemoval(kind, removal.line, reason, count=count)
    return _with_brakes(arrival, records, held)


def _with_brakes(
    arrival: Arrival,
    records: Mapping[WorkloadKey, StateRecord],
    held: Mapping[WorkloadKey, HeldRemoval],
) -> dict[WorkloadKey, HeldRemoval]:
    """Return what is held, with what of it acts all the same, and what is left as it was held.

    What waits for the end of a freeze pulls no brake.
    """
    found = dict[WorkloadKey, HeldRemoval]()
    waiting = {edit.key for edit in arrival.waiting}
    for key, each in held.items():
        head = None if key in waiting else arrival.reading.workloads.get(key)
        acts = brakes.told(head, records.get(key, NO_RECORD).accepted)
        found[key] = replace(each, acts=acts)
    for key in arrival.left:
        removal = records[key].held
        if removal is not None and removal.line in arrival.asked:
            found[key] = removal
    return found


def _sticky(record: StateRecord | None, removal: Removal) -> tuple[HoldKind, str] | None:
    if record is None or record.held is None or record.held.line != removal.line:
        return None
    # A file that can be read again, or a freeze that is over, ends its hold by itself; all others
    # wait for a person.
    if record.held.kind in (HoldKind.UNREADABLE, HoldKind.FILE_IN_DOUBT, HoldKind.FROZEN):
        return None
    return record.held.kind, record.held.reason


def _told_count(record: StateRecord | None, removal: Removal) -> int:
    """Return the count of which a reason tells that stays as it is, 0 for one that tells none."""
    return record.held.count if record and record.held and _sticky(record, removal) else 0


def _orphaned(
    arrival: Arrival, record: StateRecord | None, removal: Removal
) -> tuple[HoldKind, str] | None:
    """Hold what is taken from what no record tells of, or one that nobody has reviewed since."""
    unreviewed = record is not None and record.accepted is not None and record.accepted.unreviewed
    if removal.key not in arrival.unrecorded and not unreviewed:
        return None
    if removal.cause is Cause.LEFT_GIT and not unreviewed:
        return HoldKind.NO_ACCEPTED_COMMIT, "it lives in the cluster, but no record says why"
    reason = "its record is lost, so nobody knows what was accepted of it, and this "
    return HoldKind.NO_ACCEPTED_COMMIT, reason + _TAKES[removal.cause]


def _doubted(arrival: Arrival, record: StateRecord | None) -> tuple[HoldKind, str] | None:
    if record is None or record.accepted is None:
        return None
    return vanish.file_problem(record.accepted.file, arrival.reading)


def _frozen(arrival: Arrival, removal: Removal) -> tuple[HoldKind, str] | None:
    if not arrival.freezes:
        return None
    return HoldKind.FROZEN, frozen_reason(arrival.freezes, arrival.frozen.get(removal.line, ""))


def _unreadable(arrival: Arrival) -> tuple[HoldKind, str] | None:
    # Asked last: this hold ends by itself, and must not stand in for one that needs a person.
    if not arrival.reading.unreadable:
        return None
    names = listed(arrival.reading.unreadable)
    return HoldKind.UNREADABLE, f"nothing is deleted while {names} cannot be read"


def _vanished(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    removals: tuple[Removal, ...],
) -> tuple[HoldKind, str] | None:
    """Return why this head deletes nothing at all, None when it may."""
    # A record from before there were paths is one of the top; one of nothing has no repository.
    same = (
        repository.repository in ("", arrival.repository)
        and repository.branch in ("", arrival.branch)
        and (repository.path == arrival.path or not repository.repository)
    )
    others = any(edit.key is not None for edit in arrival.waiting)
    head = replace(arrival.reading, config=arrival.read_by or arrival.reading.config)
    problem = vanish.head_problem(arrival.relation, same, arrival.branch) or vanish.content_problem(
        arrival.accepted_config, head, len(records), others=others
    )
    if problem:
        return problem
    for removal in removals:
        record = records.get(removal.key)
        if removal.cause is Cause.LEFT_GIT and record and record.accepted:
            # A directory that was seen to be gone before holds what was in it, not what is new.
            if _sticky(record, removal):
                continue
            problem = vanish.directory_problem(record.accepted.file, arrival.reading)
            if problem:
                return problem
    return None


def _over_budget(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    free: list[Removal],
) -> str:
    if not free:
        return ""
    budgets = arrival.ceiling
    for config in (arrival.accepted_config, arrival.reading.config):
        budgets = _stricter(budgets, config)
    counts = {
        key: record.in_effect
        for key, record in records.items()
        if record.accepted and not record.deleting
    }
    # A departure stands in two records until its workload's own is gone. It counts once, for of
    # all entries only the largest count does.
    ledgers = {key: record.ledger for key, record in records.items() if record.ledger}
    for item in repository.departed:
        ledgers[item.key] = (*ledgers.get(item.key, ()), item.entry)
    since, now = budgets.window_seconds, arrival.spent_at
    recent = {key: budget.recent(ledger, since, now) for key, ledger in ledgers.items()}
    return budget.refusal(free, counts, recent, budgets)


def _stricter(budgets: Budgets, config: Config | None) -> Budgets:
    return budget.stricter(budgets, config.budgets) if config else budgets
