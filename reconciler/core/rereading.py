"""Of a new tree only what its commits touched is read; the rest of the Reading stays as it was.

A commit touches a file or two of a thousand, and a document is judged by itself but for what
several say at once: one name twice, a Fleet in a Scheduler's namespace, a count of nobody. Where
any of that may be, or something other than a spec was touched, the whole tree is read. So what
comes out is what `read_tree` says of the whole tree; a test plays both beside each other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from reconciler.core.compile import workload_key
from reconciler.core.known_tree import Known, Print, prints_of
from reconciler.core.namesakes import NAMESAKE
from reconciler.core.spec_files import REPLICAS_FILE, missing_paths, spec_files
from reconciler.model.findings import Finding
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Permissions
from reconciler.model.trees import CONFIG_FILE, Entry, EntryKind, Tree, is_template

MOST_SHARE = 4
"""A tree of which more than one in so many files was touched is read whole."""
_OF_SEVERAL = frozenset({"duplicate-name", NAMESAKE})
"""Rules that look at the documents of several files."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Part:
    """What has to be read of a `whole` tree: `tree`.

    `prints` are those of the whole tree; `touched` are the paths that are new in it, gone from it,
    or of another content.
    """

    whole: Tree
    tree: Tree
    prints: Mapping[str, Print]
    touched: frozenset[str]


def part_of(known: Known, tree: Tree, permissions: Permissions) -> Part | None:
    """Return the part of a tree that has to be read; None where that is all of it."""
    config = known.reading.config
    if config is None or permissions != known.permissions or not _is_plain(known.reading):
        return None
    if permissions.values:
        return None  # what they say is of all files, and of workloads that no file tells of
    if (tree.directories, tree.counts_file) != (known.directories, known.counts_file):
        return None
    prints = prints_of(tree.entries)
    touched = frozenset(path for path, _ in known.prints.items() ^ prints.items())
    if len(touched) * MOST_SHARE > len(tree.entries) or missing_paths(tree, config.paths):
        return None
    if not _are_specs(touched, config, tree):
        return None
    around = {CONFIG_FILE, REPLICAS_FILE, tree.counts_file}
    entries = {
        path: entry
        for path, entry in tree.entries.items()
        if path in touched or path in around or is_template(path)
    }
    return Part(tree, replace(tree, entries=entries), prints, touched)


def merged(known: Known, part: Part, read: Reading) -> Known | None:
    """Return what the whole tree says, where `read` is what the part of it does.

    None where files may have to do with each other: then the whole tree has to be read.
    """
    before, tree, touched = known.reading, part.whole, part.touched
    if read.config != before.config or not _is_plain(replace(read, missing_paths=())):
        return None
    gone = _told_in(before, touched)
    told = read.workloads.keys() | read.invalid.keys()
    kept = (before.workloads.keys() | before.invalid.keys()) - gone
    if told & kept or not _are_apart(told, kept):
        return None
    counts = REPLICAS_FILE in tree.entries or tree.counts_file
    if counts and told != gone:
        return None  # a line of the file of counts may have become, or ceased to be, of nobody

    around = {CONFIG_FILE, REPLICAS_FILE, tree.counts_file}
    findings = {one for one in before.findings if one.file not in touched}
    findings |= {one for one in read.findings if one.file not in around}
    reading = replace(
        read,
        workloads=_laid(before.workloads, gone, read.workloads),
        invalid=_laid(before.invalid, gone, read.invalid),
        missing_paths=(),
        findings=tuple(sorted(findings)),
        own=_laid(before.own, gone, read.own),
        unnumbered=(before.unnumbered - gone) | read.unnumbered,
    )
    return Known(part.prints, tree.directories, tree.counts_file, known.permissions, reading)


def _is_plain(reading: Reading) -> bool:
    """Whether each file of a reading speaks for itself alone."""
    doubtful = reading.unreadable or reading.missing_paths
    return not doubtful and not any(one.rule in _OF_SEVERAL for one in reading.findings)


def _are_specs(touched: frozenset[str], config: Config, tree: Tree) -> bool:
    """Whether all that was touched is specs, those that are gone included."""
    lost = Entry(EntryKind.FILE, "", 0)
    there = {path: tree.entries.get(path, lost) for path in touched}
    return len(spec_files(replace(tree, entries=there), config.paths)) == len(touched)


def _told_in(reading: Reading, files: frozenset[str]) -> frozenset[WorkloadKey]:
    """Return the workloads that these files told of; each is told of by one."""
    sound = {key for key, one in reading.workloads.items() if one.source.file in files}
    return frozenset(sound | {key for key, found in reading.invalid.items() if _in(found, files)})


def _in(findings: Iterable[Finding], files: frozenset[str]) -> bool:
    return any(one.file in files for one in findings)


def _are_apart(told: Iterable[WorkloadKey], kept: Iterable[WorkloadKey]) -> bool:
    """Whether no workload of one side has the name of one of the other, nor its namespace."""
    kept = frozenset(kept)
    names = {key.name for key in kept}
    fleets = {key.namespace for key in kept if key.kind == "Fleet"}
    return not any(
        key.name in names
        or (key.kind == "Fleet" and workload_key("Scheduler", key.namespace) in kept)
        or (key.kind != "Fleet" and key.namespace in fleets)
        for key in told
    )


def _laid(
    old: Mapping[WorkloadKey, _T], gone: frozenset[WorkloadKey], new: Mapping[WorkloadKey, _T]
) -> dict[WorkloadKey, _T]:
    """Return the new values in the place of those that are gone, in the order of keys."""
    if new.keys() == old.keys() & gone:
        return {**old, **new}  # no key came or went: a thousand are not sorted for that
    found = {**{key: value for key, value in old.items() if key not in gone}, **new}
    return {key: found[key] for key in sorted(found)}
