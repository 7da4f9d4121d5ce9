"""Put numbers where they stand in Git: into specs, into values, or into the file of counts."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from reconciler.core.carried_counts import counts_branch, is_moved
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
from reconciler.model.specs import Source
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


def doubt_exact(reading: Reading, tree: Tree, tracked: str) -> Iterator[Finding]:
    """Yield a warning for each number that a policy moves and no commit of ours can.

    `tracked` is the tracked branch. A file without anchor, alias or tag is not looked at: there
    each number can be changed. Any other is looked at once for all that it holds, which may be a
    thousand of them.
    """
    if reading.config is None or reading.config.write_back.mode == "off":
        return
    if counts_branch(reading.config, tracked):
        return  # no commit of ours changes a spec
    files: dict[str, dict[WorkloadKey, int]] = {}
    for key, workload in reading.workloads.items():
        source = workload.replicas_source
        # What writes no number has none to change: it goes into the file of counts.
        is_written = key not in reading.unnumbered and source.file == workload.source.file
        if is_written and is_moved(workload):
            files.setdefault(source.file, {})[key] = workload.replicas + 1
    for file, counts in files.items():
        text = tree.entries[file].text if file in tree.entries else None
        if not text or not any(sign in text for sign in _SHARED):
            continue
        for refusal in with_counts(file, text, counts)[1]:
            yield _inexact(refusal, reading.workloads[refusal.edit.where].replicas_source)


def _inexact(refusal: Refusal, source: Source) -> Finding:
    """Return the warning of a number in a spec, at its own place unless another line says why."""
    message = f"no commit can change the count of {refusal.edit.where}: {refusal.reason}"
    fix = "write the number itself: until then counts act and do not come into Git"
    is_there = refusal.line in (0, source.line)
    line, column = (source.line, source.column) if is_there else (refusal.line, 1)
    at = (source.file, line, column, "spec.replicas")
    return Finding(*at, message, fix, "count-not-exact", Severity.WARNING)


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
