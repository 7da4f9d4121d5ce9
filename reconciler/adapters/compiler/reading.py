"""In a worker: read a whole tree, or one file after the other to find the one that kills."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from reconciler.adapters.compiler.codec import decode, encode
from reconciler.adapters.compiler.kit import spec_kit
from reconciler.adapters.compiler.limits import allow_cpu
from reconciler.core import read
from reconciler.model.findings import Finding
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Permissions, Workload
from reconciler.model.trees import Entry, Tree

Answer = Callable[[Any], None]

_FINDINGS_A_FRAME = 100


def warm() -> None:
    """Load the schemas and the Kubernetes definitions."""
    spec_kit().pod_spec(Config().kubernetes_version)


def serve_read(setup: Any, items: Iterator[Any], answer: Answer) -> None:
    """Read the tree whose entries `items` are; the answers are the parts of its Reading."""
    tree = decode(Tree, setup["tree"])
    entries = {path: decode(Entry, entry) for path, entry in items}
    permissions = decode(Permissions, setup["permissions"])
    reading = read.read_tree(replace(tree, entries=entries), permissions, spec_kit())
    for workload in reading.workloads.values():
        answer({"workload": encode(Workload, workload)})
    for key, findings in reading.invalid.items():
        answer({"key": encode(WorkloadKey, key), "findings": [_told(one) for one in findings]})
    for start in range(0, len(reading.findings), _FINDINGS_A_FRAME):
        some = reading.findings[start : start + _FINDINGS_A_FRAME]
        answer({"findings": [_told(one) for one in some]})
    answer({"rest": encode(Reading, replace(reading, workloads={}, invalid={}, findings=()))})


def serve_probe(setup: Any, items: Iterator[Any], answer: Answer) -> None:
    """Read each file alone, beside the Config of `setup`.

    One answer for each that is survived: the seconds of CPU that it took.
    """
    tree = decode(Tree, setup["tree"])
    permissions = decode(Permissions, setup["permissions"])
    for path, entry in items:
        allow_cpu(setup["cpu_seconds"])
        alone = {**tree.entries, path: decode(Entry, entry)}
        began = time.process_time()
        read.read_tree(replace(tree, entries=alone), permissions, spec_kit())
        answer({"seconds": time.process_time() - began})
        allow_cpu(0)


def _told(finding: Finding) -> Any:
    return encode(Finding, finding)
