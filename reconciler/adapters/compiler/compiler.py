"""The `Compiler` port over forked workers: nothing that strangers wrote is parsed here."""

import asyncio
from collections.abc import Mapping, Sequence

from reconciler.adapters.compiler.limits import Patience
from reconciler.adapters.compiler.objects import ObjectRenderer
from reconciler.adapters.compiler.reader import TreeReader
from reconciler.adapters.compiler.renderer import Renderer
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.readings import Reading, Rendered
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions, Workload
from reconciler.model.trees import Tree

_WORKERS = 2


class WorkerCompiler:
    """Reads and renders in workers; at most two of them run at a time."""

    def __init__(
        self, zygote: Zygote, templates: Mapping[str, str], patience: Patience | None = None
    ) -> None:
        """Use the templates by file name (`pod.yaml.j2`), one Kubernetes kind each.

        Raises Misconfigured where there is none for the pod, or a name is no kind's.
        """
        self.zygote = zygote
        slots = asyncio.Semaphore(_WORKERS)
        self._renderer = Renderer(zygote, templates, slots, patience or Patience())
        self._reader = TreeReader(zygote, slots, patience or Patience())
        self._objects = ObjectRenderer(zygote, slots, patience or Patience())

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        """Validate a whole tree, additional objects too; never raises for what the user wrote.

        Raises Unavailable.
        """
        reading = await self._reader.read(tree, permissions)
        return await self._objects.complete(reading, tree, permissions)

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        """Render workloads; what was rendered before comes from a cache.

        Raises Misconfigured naming template and workload, Unavailable.
        """
        return await self._renderer.render(workloads, instance)

    async def close(self) -> None:
        """End the zygote and its workers."""
        await asyncio.to_thread(self.zygote.close)
