"""Golden edits: a text before, the numbers that are to change, and the text after or the reasons.

A case is a folder of `edits/`: `before.yaml`, `edits.txt` with a line for each edit (which
document, which number, its new value), and what must come of it, byte for byte: `after.yaml`, left
out where nothing may change, and `refused.txt`, left out where nothing is refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reconciler.core.edit_splice import REPLICAS
from reconciler.core.places import written
from reconciler.model.edits import Edit, Refusal
from reconciler.model.refs import WorkloadKey

EDITS = Path(__file__).with_name("edits")
AFTER, BEFORE, ASKED, REFUSED = "after.yaml", "before.yaml", "edits.txt", "refused.txt"
_STEP = re.compile(r'\["([^"]*)"\]|\[(\d+)\]|([^.\[]+)')


@dataclass(frozen=True, slots=True)
class EditCase:
    """One case as its folder has it."""

    folder: Path
    before: bytes
    after: bytes
    edits: tuple[Edit, ...]
    refused: str


def edit_case_of(folder: Path) -> EditCase:
    """Read a case."""
    before = (folder / BEFORE).read_bytes()
    after, refused = folder / AFTER, folder / REFUSED
    asked = (folder / ASKED).read_text(encoding="utf-8").splitlines()
    return EditCase(
        folder,
        before,
        after.read_bytes() if after.exists() else before,
        tuple(_edit(line) for line in asked),
        refused.read_text(encoding="utf-8") if refused.exists() else "",
    )


def told(refusals: Sequence[Refusal]) -> str:
    """Return refusals as `refused.txt` has them: `line: which document, which number: reason`."""
    return "".join(
        f"{one.line}: {one.edit.where} {written(one.edit.path)} -> {one.edit.value}: {one.reason}\n"
        for one in refusals
    )


def _edit(line: str) -> Edit:
    document, path, value = line.split(" ")
    kind, *inside = document.split("/")
    where = WorkloadKey(kind, inside[0], inside[-1]) if inside else REPLICAS
    steps = (
        int(index) if index else quoted or plain for quoted, index, plain in _STEP.findall(path)
    )
    return Edit(where, tuple(steps), int(value))
