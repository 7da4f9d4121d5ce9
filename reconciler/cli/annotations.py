"""What a pull request on GitHub shows of a change, each at the line that asks for it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reconciler.cli.hold_words import NOTE, title_of, way_through
from reconciler.core.documents import Document
from reconciler.core.messages import placed, workflow_command
from reconciler.core.places import place_of_field
from reconciler.core.pod_parts import child
from reconciler.core.spec_files import read_entry
from reconciler.model.changes import Change, Verb, WorkloadChange
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Source
from reconciler.model.trees import CONFIG_FILE, Tree

REPLICAS = "spec.replicas"

Spots = Mapping[WorkloadKey, Source]
"""Where the annotation of a workload stands; line 0 is the whole file."""


def spots_of(change: Change, head: Reading, tree: Tree, root: str) -> Spots:
    """Return the place of each change in the head's `tree`, as a path from here.

    Only files that a worker has read within its limits are parsed here.
    """
    spots = {
        key: Source(found[0].file, found[0].line, found[0].column)
        for key, found in head.invalid.items()
    }
    for item in change.workloads:
        spots[item.key] = _spot(item, head, tree)
    return {key: from_here(source, root) for key, source in spots.items()}


def from_here(source: Source, root: str) -> Source:
    """Return a place of the repository at `root` with its path as it is from here."""
    return replace(source, file=os.path.relpath(os.path.join(root, source.file)))


def hold_annotations(holds: Iterable[Hold], spots: Spots) -> Iterator[str]:
    """Yield a warning for each hold, at its workload's place where that is known.

    What stops nothing is a notice.
    """
    for hold in holds:
        title = title_of(hold.kind)
        level = "notice" if title == NOTE else "warning"
        way = way_through(hold.kind, hold.change_hash)
        said = f"{hold.reason}\n{way}" if way else hold.reason
        spot = spots.get(hold.key) if hold.key else None
        if hold.kind is HoldKind.CONFIG:
            spot = Source(CONFIG_FILE, 0)
        about = f"{title}: {hold.key}" if hold.key else title
        yield annotation(level, spot, about, said)


def annotation(level: str, spot: Source | None, title: str, text: str) -> str:
    """Return one annotation; without a place it stands above the pull request."""
    place = placed(spot.file, spot.line, spot.column) if spot else {}
    return workflow_command(level, {**place, "title": title}, text)


def _spot(item: WorkloadChange, head: Reading, tree: Tree) -> Source:
    """Return where a change is asked for: its count before all else, since rooms hang on it."""
    workload = head.workloads.get(item.key)
    if workload is None:
        # It is deleted: the line where it stood is a line of something else, or of nothing.
        return Source(item.source.rpartition(":")[0], 0)
    if item.verb is Verb.CREATE:
        return workload.source
    fields = [field.path for field in item.fields]
    if REPLICAS in fields:
        return workload.replicas_source
    document = _document(item.key, workload.source.file, tree)
    if document is None or not fields:
        return workload.source
    return Source(document.file, *place_of_field(document.places, fields[0]))


def _document(key: WorkloadKey, file: str, tree: Tree) -> Document | None:
    for document in read_entry(file, tree.entries[file]).documents:
        value = document.value
        if isinstance(value, dict) and child(value, "metadata").get("name") == key.name:
            return document
    return None
