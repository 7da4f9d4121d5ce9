"""Put numbers where they stand in Git: into specs, into values, or into the file of counts."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from reconciler.core.carried_counts import is_moved
from reconciler.core.edit_splice import VALUES
from reconciler.core.edits import edit
from reconciler.core.places import Path
from reconciler.core.replicas_file import write_counts
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.values import WORKLOADS
from reconciler.model.edits import Edit, Refusal
from reconciler.model.findings import Finding, Severity
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import Tree, is_plain

COUNT_PATH = ("spec", "replicas")
_SHARED = (b"&", b"*", b"!")
_NAMELESS = (
    "no commit of ours names this file: a backslash or a control character is part of its path, or "
    "that is too long; rename it"
)


def with_counts(
    file: str,
    data: bytes,
    counts: Mapping[WorkloadKey, int],
    gone: Collection[WorkloadKey] = (),
    values: Collection[str] = (),
) -> tuple[bytes, tuple[Refusal, ...]]:
    """Return a file with these counts and not one byte changed beside them.

    What cannot be done exactly is refused, with its reason: the refusals name the workloads. The
    lines of those `gone` leave the file of counts. `values` are the files of values.
    """
    place = _in_values if file in values else _in_spec
    edits = [Edit(*place(key), count) for key, count in counts.items()]
    if not is_plain(file):
        return data, tuple(Refusal(one, 0, _NAMELESS) for one in edits)
    if file == REPLICAS_FILE:
        after, problems = write_counts(data, counts, gone)
    else:
        after, problems = edit(data, edits)
    return after, tuple(_of_workload(problem, counts) for problem in problems)


def doubt_exact(reading: Reading, tree: Tree) -> Iterator[Finding]:
    """Yield a warning for each number that a policy moves and no commit of ours can.

    A file without anchor, alias or tag is not looked at: there each number can be changed.
    """
    if reading.config is None or reading.config.write_back.mode == "off":
        return
    if reading.config.write_back.branch:
        return  # no commit of ours changes a spec
    for workload in reading.workloads.values():
        source, entry = workload.replicas_source, tree.entries.get(workload.source.file)
        text = entry.text if entry is not None and source.file == workload.source.file else None
        if not is_moved(workload) or not text or not any(sign in text for sign in _SHARED):
            continue
        _, refused = with_counts(source.file, text, {workload.key: workload.replicas + 1})
        for each in refused:
            message = f"no commit can change the count of {workload.key}: {each.reason}"
            fix = "write the number itself: until then counts act and do not come into Git"
            is_there = each.line in (0, source.line)
            line, column = (source.line, source.column) if is_there else (each.line, 1)
            at = (source.file, line, column, "spec.replicas")
            yield Finding(*at, message, fix, "count-not-exact", Severity.WARNING)


def _in_spec(key: WorkloadKey) -> tuple[WorkloadKey, Path]:
    return key, COUNT_PATH


def _in_values(key: WorkloadKey) -> tuple[WorkloadKey, Path]:
    return VALUES, (*WORKLOADS, str(key), "replicas")


def _of_workload(refusal: Refusal, counts: Mapping[WorkloadKey, int]) -> Refusal:
    """Return a refusal as one of its workload: where one document has many, its path names it."""
    if refusal.edit.where in counts:
        return refusal
    key = next(key for key in counts if str(key) in refusal.edit.path)
    return replace(refusal, edit=replace(refusal.edit, where=key))
