"""Put numbers where they stand in Git: into specs, into values, or into the file of counts."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from reconciler.core.edit_splice import VALUES
from reconciler.core.edits import edit
from reconciler.core.places import Path
from reconciler.core.replicas_file import write_counts
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.values import WORKLOADS
from reconciler.model.edits import Edit, Refusal
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import is_plain

COUNT_PATH = ("spec", "replicas")
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
