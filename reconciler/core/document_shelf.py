"""Documents by the workload that they are about, and what several of them claim at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from reconciler.core.compile import workload_key
from reconciler.core.documents import Document
from reconciler.core.mistakes import MOST_MISTAKES, Mistake, likely, shown
from reconciler.core.numbers import Number, Numbers, filled, is_moved
from reconciler.core.object_files import check_directory, templates_by_directory
from reconciler.core.places import place_of_value
from reconciler.core.pod_parts import child
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.spec_kit import SpecKit
from reconciler.core.validate import check_workload
from reconciler.core.values import Values
from reconciler.kube.names import label_problem
from reconciler.model.findings import Finding, Severity
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.model.trees import CONFIG_FILE, Tree

KINDS = ("Scheduler", "Fleet")
_OF_THE_ROOT = {"Config": CONFIG_FILE, "Replicas": REPLICAS_FILE}
_MOST_NAME_LENGTH = 52
_MOST_PLACES = 5


@dataclass(slots=True)
class DocumentShelf:
    """Documents by workload, while files are read."""

    kit: SpecKit
    permissions: Permissions
    version: str
    findings: list[Finding]
    numbers: Numbers = field(default_factory=Numbers)
    documents: dict[WorkloadKey, list[Document]] = field(default_factory=dict)
    counted: dict[WorkloadKey, Number] = field(default_factory=dict)
    """The counts that do not stand in the document itself."""
    invalid: dict[WorkloadKey, list[Finding]] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    values: Values = field(default_factory=Values)
    apart: bool = True
    """Whether counts that policies move are written where no other environment reads them."""

    def add(self, document: Document) -> None:
        """Judge one document and shelve it under its workload, where that can be told."""
        if document.value is None and not document.findings:
            return
        key = _key_of(document)
        document = self.values.over(document, key)
        number = None if document.value is None else self.numbers.of(document, key)
        mistakes = self._judge(document, key, number)
        found = [
            *document.findings,
            *self.values.wrong_with(key),
            *document.judged(mistakes[:MOST_MISTAKES]),
        ]
        if len(mistakes) > MOST_MISTAKES:
            message = f"{len(mistakes)} mistakes, of which {MOST_MISTAKES} are told"
            found.append(document.finding(Mistake((), message, "mend the first ones", "mistakes")))
        self.findings.extend(found)
        if _file_of(document) is not None:
            return
        if key is None:
            self.unreadable.add(document.file)
            return
        self.documents.setdefault(key, []).append(filled(document, number))
        if number is not None:
            self.counted[key] = number
        if any(finding.severity is Severity.ERROR for finding in found):
            self.invalid.setdefault(key, []).extend(found)

    def _judge(
        self, document: Document, key: WorkloadKey | None, number: Number | None
    ) -> list[Mistake]:
        value = document.value
        if not isinstance(value, dict):
            message = "must be a mapping with apiVersion, kind, metadata and spec"
            fix = "write each of them on a line of its own, with a colon, or take the text out"
            return [Mistake((), message, fix, "type")]
        file = _file_of(document)
        if file is not None:
            message = f"a {value['kind']} stands only in {file} at the root"
            rule = f"{value['kind'].lower()}-place"
            return [Mistake(("kind",), message, "move it there", rule)]
        if value.get("kind") in KINDS:
            whole = filled(document, number).value
            found = check_workload(whole, self.kit, self.permissions, self.version)
            shared = [] if self.apart else list(_written_for_others(value))
            return [*self.numbers.mistakes(document, key), *shared, *found]
        return [_unknown_kind(value)]

    def look_for_objects(self, tree: Tree) -> None:
        """Hold workloads whose directory of additional objects has none."""
        templates = templates_by_directory(tree)
        for key, documents in self.documents.items():
            for document in documents:
                mistakes = check_directory(document, templates, tree.directories)
                found = [document.finding(one) for one in mistakes]
                if found:
                    self._refuse(key, iter(found))

    def refuse_duplicates(self) -> None:
        """Hold workloads that several documents claim, naming every place."""
        for key, documents in self.documents.items():
            if len(documents) > 1:
                self._refuse(key, _taken(key, documents))

    def refuse_taken_namespaces(self) -> None:
        """Hold Fleets that stand in a Scheduler's namespace, and that Scheduler."""
        for key, documents in list(self.documents.items()):
            owner = workload_key("Scheduler", key.namespace)
            if key.kind == "Fleet" and owner in self.documents:
                owners = self.documents[owner]
                self._refuse(key, _not_shared(key, documents, owner, owners))
                self._refuse(owner, _not_shared(owner, owners, key, documents))

    def _refuse(self, key: WorkloadKey, findings: Iterator[Finding]) -> None:
        found = list(findings)
        self.findings.extend(found)
        self.invalid.setdefault(key, []).extend(found)


def _written_for_others(value: Json) -> Iterator[Mistake]:
    """Yield that the count of a workload would be written into what other environments read."""
    if is_moved(child(value, "spec")):
        message = "its count would be written where other environments read theirs"
        fix = "name a branch in the file of --values: config: {writeBack: {branch: counts-eu}}"
        yield Mistake(("spec", "autoscaling"), message, fix, "values-branch", at_key=True)


def _taken(key: WorkloadKey, documents: list[Document]) -> Iterator[Finding]:
    at = ("metadata", "name")
    places = [f"{one.file}:{place_of_value(one.places, at)[0]}" for one in documents]
    inside = f" in namespace {shown(key.namespace)}" if key.kind == "Fleet" else ""
    for index, document in enumerate(documents):
        others = ", ".join([*places[:index], *places[index + 1 :]][:_MOST_PLACES])
        message = f"the name {shown(key.name)}{inside} is also taken in {others}"
        fix = f"give each {key.kind.lower()} its own name"
        yield document.finding(Mistake(at, message, fix, "duplicate-name"))


def _not_shared(
    key: WorkloadKey, documents: list[Document], other: WorkloadKey, others: list[Document]
) -> Iterator[Finding]:
    """Say of each document of `key` that its namespace is also that of `other`."""
    place = f"{others[0].file}:{place_of_value(others[0].places, _namespace_at(others[0]))[0]}"
    for document in documents:
        message = f"the namespace {shown(key.namespace)} is also that of {other} in {place}"
        fix = "a scheduler shares its namespace with nobody: choose another one for the fleet"
        at = _namespace_at(document)
        yield document.finding(Mistake(at, message, fix, "duplicate-name"))


def _namespace_at(document: Document) -> tuple[str, str]:
    """Return where a sound document names its namespace."""
    named = child(document.value, "spec").get("namespace")
    is_fleet = document.value.get("kind") == "Fleet"
    return ("spec", "namespace") if is_fleet and named else ("metadata", "name")


def _file_of(document: Document) -> str | None:
    """Return which file of the root a document belongs to; None for a spec."""
    kind = document.value.get("kind") if isinstance(document.value, dict) else None
    return _OF_THE_ROOT.get(kind) if isinstance(kind, str) else None


def _key_of(document: Document) -> WorkloadKey | None:
    """Return which workload a document is about; None where its kind or name is in doubt."""
    if document.identity_in_doubt or not isinstance(document.value, dict):
        return None
    kind, name = document.value.get("kind"), child(document.value, "metadata").get("name")
    if kind not in KINDS or not isinstance(name, str):
        return None
    if len(name) > _MOST_NAME_LENGTH or label_problem(name) is not None:
        return None
    if kind != "Fleet":
        return workload_key(kind, name)
    return _fleet_key(document, name)


def _fleet_key(document: Document, name: str) -> WorkloadKey | None:
    spec = document.value.get("spec")
    doubts = ("spec", "spec.namespace")
    if any(finding.path in doubts for finding in document.findings):
        return None
    namespace = spec.get("namespace") if isinstance(spec, dict) else None
    if namespace is None:
        return workload_key("Fleet", name)
    if not isinstance(namespace, str) or label_problem(namespace) is not None:
        return None
    return workload_key("Fleet", name, namespace)


def _unknown_kind(value: Json) -> Mistake:
    kind = value.get("kind")
    near = likely(kind, KINDS)
    fix = f"did you mean {near}?" if near else f"known kinds: {', '.join(KINDS)}"
    if kind is None:
        return Mistake((), "kind is missing", fix, "unknown-kind", at_key=True)
    message = f"unknown kind {shown(kind)}" if isinstance(kind, str) else "kind must be text"
    return Mistake(("kind",), message, fix, "unknown-kind")
