"""The compiler's own work without its workers: real time may not enter a virtual world."""

from collections.abc import Mapping, Sequence
from functools import cache

from reconciler import assets
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
    return SpecKit(assets.schemas(), assets.KubernetesDefinitions())


class InlineCompiler:
    """Reads and renders with the real functions, here."""

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        return read_tree(tree, permissions, spec_kit())

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        return {workload.key: _rendered(workload, instance) for workload in workloads}

    async def close(self) -> None:
        return None


def _rendered(workload: Workload, instance: str) -> Rendered:
    sources = assets.templates()
    setup = {
        "templates": [(f"{kind}.yaml.j2", sources[f"{kind}.yaml.j2"]) for kind in ORDER],
        "cpu_seconds": 1000,
        "output_bytes": 1 << 20,
    }
    answers: list[dict[str, str]] = []
    serve_render(setup, iter([context_of(workload, instance)]), answers.append)
    texts = [answer["json"] for answer in answers[len(ORDER) :]]
    return Rendered(workload.key, tuple(texts[:-1]), texts[-1])
