"""Workloads of one name: of two kinds in one namespace, or in several namespaces.

In one namespace only one of them can be: rooms, objects and records would have the same names.
In several, not every game can be told which one is its own.

Maestro's paths name a workload and a room and no namespace. A game that shows its token or its
code is told apart all the same; one that shows nothing hears 404.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from reconciler.core.counts import KINDS
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.places import place_of_value
from reconciler.core.pod_parts import child
from reconciler.model.findings import Finding, Severity
from reconciler.model.refs import WorkloadKey

Documents = Mapping[WorkloadKey, Sequence[Document]]

_NAME = ("metadata", "name")
_MOST_PLACES = 5
NAMESAKE = "namesake"
"""The rule by which names in several namespaces are told."""


def other_kinds(key: WorkloadKey) -> tuple[WorkloadKey, ...]:
    """Return the workloads that would have the same rooms, objects and records as `key`."""
    kinds = (kind for kind in KINDS if kind != key.kind)
    return tuple(WorkloadKey(kind, key.namespace, key.name) for kind in kinds)


def find_namesakes(documents: Documents) -> Iterator[Finding]:
    """Yield a warning for each document of a name that stands in two namespaces or more.

    Where none of these workloads reports, no game asks, and nothing is wrong.
    """
    named: dict[str, list[WorkloadKey]] = {}
    for key in sorted(documents):
        named.setdefault(key.name, []).append(key)
    for keys in named.values():
        shared = len({key.namespace for key in keys}) > 1
        if shared and any(_reports(one) for key in keys for one in documents[key]):
            for key in keys:
                yield from _warn(key, keys, documents)


def _warn(key: WorkloadKey, keys: Sequence[WorkloadKey], documents: Documents) -> Iterator[Finding]:
    others = islice((one for one in keys if one.namespace != key.namespace), _MOST_PLACES)
    places = ", ".join(f"{other} in {_place(documents[other][0])}" for other in others)
    message = (
        f"the name {shown(key.name)} is also that of {places}: by Maestro's paths a game that "
        "shows neither token nor code cannot be told which is its own, and hears 404"
    )
    fix = "rename one of them, or see that their games show who they are"
    for document in documents[key]:
        yield document.finding(Mistake(_NAME, message, fix, NAMESAKE, severity=Severity.WARNING))


def _place(document: Document) -> str:
    return f"{document.file}:{place_of_value(document.places, _NAME)[0]}"


def _reports(document: Document) -> bool:
    return child(document.value, "spec").get("reports") == "required"
