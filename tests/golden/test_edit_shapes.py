"""Specs in the shapes that people and their tools write them are edited exactly, or refused.

`edit_shapes/` has what `kubectl`, `kubectl kustomize` and the libraries of `tools/` really wrote,
the others are by hand. `expected.txt` tells of each file which line changed from what to what, or
why not. GAMEKEEPER_UPDATE_GOLDEN=1 rewrites it: read the difference before committing it.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from reconciler.core.edits import edit
from reconciler.model.edits import Edit
from reconciler.model.refs import WorkloadKey
from tests.golden.edit_cases import told
from tests.unit.core.yaml_texts import common, leaves

SHAPES = Path(__file__).with_name("edit_shapes")
EXPECTED = SHAPES / "expected.txt"
UPDATE = os.environ.get("GAMEKEEPER_UPDATE_GOLDEN") == "1"
FILES = sorted(SHAPES.rglob("*.yaml"))
NEW = 71
REPLICAS = ("spec", "replicas")
ARENA = WorkloadKey("Scheduler", "arena", "arena")


def name_of(path: Path) -> str:
    return path.relative_to(SHAPES).as_posix()


def workloads(data: bytes) -> list[WorkloadKey]:
    """Return the workloads of a file, by another reader of YAML; the arena where it finds none."""
    try:
        documents = list(yaml.load_all(data.decode(), Loader=yaml.BaseLoader))
    except (yaml.YAMLError, UnicodeDecodeError):
        return [ARENA]
    ours = (
        document
        for document in documents
        if isinstance(document, dict) and document.get("kind") in ("Scheduler", "Fleet")
    )
    return list(dict.fromkeys(map(_key, ours))) or [ARENA]


def _key(document: dict[str, dict[str, str]]) -> WorkloadKey:
    name = document["metadata"]["name"]
    spec = document.get("spec", {})
    return WorkloadKey(str(document["kind"]), spec.get("namespace", name), name)


def what_came_of(path: Path) -> Iterator[str]:
    """Yield a line for each number that was changed and each that was not."""
    before = path.read_bytes()
    edits = [Edit(key, REPLICAS, NEW) for key in workloads(before)]
    after, refusals = edit(before, edits)
    old, new = before.split(b"\n"), after.split(b"\n")
    assert len(old) == len(new)
    for number, (one, other) in enumerate(zip(old, new, strict=True), 1):
        if one != other:
            head, tail = common(one.decode(), other.decode())
            was = one.decode()[head : len(one.decode()) - tail]
            now = other.decode()[head : len(other.decode()) - tail]
            yield f"{number}: {was} -> {now}\n"
    yield from told(refusals).splitlines(keepends=True)
    changed = changed_leaves(before, after)
    assert changed == len(edits) - len(refusals)


def changed_leaves(before: bytes, after: bytes) -> int:
    """Return how many counts say something else; fails where anything else does."""
    if before == after:
        return 0
    try:
        old, new = leaves(before.decode()), leaves(after.decode())
    except yaml.YAMLError:
        # The parser in Python knows no tab before a line's end; YAML does, and so does libyaml.
        old, new = (leaves(text.decode(), yaml.CSafeLoader) for text in (before, after))
    changed = [(one, two) for one, two in zip(old, new, strict=True) if one != two]
    for one, two in changed:
        assert one[0][1:] == REPLICAS
        assert two == (one[0], one[1], str(NEW), one[3])
    return len(changed)


@cache
def expected() -> dict[str, str]:
    """Return what is expected of each file."""
    found: dict[str, str] = {}
    for block in EXPECTED.read_text(encoding="utf-8").split("\n\n"):
        name, _, lines = block.strip().partition("\n")
        found[name] = f"{lines}\n"
    return found


def test_what_is_expected_is_rewritten_where_that_is_asked_for() -> None:
    blocks = (f"{name_of(path)}\n{''.join(what_came_of(path))}" for path in FILES)
    if UPDATE:
        EXPECTED.write_text("\n".join(blocks), encoding="utf-8")

    assert list(expected()) == [name_of(path) for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_shape_is_edited_as_it_is_told(path: Path) -> None:
    assert "".join(what_came_of(path)) == expected()[name_of(path)]


def test_there_are_shapes_enough_and_most_of_them_can_be_edited() -> None:
    edited = [name for name, lines in expected().items() if " -> 71\n" in lines]

    assert len(FILES) >= 150
    assert len(edited) >= 110
