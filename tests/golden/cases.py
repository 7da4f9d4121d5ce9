"""Golden cases: a mini repository, what happens to its fleet, and the plan that comes of it.

A case is a folder of `cases/`: `repo/` is the repository whose fleet stands already, `head/` (or
`1/`, `2/`, …) the trees of the commits after it, each whole. `cluster.yaml` says what is special
about the cluster; everything in it may be left out:

    nodes: 4                  # how many there are
    objects: []               # what others have in the cluster before the first commit
    happens: []               # between `repo/` and the first commit; see `HAPPENINGS`
    seconds: 0                # that pass before each commit
    turns: 1                  # that are told of each commit
    kinds: []                 # of additional objects that the operator allows
    copy_from: []             # what the operator lets repositories copy
    values: []                # files of values that the process reads

Everything between Git and the API server is the real thing (`tests/loop/world.py`).
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from reconciler.model.refs import Json
from reconciler.sandbox.behaviour import READY, Behaviour, nodes
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.kinds import NODE, POD
from reconciler.sandbox.requests import Request, Response
from tests.golden.telling import tell
from tests.loop.world import Process, World, definitions

CASES = Path(__file__).with_name("cases")
CLUSTER, EXPECTED = "cluster.yaml", "expected.txt"
MANY = {
    "Pod": "pods",
    "Namespace": "namespaces",
    "Secret": "secrets",
    "ConfigMap": "configmaps",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One case as its folder has it: the trees in order, the fleet's own first ({}: none)."""

    folder: Path
    base: Mapping[str, str]
    commits: Mapping[str, Mapping[str, str]]
    cluster: Json

    @property
    def expected(self) -> Path:
        """Return where the plan stands."""
        return self.folder / EXPECTED


def case_of(folder: Path) -> Case:
    """Read a case."""
    trees = {path.name: _files(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    base = trees.pop("repo", {})
    about = folder / CLUSTER
    cluster = yaml.safe_load(about.read_text(encoding="utf-8")) if about.exists() else {}
    return Case(folder, base, trees, cluster)


async def told(case: Case) -> str:
    """Play a case and return what its plans are."""
    world = _world(case.cluster)
    process = await world.process()
    values = tuple(case.cluster.get("values", ()))
    process.head.permissions = replace(process.head.permissions, values=values)
    before: Mapping[str, str] = {}
    if case.base:
        world.commit(dict(case.base))
        await world.settle(process)
        before = case.base
    for happening in case.cluster.get("happens", []):
        ((what, about),) = happening.items()
        HAPPENINGS[what](world, about)
    lines: list[str] = []
    for name, files in case.commits.items() or [("repo", case.base)]:
        world.pass_time(float(case.cluster.get("seconds", 0)))
        world.commit({**dict.fromkeys(before), **files})
        before = files
        lines += [line async for line in _turns(world, process, name, case.cluster)]
    return "\n".join(lines) + "\n"


async def _turns(world: World, process: Process, name: str, cluster: Json) -> AsyncIterator[str]:
    for number in range(1, cluster.get("turns", 1) + 1):
        report = await process.turn()
        yield f"== {name}" + (f", turn {number}" if number > 1 else "")
        reading = process.head.reading if number == 1 else None
        for line in tell(report, process.lane.wanted.holds, reading):
            yield line
        world.pass_time(2.0)


def _files(folder: Path) -> dict[str, str]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def _world(cluster: Json) -> World:
    world = World(kinds=tuple(cluster.get("kinds", ())))
    world.copy_from = tuple(cluster.get("copy_from", ()))
    shape = nodes(cluster.get("nodes", 4))
    world.sandbox = Sandbox(
        definitions(), seed=1, nodes=shape, behaviour=Behaviour(), now=world.time.at
    )
    if "objects" in cluster:
        _others(world, cluster["objects"])
    return world


def _others(world: World, objects: list[Json]) -> None:
    for body in objects:
        namespace = body["metadata"].get("namespace", "")
        inside = f"/namespaces/{namespace}" if namespace else ""
        world.create(f"/api/v1{inside}/{MANY[body['kind']]}", body)
    world.pass_time(2.0)


def _room(world: World, about: str) -> tuple[str, str]:
    """Return namespace and name of a room: `arena/0` is the first of them by name."""
    namespace, _, place = about.partition("/")
    return namespace, world.names(namespace)[int(place)]


def _deleted(world: World, about: str) -> None:
    namespace, name = _room(world, about)
    world.delete(f"/api/v1/namespaces/{namespace}/pods/{name}")
    world.pass_time(2.0)


def _object_deleted(world: World, path: str) -> None:
    world.delete(path)


def _edited(edit: Callable[[Json], None]) -> Callable[[World, str], None]:
    def happen(world: World, about: str) -> None:
        namespace, name = _room(world, about)
        world.sandbox.world.change(POD, namespace, name, edit)

    return happen


def _end(pod: Json) -> None:
    pod["status"] |= {"phase": "Failed", "conditions": []}


def _lose_readiness(pod: Json) -> None:
    pod["status"]["conditions"] = [
        {**each, "status": "False"} if each["type"] == "Ready" else each
        for each in pod["status"]["conditions"]
    ]


def _stop_being_ready(pod: Json) -> None:
    """Let its probe fail from now on: a kubelet sets right what somebody only wrote."""
    pod["metadata"].setdefault("annotations", {})[READY] = "false"
    for each in pod["status"]["containerStatuses"]:
        each["ready"] = False
    _lose_readiness(pod)


def _lose_node(world: World, name: str) -> None:
    """Do what the node lifecycle controller does when a kubelet is silent: nothing is ready."""
    world.sandbox.world.change(NODE, "", name, _lose_readiness)
    for pod in world.objects("/api/v1/pods"):
        if pod["spec"].get("nodeName") == name:
            metadata = pod["metadata"]
            world.sandbox.world.change(
                POD, metadata["namespace"], metadata["name"], _lose_readiness
            )


def _patched(world: World, about: Json) -> None:
    """Let somebody else write fields: `path`, `manager` and the merge `patch`."""
    headers = {"content-type": "application/merge-patch+json"}
    path = f"{about['path']}?fieldManager={about['manager']}"
    body = json.dumps(about["patch"]).encode()
    answer = world.sandbox.handle(Request.of("PATCH", path, body, headers), world.time.at)
    assert isinstance(answer, Response)
    assert answer.status == 200, answer.body


def _approved(world: World, change_hash: str) -> None:
    world.approve(change_hash)


def _rewritten(world: World, subject: str) -> None:
    """Force-push what the branch has, without its history."""
    head = world.host.commits[world.host.branches["main"]]
    world.host.rewrite(head.files, subject)


HAPPENINGS: dict[str, Callable[[World, Any], None]] = {
    "deleted by hand": _deleted,
    "object deleted": _object_deleted,
    "ended": _edited(_end),
    "not ready": _edited(_stop_being_ready),
    "node lost": _lose_node,
    "written by others": _patched,
    "made by others": _others,
    "approved": _approved,
    "history rewritten": _rewritten,
}
"""What may happen to a fleet, and how it is played. Rooms are named `<namespace>/<place>`."""


def all_cases() -> Iterator[Path]:
    """Yield the folders of all cases."""
    return (path for path in sorted(CASES.iterdir()) if path.is_dir())
