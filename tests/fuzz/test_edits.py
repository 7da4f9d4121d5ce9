"""The exact edit of a count: one number changes, or nothing does and a reason is told."""

import re
from typing import Any

from reconciler.core.count_edits import with_counts
from reconciler.core.counts import COUNTS as COUNTS_AT
from reconciler.core.edits import edit
from reconciler.core.pod_parts import child
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.yaml_marks import NotYaml, events_of, signature
from reconciler.core.yaml_strict import parse_file
from reconciler.model.edits import Edit
from reconciler.model.refs import Json, WorkloadKey
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search
from tests.fuzz.seeds import SPECS
from tests.unit.core.reading import SPEC

PATH = ("spec", "replicas")
ARENA, LOBBY = WorkloadKey("Scheduler", "arena", "arena"), WorkloadKey("Fleet", "lobby", "lobby")
NEW = 7_654_321
NUMBER = r"[+-]?[0-9][0-9_]*"
KINDS = ("Scheduler", "Fleet")
COUNTS = b"""\
apiVersion: gamekeeper.dev/v1
kind: Replicas
spec:
  counts:
    # Scheduler/arena
    Scheduler/arena: 10

    # Fleet/lobby
    Fleet/lobby: 3

"""
WITH_COUNTS = [text for text in SPECS if b"replicas" in text] + [SPEC.encode()]
WORDS = (b"replicas: 5", b"spec:", b"name: arena", b"kind: Fleet", b"<<: *a", b"&a 5", b"'5'")
IN_SPECS = Forge(WITH_COUNTS, WORDS, 20_000)
IN_LIST = Forge(
    [COUNTS, *(text for text in SPECS if b"Replicas" in text)],
    (
        b"Scheduler/arena: 5",
        b"Fleet/lobby: 5",
        b"counts:",
        b"counts: {}",
        b"spec: {counts: {",
        b"#",
    ),
    20_000,
)


def keys_of(data: bytes) -> list[WorkloadKey]:
    """Return the workloads that a text may be about."""
    found = [ARENA]
    for document in parse_file("a.yaml", data).documents:
        value = document.value if isinstance(document.value, dict) else {}
        metadata, spec = value.get("metadata"), value.get("spec")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        inside = spec.get("namespace", name) if isinstance(spec, dict) else name
        if isinstance(name, str) and isinstance(inside, str) and value.get("kind") in KINDS:
            found.append(WorkloadKey(str(value["kind"]), inside, name))
    return list(dict.fromkeys(found))[:5]


def edited(data: bytes) -> None:
    """Only the digits of the numbers that were asked for change, one scalar for each edit."""
    edits = [Edit(key, PATH, NEW) for key in keys_of(data)]
    after, refused = edit(data, edits)

    assert {each.edit for each in refused} <= set(edits)
    assert all(each.reason and 0 <= each.line <= data.count(b"\n") + 1 for each in refused)
    made = len(edits) - len(refused)
    if made == 0:
        assert after == data
        return
    pieces = after.decode().split(str(NEW))
    numbers = NUMBER.join(map(re.escape, pieces))
    assert re.fullmatch(numbers, data.decode()), "every byte beside the numbers stays"
    assert len(pieces) - 1 <= made
    # What cannot be parsed elsewhere in the file keeps no edit from being made.
    if (before := events(data)) is not None:
        now = events(after)
        assert now is not None
        changed = [each for each in zip(before, now, strict=True) if each[0] != each[1]]
        assert len(changed) == len(pieces) - 1
        assert all(two[-1] == str(NEW) for _, two in changed)


def events(data: bytes) -> list[tuple[Any, ...]] | None:
    """Return what the parser tells of a text, None where that is no YAML."""
    try:
        return [signature(event) for event in events_of(data.decode("utf-8-sig"))]
    except NotYaml:
        return None


def counted(data: bytes) -> None:
    """The file of counts says afterwards what it said, but for the counts, or the same bytes."""
    counts = {ARENA: NEW, LOBBY: 0}
    after, refused = with_counts(REPLICAS_FILE, data, counts)

    assert all(each.edit.where in counts and each.reason for each in refused)
    wanted = counts.keys() - {each.edit.where for each in refused}
    if not wanted:
        assert after == data
        return
    before, now = said(data), said(after)
    assert now is not None
    # Where there was no count before, and no comment, the file may be written anew.
    if counts_of(before):
        assert {**(before or {}), "spec": 0} == {**now, "spec": 0}
    assert all(counts_of(now)[str(key)] == counts[key] for key in wanted)
    again, none = with_counts(REPLICAS_FILE, after, {key: counts[key] for key in wanted})
    assert (again, none) == (after, ()), "what stands there already is not written again"


def counts_of(document: Json | None) -> Json:
    """Return the map of counts of a document."""
    return child(document, *COUNTS_AT)


def said(data: bytes) -> Json | None:
    """Return the one document of a file."""
    values = [one.value for one in parse_file("a.yaml", data).documents if one.value is not None]
    return values[0] if len(values) == 1 and isinstance(values[0], dict) else None


def test_an_edit_changes_one_number_or_tells_why_not() -> None:
    search(Target("edit", 126_000, IN_SPECS, edited))


def test_the_file_of_counts_says_what_it_said() -> None:
    search(Target("counts", 252_000, IN_LIST, counted))
