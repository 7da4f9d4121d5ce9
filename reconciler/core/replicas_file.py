"""Write the counts of `replicas.yaml`: whole at first, later only the lines that change.

A comment that names the workload stands above each count and an empty line below: Git joins
changes of neighbouring counts only where lines of neither stand between them.
"""

from collections.abc import Collection, Iterator, Mapping

from reconciler.core.counts import COUNTS
from reconciler.core.edit_splice import REPLICAS
from reconciler.core.edits import edit
from reconciler.core.pod_parts import child
from reconciler.core.replicas_rows import moved, rows_of
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.yaml_strict import parse_file
from reconciler.model.edits import Edit, Refusal
from reconciler.model.refs import Json, WorkloadKey

_HEAD = """\
# Counts that Gamekeeper writes: of workloads whose specs write no `replicas`, and on a branch of
# counts (`writeBack.branch`) of all that a policy moves, over the numbers of their specs.
# A change of one by hand holds, as a change of a spec does.
apiVersion: gamekeeper.dev/v1
kind: Replicas
spec:
"""
_FOOT = "# The lines between the counts let Git join changes of neighbours.\n"
_UNREADABLE = f"{REPLICAS_FILE} cannot be read: mend it, or delete it and it is written anew"
_NOT_OURS = (
    f"{REPLICAS_FILE} has another form than Gamekeeper gives it, so no count can be added: "
    "write one count a line below spec.counts"
)


_COMMENTS = (
    f"{REPLICAS_FILE} holds comments and no counts, and none can be put below them: take out the "
    "lines of dots or dashes, or delete the file and it is written anew"
)


def write_counts(
    data: bytes, counts: Mapping[WorkloadKey, int], gone: Collection[WorkloadKey] = ()
) -> tuple[bytes, tuple[Refusal, ...]]:
    """Return the file with these counts, and without those of workloads that are gone.

    Every other byte stays; only where nothing stands in it is the file written anew. `data` is
    b"" where there is no file. Refused are counts that cannot be changed exactly, and new ones
    where somebody gave the file another form; then the lines of those that are gone stay, too.
    """
    before = _document(data)
    wanted = {str(key): count for key, count in counts.items() if key not in gone}
    if before is None:
        return data, tuple(_refusals(wanted, _UNREADABLE))
    if not before and b"#" not in data:
        return _anew(wanted), ()
    listed = child(before, *COUNTS)
    leaving = {str(key) for key in gone} & listed.keys()
    numbers = [Edit(REPLICAS, (*COUNTS, name), wanted[name]) for name in wanted if name in listed]
    changed, refused = edit(data, numbers)
    coming = {name: count for name, count in wanted.items() if name not in listed}
    if not coming and not leaving:
        return changed, refused
    after = moved(changed, coming, leaving) if before else _below(changed, coming)
    numbers_now = child(_document(changed), *COUNTS).items()
    kept = {name: count for name, count in numbers_now if name not in leaving}
    expected = kept | coming
    if _document(after) == _with_counts(before, expected):
        return after, refused
    if not kept and _says_nothing_else(data, before):
        return _anew(coming), ()
    return changed, (*refused, *_refusals(coming, _NOT_OURS if before else _COMMENTS))


def _below(data: bytes, counts: Mapping[str, int]) -> bytes:
    """Return a file of comments with the first counts below them."""
    ending = b"\r\n" if b"\r\n" in data else b"\n"
    between = b"" if data.endswith(b"\n") else ending
    return data + between + _anew(counts).replace(b"\n", ending)


def _says_nothing_else(data: bytes, document: Json) -> bool:
    """Whether nothing is lost where the file is written anew: no comment, and nothing unknown."""
    known = document.keys() <= {"apiVersion", "kind", "spec"}
    return b"#" not in data and known and child(document, "spec").keys() <= {"counts"}


def _anew(counts: Mapping[str, int]) -> bytes:
    if not counts:
        return f"{_HEAD}  counts: {{}}\n{_FOOT}".encode()
    rows = (row for name in sorted(counts) for row in rows_of(name, counts[name], "    "))
    return "\n".join([f"{_HEAD}  counts:", *rows, _FOOT]).encode()


def _refusals(counts: Mapping[str, int], reason: str) -> Iterator[Refusal]:
    for name, count in counts.items():
        yield Refusal(Edit(REPLICAS, (*COUNTS, name), count), 0, reason)


def _document(data: bytes) -> Json | None:
    """Return what the file says, {} where it says nothing; None where that cannot be told."""
    parsed = parse_file(REPLICAS_FILE, data)
    values = [one.value for one in parsed.documents if one.value is not None]
    if parsed.unreadable is not None or any(one.findings for one in parsed.documents):
        return None
    if not values:
        return {}
    first = values[0]
    ours = len(values) == 1 and isinstance(first, dict) and first.get("kind") == REPLICAS.kind
    return first if ours else None


def _with_counts(document: Json, counts: Json) -> Json:
    head = document or {"apiVersion": "gamekeeper.dev/v1", "kind": REPLICAS.kind}
    return {**head, "spec": {**child(document, "spec"), "counts": counts}}
