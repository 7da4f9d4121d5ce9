"""Additional objects into a reading: each with its workload, and a Finding holds its workload."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reconciler.core.compile import with_objects
from reconciler.core.ignoring import pointers_for, through_list
from reconciler.core.mistakes import shown
from reconciler.core.object_files import template_of, templates_by_directory
from reconciler.core.spec_files import MOST_SPEC_BYTES
from reconciler.model.additional import Made, Outcome, Template
from reconciler.model.findings import Finding
from reconciler.model.readings import Reading
from reconciler.model.refs import ObjectRef, WorkloadKey, ref_of
from reconciler.model.specs import Workload
from reconciler.model.trees import Tree

_MOST_PLACES = 5


def asked_for(reading: Reading, tree: Tree) -> dict[WorkloadKey, tuple[Template, ...]]:
    """Return the templates of each sound workload that names a directory of them."""
    templates = templates_by_directory(tree)
    asking = {key: one.templates for key, one in reading.workloads.items() if one.templates}
    known = {
        directory: tuple(template_of(path, tree.entries[path]) for path in templates[directory])
        for directory in set(asking.values())
    }
    return {key: known[directory] for key, directory in asking.items()}


def take_in(reading: Reading, outcomes: Iterable[Outcome]) -> Reading:
    """Return a reading whose workloads have their additional objects.

    What came of a template is judged with all others: an object has one workload and one file.
    """
    known = {outcome.key: outcome for outcome in outcomes}
    problems: dict[WorkloadKey, list[Finding]] = defaultdict(list)
    for key, outcome in known.items():
        problems[key].extend(outcome.findings)
    for key, finding in _taken(known):
        problems[key].append(finding)
    workloads = dict(reading.workloads)
    for key, outcome in known.items():
        if not problems[key]:
            whole = with_objects(workloads[key], (json.loads(one.text) for one in outcome.made))
            problems[key].extend((*_too_large(whole), *_through_lists(whole), *_twice(whole)))
            workloads[key] = whole
    refused = {key: tuple(found) for key, found in problems.items() if found}
    if not refused:
        return replace(reading, workloads=workloads)
    told = {*reading.findings, *(one for found in refused.values() for one in found)}
    return replace(
        reading,
        workloads=_without(workloads, refused),
        invalid=dict(sorted({**reading.invalid, **refused}.items())),
        findings=tuple(sorted(told)),
        own={key: count for key, count in reading.own.items() if key not in refused},
        unnumbered=reading.unnumbered - refused.keys(),
    )


def _without(
    workloads: Mapping[WorkloadKey, Workload], refused: Mapping[WorkloadKey, tuple[Finding, ...]]
) -> dict[WorkloadKey, Workload]:
    return {key: workload for key, workload in workloads.items() if key not in refused}


def _taken(outcomes: Mapping[WorkloadKey, Outcome]) -> Iterator[tuple[WorkloadKey, Finding]]:
    """Yield a Finding for each template whose object another template makes as well."""
    places: dict[ObjectRef, list[tuple[WorkloadKey, Made]]] = defaultdict(list)
    for key, outcome in outcomes.items():
        for made in outcome.made:
            places[ref_of(json.loads(made.text))].append((key, made))
    for ref, claims in places.items():
        for index, (key, made) in enumerate(claims):
            others = [*claims[:index], *claims[index + 1 :]][:_MOST_PLACES]
            if others:
                said = ", ".join(f"{other.file} (of {whose})" for whose, other in others)
                message = f"{ref} is also made by {said}"
                fix = "give each its own name, as {{ workload.name ~ '-settings' }}"
                at = (made.file, made.line, made.column, "metadata.name")
                yield key, Finding(*at, message, fix, "duplicate-name")


def _too_large(workload: Workload) -> Iterator[Finding]:
    size = len(workload.spec_json.encode(errors="replace"))
    if size > MOST_SPEC_BYTES:
        message = f"the spec and its objects have {size} bytes as JSON; at most {MOST_SPEC_BYTES}"
        source, fix = workload.source, "make the objects smaller"
        yield Finding(source.file, source.line, 1, "spec.objects", message, fix, "size")


def _through_lists(workload: Workload) -> Iterator[Finding]:
    """Yield a Finding for each path of `ignore` that leads into a list of an additional object."""
    for body in map(json.loads, workload.objects):
        ref, source = ref_of(body), workload.source
        for pointer in pointers_for(workload.ignore, ref):
            if through_list(body, pointer):
                message = f"{shown(pointer)} leads into a list of {ref}, whose items move"
                fix = "name the list itself: all of it is left to others"
                at = (source.file, source.line, source.column, "spec.ignore")
                yield Finding(*at, message, fix, "ignore")


def _twice(workload: Workload) -> Iterator[Finding]:
    """Yield a Finding for each additional object whose name a copy is to have, too."""
    copies = {each.copy_in(workload.key.namespace) for each in workload.copy_from}
    source = workload.source
    for ref in (ref_of(json.loads(text)) for text in workload.objects):
        if ref in copies:
            message = f"{ref} is also made by a template of {workload.templates}"
            at = (source.file, source.line, source.column, "spec.copyFrom")
            yield Finding(*at, message, "give the object another name", "duplicate-name")
