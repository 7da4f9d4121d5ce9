"""Read a whole tree: every document of every spec file, all mistakes of all of them.

What cannot be told is never taken for absent (DESIGN §2 rule 3): a document with a mistake is
`invalid`, and one whose kind or name is in doubt makes its file `unreadable`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from reconciler.core.compile import compile_config, compile_workload, workload_key
from reconciler.core.documents import Document
from reconciler.core.mistakes import MOST_MISTAKES, Mistake, likely, shown
from reconciler.core.places import place_of_value
from reconciler.core.pod_parts import child
from reconciler.core.spec_files import (
    CONFIG_FILE,
    missing_paths,
    paths_of,
    read_entry,
    spec_files,
)
from reconciler.core.spec_kit import SpecKit
from reconciler.core.validate import check_config, check_scheduler
from reconciler.kube.names import label_problem
from reconciler.model.findings import Finding, Severity
from reconciler.model.readings import Reading
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Config, Permissions
from reconciler.model.trees import Tree

KINDS = ("Scheduler",)
_MOST_NAME_LENGTH = 52
_MOST_PLACES = 5


def read_tree(tree: Tree, permissions: Permissions, kit: SpecKit) -> Reading:
    """Return everything a tree says, right or wrong; never raises for what users wrote."""
    config, paths, findings = _read_config(tree, kit)
    version = (config or Config()).kubernetes_version
    version = version if version in kit.versions else kit.versions[-1]
    shelf = _Shelf(kit, permissions, version, findings=findings)
    for file in spec_files(tree, paths):
        parsed = read_entry(file, tree.entries[file])
        if parsed.unreadable is not None:
            shelf.findings.append(parsed.unreadable)
            shelf.unreadable.add(parsed.unreadable.file)
        elif not any(document.value is not None for document in parsed.documents):
            message = "the file holds no document: what stood in it before counts as deleted"
            fix = "delete the file, or take its documents back"
            shelf.findings.append(
                Finding(file, 0, 0, "", message, fix, "empty-file", Severity.WARNING)
            )
        for document in parsed.documents:
            shelf.add(document)
    shelf.refuse_duplicates()
    sound = {
        key: compile_workload(documents[0])
        for key, documents in sorted(shelf.documents.items())
        if key not in shelf.invalid
    }
    return Reading(
        commit=tree.commit,
        config=config,
        workloads=sound,
        invalid={key: tuple(sorted(found)) for key, found in sorted(shelf.invalid.items())},
        unreadable=tuple(sorted(shelf.unreadable)),
        missing_paths=missing_paths(tree, paths),
        findings=tuple(sorted(set(shelf.findings))),
        directories=frozenset(tree.directories),
    )


def _read_config(tree: Tree, kit: SpecKit) -> tuple[Config | None, tuple[str, ...], list[Finding]]:
    entry = tree.entries.get(CONFIG_FILE)
    if entry is None:
        message = "there is no gamekeeper.yaml at the root of the repository"
        fix = "add one: apiVersion: gamekeeper.dev/v1, kind: Config"
        missing = Finding(CONFIG_FILE, 0, 0, "", message, fix, "config-missing")
        return None, Config().paths, [missing]
    parsed = read_entry(CONFIG_FILE, entry)
    if parsed.unreadable is not None:
        return None, Config().paths, [parsed.unreadable]
    documents = [one for one in parsed.documents if one.value is not None]
    if not documents:
        message = "the file holds no document"
        fix = "write apiVersion: gamekeeper.dev/v1 and kind: Config"
        return (
            None,
            Config().paths,
            [Finding(CONFIG_FILE, 0, 0, "", message, fix, "config-missing")],
        )
    first = documents[0]
    mistakes = _config_mistakes(first, kit)
    findings = [*first.findings, *(first.finding(mistake) for mistake in mistakes)]
    for extra in documents[1:]:
        message = f"{CONFIG_FILE} holds one document, the Config, and nothing else"
        fix = "move schedulers to a file under spec.paths"
        findings.append(extra.finding(Mistake((), message, fix, "config-extra")))
    paths = paths_of(first.value)
    if findings:
        return None, paths, findings
    config = compile_config(first.value)
    return config, paths, [first.finding(one) for one in _absent_paths(tree, config)]


def _config_mistakes(document: Document, kit: SpecKit) -> list[Mistake]:
    if not isinstance(document.value, dict):
        return [Mistake((), "must be a mapping of properties", "", "type")]
    return check_config(document.value, kit)


def _absent_paths(tree: Tree, config: Config) -> Iterator[Mistake]:
    for missing in missing_paths(tree, config.paths):
        at = ("spec", "paths", config.paths.index(missing))
        near = likely(missing, tree.directories)
        fix = f"did you mean {shown(near)}?" if near else "make it, or take the line out"
        message = f"there is no directory {shown(missing)}: deletions are held"
        yield Mistake(at, message, fix, "path-missing", severity=Severity.WARNING)


@dataclass(slots=True)
class _Shelf:
    """Documents by workload, while files are read."""

    kit: SpecKit
    permissions: Permissions
    version: str
    findings: list[Finding]
    documents: dict[WorkloadKey, list[Document]] = field(default_factory=dict)
    invalid: dict[WorkloadKey, list[Finding]] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def add(self, document: Document) -> None:
        """Judge one document and shelve it under its workload, where that can be told."""
        if document.value is None and not document.findings:
            return
        mistakes = self._judge(document)
        found = [*document.findings, *(document.finding(one) for one in mistakes[:MOST_MISTAKES])]
        if len(mistakes) > MOST_MISTAKES:
            message = f"{len(mistakes)} mistakes, of which {MOST_MISTAKES} are told"
            found.append(document.finding(Mistake((), message, "mend the first ones", "mistakes")))
        self.findings.extend(found)
        if _is_config(document):
            return
        key = _key_of(document)
        if key is None:
            self.unreadable.add(document.file)
            return
        self.documents.setdefault(key, []).append(document)
        if any(finding.severity is Severity.ERROR for finding in found):
            self.invalid.setdefault(key, []).extend(found)

    def _judge(self, document: Document) -> list[Mistake]:
        value = document.value
        if not isinstance(value, dict):
            message = "must be a mapping with apiVersion, kind, metadata and spec"
            return [Mistake((), message, "", "type")]
        if _is_config(document):
            message = f"a Config stands only in {CONFIG_FILE} at the root"
            return [Mistake(("kind",), message, "move it there", "config-place")]
        if value.get("kind") in KINDS:
            return check_scheduler(value, self.kit, self.permissions, self.version)
        return [_unknown_kind(value)]

    def refuse_duplicates(self) -> None:
        """Hold workloads that several documents claim, naming every place."""
        for key, documents in self.documents.items():
            if len(documents) > 1:
                found = list(_taken(key.name, documents))
                self.findings.extend(found)
                self.invalid.setdefault(key, []).extend(found)


def _taken(name: str, documents: list[Document]) -> Iterator[Finding]:
    at = ("metadata", "name")
    places = [f"{one.file}:{place_of_value(one.places, at)[0]}" for one in documents]
    for index, document in enumerate(documents):
        others = ", ".join([*places[:index], *places[index + 1 :]][:_MOST_PLACES])
        message = f"the name {shown(name)} is also taken in {others}"
        fix = "give each scheduler its own name"
        yield document.finding(Mistake(at, message, fix, "duplicate-name"))


def _is_config(document: Document) -> bool:
    return isinstance(document.value, dict) and document.value.get("kind") == "Config"


def _key_of(document: Document) -> WorkloadKey | None:
    """Return which workload a document is about; None where its kind or name is in doubt."""
    if document.identity_in_doubt or not isinstance(document.value, dict):
        return None
    kind, name = document.value.get("kind"), child(document.value, "metadata").get("name")
    if kind not in KINDS or not isinstance(name, str):
        return None
    if len(name) > _MOST_NAME_LENGTH or label_problem(name) is not None:
        return None
    return workload_key(kind, name)


def _unknown_kind(value: Json) -> Mistake:
    kind = value.get("kind")
    near = likely(kind, KINDS)
    fix = f"did you mean {near}?" if near else f"known kinds: {', '.join(KINDS)}"
    if kind is None:
        return Mistake((), "kind is missing", fix, "unknown-kind", at_key=True)
    message = f"unknown kind {shown(kind)}" if isinstance(kind, str) else "kind must be text"
    return Mistake(("kind",), message, fix, "unknown-kind")
