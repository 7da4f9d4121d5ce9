"""The counts of `replicas.yaml`: a file that Gamekeeper writes, for specs that write no count.

Each count stands for itself: one with a mistake holds its own workload. A workload has its count
here or in its spec, never in both: nobody could tell which one is meant (DESIGN §5).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from reconciler.core.compile import workload_key
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import Path, place_of_value, written
from reconciler.core.pod_parts import child
from reconciler.core.schema_check import check
from reconciler.core.spec_files import REPLICAS_FILE, read_entry
from reconciler.core.spec_kit import SpecKit
from reconciler.kube.names import label_problem
from reconciler.model.findings import Finding, Severity
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Source
from reconciler.model.trees import Tree

COUNTS = ("spec", "counts")
KINDS = ("Scheduler", "Fleet")


@dataclass(frozen=True, slots=True)
class Counts:
    """What `replicas.yaml` says. `places` has every workload that it lists.

    `counts` has those of them whose count is sound. `is_whole` is false where the file has a
    mistake beside its counts: then nobody knows what it does not list. `unreadable` says that
    what stands in the file cannot even be told.
    """

    file: str = REPLICAS_FILE
    counts: Mapping[WorkloadKey, int] = field(default_factory=dict)
    places: Mapping[WorkloadKey, Source] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    is_whole: bool = True
    unreadable: bool = False

    def mistakes(
        self, document: Document, key: WorkloadKey | None, *, covered: bool = False
    ) -> Iterator[Mistake]:
        """Yield what is wrong with the count of a document that was not filled yet.

        `covered` is where counts stand on a branch of their own: then a line beside a number of
        the spec came by a merge of that branch, and only a warning tells that it means nothing.
        """
        spec = document.value.get("spec")
        if not isinstance(spec, dict):
            return
        if "replicas" in spec:
            if key is not None and key in self.places:
                message = f"the count of {key} stands in {self.places[key]}, so not here, too"
                fix, severity = "take one of them out", Severity.ERROR
                if covered:
                    message = f"the line in {self.places[key]} means nothing: the spec's number is"
                    message += " meant, and that of the branch of counts over it"
                    fix, severity = "take that line out", Severity.WARNING
                at, rule = ("spec", "replicas"), "replicas-twice"
                yield Mistake(at, message, fix, rule, at_key=True, severity=severity)
        elif key in self.places or not self.is_whole:
            if key not in self.counts:
                message = untold(self.file)
                fix = f"mend {self.file}, or add replicas: 10"
                yield Mistake(("spec",), message, fix, "replicas-file", at_key=True)
        else:
            message, fix = "replicas is missing", "add replicas: 10"
            yield Mistake(("spec",), message, fix, "missing-property", at_key=True)

    def of_nobody(self, known: Collection[WorkloadKey]) -> Iterator[Finding]:
        """Yield a warning for each count of a workload that is not there."""
        for key, place in self.places.items():
            if key not in known:
                message = f"there is no {key}: its count means nothing"
                at = (place.file, place.line, place.column, _path_of(str(key)))
                fix, rule = "take the line out", "count-of-nobody"
                yield Finding(*at, message, fix, rule, Severity.WARNING)


def untold(file: str) -> str:
    """Say of a workload that a file of counts keeps its number back."""
    return f"the count cannot be told: {file} has a mistake"


def read_counts(tree: Tree, kit: SpecKit, path: str = REPLICAS_FILE) -> Counts:
    """Return what a file of counts says; never raises for what stands in it.

    It is that of the tree, or one that lies over it: then what `path` leads to may be missing
    only because nobody could read it.
    """
    entry, file = tree.entries.get(path), path.removeprefix("/")
    if path in tree.directories:
        message = "a directory stands where the counts would be: none can be told, or written"
        finding = Finding(file, 0, 0, "", message, "rename the directory", "directory")
        return Counts(file, findings=(finding,), is_whole=False)
    if entry is None:
        return Counts(file, is_whole=path == REPLICAS_FILE)
    parsed = read_entry(file, entry)
    if parsed.unreadable is not None:
        return Counts(file, findings=(parsed.unreadable,), is_whole=False, unreadable=True)
    documents = [one for one in parsed.documents if one.value is not None or one.findings]
    if not documents:
        message = "the file holds no document"
        fix = "delete the file, or write apiVersion: gamekeeper.dev/v1 and kind: Replicas"
        finding = Finding(file, 0, 0, "", message, fix, "empty-file")
        return Counts(file, findings=(finding,), is_whole=False)
    strangers = [one for one in documents if not is_counts(one)] or documents[1:]
    if strangers:
        message = f"{file} holds one document of kind Replicas and nothing else"
        extra = Mistake((), message, "move it to another file", "counts-extra")
        findings = tuple(one.finding(extra) for one in strangers)
        return Counts(file, findings=findings, is_whole=False, unreadable=True)
    return _judged(documents[0], kit)


def is_counts(document: Document) -> bool:
    """Return whether a document says that it is one of counts."""
    return isinstance(document.value, dict) and document.value.get("kind") == "Replicas"


def key_named(name: str) -> WorkloadKey | None:
    """Return the workload that `str(key)` names; None for every other text."""
    kind, *inside = name.split("/")
    if kind not in KINDS or not inside or any(label_problem(one) for one in inside):
        return None
    key = workload_key(kind, inside[-1], inside[0])
    return key if str(key) == name and (kind == "Fleet" or len(inside) == 1) else None


def _judged(document: Document, kit: SpecKit) -> Counts:
    mistakes = [*check(kit.kinds["Replicas"], document.value), *_wrong_names(document.value)]
    findings = (*document.findings, *document.judged(mistakes))
    wrong = {finding.path for finding in findings}
    listed = child(document.value, *COUNTS)
    keys = {name: key for name in listed if (key := key_named(name)) is not None}
    sound = {key: listed[name] for name, key in keys.items() if _path_of(name) not in wrong}
    return Counts(
        document.file,
        counts=sound,
        places={key: _place(document, (*COUNTS, name)) for name, key in keys.items()},
        findings=findings,
        is_whole=wrong <= {_path_of(name) for name in keys},
    )


def _wrong_names(value: Json) -> Iterator[Mistake]:
    for name in child(value, *COUNTS):
        if key_named(name) is None:
            message = f"{shown(name)} names no workload"
            fix = "write Scheduler/name, Fleet/name or Fleet/namespace/name"
            yield Mistake((*COUNTS, name), message, fix, "count-name", at_key=True)


def _place(document: Document, path: Path) -> Source:
    line, column = place_of_value(document.places, path)
    return Source(document.file, line, column)


def _path_of(name: str) -> str:
    return written((*COUNTS, name))
