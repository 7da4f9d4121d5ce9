"""The compiler's own work without its workers: real time may not enter a virtual world."""

import json
from collections.abc import Mapping, Sequence
from functools import cache

from reconciler import assets, registry
from reconciler.adapters.compiler.context import context_of
from reconciler.adapters.compiler.rendering import serve_render
from reconciler.core.read import read_tree
from reconciler.core.spec_kit import SpecKit
from reconciler.model.readings import Reading, Rendered
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions, Workload
from reconciler.model.trees import Tree

ORDER = ("namespace", "serviceaccount", "poddisruptionbudget", "pod")


@cache
def spec_kit() -> SpecKit:
    return SpecKit(assets.schemas(), assets.KubernetesDefinitions(), registry.policies())


class InlineCompiler:
    """Reads and renders with the real functions, here.

    Both are pure, so what one process has read or rendered is remembered for all others: crash
    tests start thousands of them.
    """

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        known = (tree.commit, _content(tree), permissions)
        if known not in _READ:
            _READ[known] = read_tree(tree, permissions, spec_kit())
        return _READ[known]

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        return {workload.key: _rendered(workload, instance) for workload in workloads}

    async def close(self) -> None:
        return None


_READ: dict[tuple[str, tuple[tuple[str, str], ...], Permissions], Reading] = {}


def _content(tree: Tree) -> tuple[tuple[str, str], ...]:
    return tuple((path, entry.blob) for path, entry in tree.entries.items())


def _rendered(workload: Workload, instance: str) -> Rendered:
    return Rendered(workload.key, *_texts(json.dumps(context_of(workload, instance))))


@cache
def _texts(context: str) -> tuple[tuple[str, ...], str]:
    sources = assets.templates()
    setup = {
        "templates": [(f"{kind}.yaml.j2", sources[f"{kind}.yaml.j2"]) for kind in ORDER],
        "cpu_seconds": 1000,
        "output_bytes": 1 << 20,
    }
    answers: list[dict[str, str]] = []
    serve_render(setup, iter([json.loads(context)]), answers.append)
    texts = [answer["json"] for answer in answers[len(ORDER) :]]
    return tuple(texts[:-1]), texts[-1]
