"""What the compiler's tests share: workloads, our templates, a compiler that is closed again."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from reconciler.adapters.compiler.compiler import WorkerCompiler
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Disruption, PortRange, Rollout, Scheduling, Source, Workload

OURS = {
    path.name: path.read_text()
    for path in (Path(__file__).parents[2] / "templates").glob("*.yaml.j2")
}

ROOM: Json = {"spec": {"containers": [{"name": "game", "image": "arena:1"}]}}


def workload(
    name: str = "arena", template: Json | None = None, packed: bool = True, game: str = "arena"
) -> Workload:
    return Workload(
        key=WorkloadKey("Scheduler", name, name),
        game=game,
        replicas=3,
        reports="none",
        rollout=Rollout(),
        port_range=PortRange(20000, 20100),
        disruption=Disruption(),
        scheduling=Scheduling.PACKED if packed else Scheduling.DISTRIBUTED,
        suspend=False,
        template=ROOM if template is None else template,
        revision="1-0123456789ab",
        spec_json="{}",
        source=Source("schedulers/arena.yaml", 1),
        replicas_source=Source("schedulers/arena.yaml", 7),
    )


@asynccontextmanager
async def compiler(
    templates: Mapping[str, str] = OURS, zygote: Zygote | None = None
) -> AsyncIterator[WorkerCompiler]:
    """Give a compiler with a zygote of its own, or one that others use too."""
    made = WorkerCompiler(zygote or Zygote(), templates)
    try:
        yield made
    finally:
        if zygote is None:
            await made.close()


def pod(spec: str, head: str = "") -> dict[str, str]:
    """Return templates whose pod has `spec` as its spec."""
    return {
        "pod.yaml.j2": f"{head}apiVersion: v1\nkind: Pod\nmetadata:\n  name: room\nspec: {spec}\n"
    }


def with_spec(**spec: Any) -> Json:
    return {"spec": {**ROOM["spec"], **spec}}
