"""Values of one environment: what a file says over the specs that all environments share.

A value is data laid over data, before anything is judged: so what is wrong with it is told at its
own line, and specs stay what they are, without a language inside.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reconciler.core.counts import key_named
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import Place, place_of_key
from reconciler.core.pod_parts import child
from reconciler.core.schema_check import check
from reconciler.core.spec_files import read_entry
from reconciler.core.spec_kit import SpecKit
from reconciler.model.findings import Finding, Severity
from reconciler.model.refs import WorkloadKey
from reconciler.model.trees import CONFIG_FILE, Tree

WORKLOADS = ("spec", "workloads")
_CONFIG = ("spec", "config")
_BY_NAME = frozenset({"containers", "initContainers", "env", "volumes"})
"""Lists whose items are laid over those of the same name; all other lists are replaced."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place of a values file says of one spec; `wrong` is what is wrong with it there."""

    file: str
    value: Any
    places: Place
    wrong: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Values:
    """What all values files say, the later over the earlier.

    `findings` are mistakes that leave in doubt what is said of whom: while there is one, nothing
    of the commit acts.
    """

    workloads: Mapping[WorkloadKey, tuple[Layer, ...]] = field(default_factory=dict)
    config: tuple[Layer, ...] = ()
    findings: tuple[Finding, ...] = ()

    def over(self, document: Document, key: WorkloadKey | None) -> Document:
        """Return the document of a workload with its values over it."""
        for layer in self.workloads.get(key, ()) if key is not None else ():
            document = _laid(document, layer)
        return document

    def wrong_with(self, key: WorkloadKey | None) -> tuple[Finding, ...]:
        """Return what is wrong with the values of a workload in themselves."""
        layers = self.workloads.get(key, ()) if key is not None else ()
        return tuple(finding for layer in layers for finding in layer.wrong)

    def over_config(self, document: Document) -> Document:
        """Return the Config with its values over it."""
        for layer in self.config:
            document = _laid(document, layer)
        return document

    @property
    def names_branch(self) -> bool:
        """Whether the branch of counts is this environment's own."""
        return any(child(layer.value, "writeBack").get("branch") for layer in self.config)

    def of_nobody(self, known: Collection[WorkloadKey]) -> Iterator[Finding]:
        """Yield a warning for values of a workload that is not there."""
        for key in sorted(self.workloads.keys() - set(known)):
            for layer in self.workloads[key]:
                at = (layer.file, layer.places.line, layer.places.column)
                message, fix = f"there is no {key}: its values mean nothing", "take them out"
                path = f'spec.workloads["{key}"]'
                yield Finding(*at, path, message, fix, "values-of-nobody", Severity.WARNING)


def read_values(tree: Tree, files: Iterable[str], kit: SpecKit) -> Values:
    """Return what the values files of a tree say; never raises for what stands in them."""
    workloads: dict[WorkloadKey, tuple[Layer, ...]] = {}
    config: list[Layer] = []
    findings: list[Finding] = []
    for file in files:
        document = _document(tree, file)
        if isinstance(document, Finding):
            findings.append(document)
            continue
        mistakes = [*check(kit.kinds["Values"], document.value), *_mistakes(document)]
        listed = child(document.value, *WORKLOADS)
        keys = {name: key for name in listed if (key := key_named(name)) is not None}
        findings += document.findings
        findings += [document.finding(one) for one in mistakes if not _is_of(one, keys)]
        for name, key in keys.items():
            own = (document.finding(one) for one in mistakes if _is_of(one, [name]))
            layer = _layer(document, (*WORKLOADS, name))
            workloads[key] = (*workloads.get(key, ()), replace(layer, wrong=tuple(own)))
        if child(document.value, *_CONFIG):
            config.append(_sound(_layer(document, _CONFIG), mistakes))
    return Values(workloads, tuple(config), tuple(findings))


def in_doubt(values: Values) -> Finding | None:
    """Return why nothing of a commit acts, where its values cannot be told."""
    if not values.findings:
        return None
    first = values.findings[0]
    where = f"{first.file}:{first.line}" if first.line else first.file
    message = f"the values of this environment cannot be told: {where}: {first.message}"
    return Finding(CONFIG_FILE, 0, 0, "", message, f"mend {first.file}", "values")


def _document(tree: Tree, file: str) -> Document | Finding:
    entry = tree.entries.get(file)
    if entry is None:
        return _missing(tree, file)
    parsed = read_entry(file, entry)
    if parsed.unreadable is not None:
        return parsed.unreadable
    documents = [one for one in parsed.documents if one.value is not None or one.findings]
    if len(documents) == 1:
        return documents[0]
    message = f"the file holds {len(documents)} documents instead of one of kind Values"
    fix = "write apiVersion: gamekeeper.dev/v1 and kind: Values, once"
    return Finding(file, 0, 0, "", message, fix, "values")


def _missing(tree: Tree, file: str) -> Finding:
    """Say that a file of values is not there; one that names its folder, too, is told so."""
    inside = file.removeprefix(f"{tree.path}/") if tree.path else file
    message, fix = "there is no such file, which --values names", "add it, or name another one"
    if inside != file:
        message = f"--values names it {shown(file)}, and is read inside {shown(tree.path)}"
        fix = f"write --values {inside}"
    return Finding(inside, 0, 0, "", message, fix, "values-missing")


def _mistakes(document: Document) -> Iterator[Mistake]:
    for name, value in child(document.value, *WORKLOADS).items():
        if isinstance(value, dict) and "namespace" in value:
            at, message = (*WORKLOADS, name, "namespace"), "says which workload it is, in its spec"
            yield Mistake(at, message, "take it out", "values-name", at_key=True)
        if key_named(name) is None:
            message = f"{shown(name)} names no workload"
            fix = "write Scheduler/name, Fleet/name or Fleet/namespace/name"
            yield Mistake((*WORKLOADS, name), message, fix, "values-name", at_key=True)


def _is_of(mistake: Mistake, names: Collection[str]) -> bool:
    """Whether a mistake stands in the values of one of these workloads."""
    return mistake.path[:2] == WORKLOADS and mistake.path[2:3] != () and mistake.path[2] in names


def _layer(document: Document, path: tuple[str, ...]) -> Layer:
    around, place = child(document.value, *path[:-1]), document.places
    for step in path:
        place = place.inside(step) or place
    line, column = place_of_key(document.places, path)
    return Layer(document.file, around[path[-1]], replace(place, line=line, column=column))


def _sound(layer: Layer, mistakes: Iterable[Mistake]) -> Layer:
    """Return a layer of the Config without its properties that have a mistake.

    Laid over it, one would be told a second time, and what it says of paths would be believed.
    """
    wrong = {one.path[2] for one in mistakes if one.path[:2] == _CONFIG and len(one.path) > 2}
    return replace(layer, value={key: of for key, of in layer.value.items() if key not in wrong})


def _laid(document: Document, layer: Layer) -> Document:
    """Return a document with a layer over its spec; one that is no mapping says nothing."""
    value, places = document.value, document.places
    if layer.wrong or not isinstance(layer.value, dict) or not isinstance(value, dict):
        return document
    below = value.get("spec") or {}
    if not isinstance(below, dict):
        return document
    place = places.inside("spec") or Place(places.line, places.column, {}, {})
    spec, at = _over(below, place, layer.value, layer.places, layer.file)
    inside = dict(places.children) if isinstance(places.children, dict) else {}
    whole = replace(places, children={**inside, "spec": at})
    return replace(document, value={**value, "spec": spec}, places=whole)


def _over(below: Any, at: Place, value: Any, place: Place, file: str) -> tuple[Any, Place]:
    """Return one value over another, with where each part of both stands."""
    if not isinstance(below, dict) or not isinstance(value, dict):
        return value, replace(place, file=file)
    merged, keys = dict(below), dict(at.keys)
    children = dict(at.children) if isinstance(at.children, dict) else {}
    for name, part in value.items():
        there = place.inside(name) or place
        keys[name] = place.keys.get(name, (there.line, there.column))
        here = children.get(name)
        if part is None:
            merged.pop(name, None)
            children.pop(name, None)
        elif name not in merged or here is None:
            merged[name], children[name] = part, replace(there, file=file)
        elif name in _BY_NAME and _are_named(merged[name], part):
            merged[name], children[name] = _by_name(merged[name], here, part, there, file)
        else:
            merged[name], children[name] = _over(merged[name], here, part, there, file)
    return merged, replace(at, keys=keys, children=children)


def _are_named(*lists: Any) -> bool:
    return all(
        isinstance(each, list) and all(isinstance(one, dict) and "name" in one for one in each)
        for each in lists
    )


def _by_name(
    below: list[Any], at: Place, items: list[Any], place: Place, file: str
) -> tuple[list[Any], Place]:
    merged = list(below)
    places = list(at.children) if isinstance(at.children, list) else [at] * len(below)
    for index, item in enumerate(items):
        there = place.inside(index) or place
        same = [n for n, one in enumerate(below) if one["name"] == item["name"]]
        for n in same[:1]:
            merged[n], places[n] = _over(merged[n], places[n], item, there, file)
        if not same:
            merged.append(item)
            places.append(replace(there, file=file))
    return merged, replace(at, children=places)
