"""Chains of edits of specs, and what stands in a cluster apart from who it is and when it came."""

import random
from collections.abc import Callable
from typing import Any

import yaml

from reconciler.model import labels
from reconciler.model.refs import Json
from reconciler.model.specs import LOOSEST
from tests.loop.rooms.wishes import CONFIG
from tests.loop.world import Process, World, spec

NAMES = ("arena", "duel", "lobby", "quake")
SHARED = "servers"
"""The namespace of Fleets."""
FOLDER = "objects/shared"
MOST_ROOMS = 4
TURNS = 90
Files = dict[str, str]
Edit = Callable[[random.Random, Json], None]
Made = Callable[[str, int], str]
"""Writes a new spec: its name, and how many rooms."""


def file_of(name: str) -> str:
    """Return where a spec stands."""
    return f"schedulers/{name}.yaml"


def first_files(made: Made = spec) -> Files:
    """Return what a chain begins with."""
    begun = {file_of(name): made(name, 2) for name in NAMES[:2]}
    return {"gamekeeper.yaml": CONFIG, **_object("motd", "welcome"), **begun}


def _object(name: str, text: str) -> Files:
    """Return the template of a ConfigMap that each workload gets under a name of its own."""
    metadata = '{name: {{ workload.name ~ "-' + name + '" }}}'
    body = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\ndata: {{text: {text}}}\n"
    return {f"{FOLDER}/configmap-{name}.yaml.j2": body}


def _drawn(field: str, *values: Any) -> Edit:
    """Set a field of the spec to one of these; None takes it out."""

    def edit(chance: random.Random, document: Json) -> None:
        value = chance.choice(values)
        document["spec"].pop(field, None)
        if value is not None:
            document["spec"][field] = value

    return edit


def _room(field: str, *values: Any) -> Edit:
    """The same of the game's container."""

    def edit(chance: random.Random, document: Json) -> None:
        game = document["spec"]["template"]["spec"]["containers"][0]
        value = chance.choice(values)
        game.pop(field, None)
        if value is not None:
            game[field] = value

    return edit


def _pod(field: str, *values: Any) -> Edit:
    """The same of the pod."""

    def edit(chance: random.Random, document: Json) -> None:
        pod, value = document["spec"]["template"]["spec"], chance.choice(values)
        pod.pop(field, None)
        if value is not None:
            pod[field] = value

    return edit


def _marks(chance: random.Random, document: Json) -> None:
    """Change labels and annotations of the rooms: others, one fewer, or none."""
    marks: Json = {}
    for kind in ("labels", "annotations"):
        drawn = {key: chance.choice("ab") for key in ("team", "tier") if chance.random() < 0.5}
        marks |= {kind: drawn} if drawn else {}
    document["spec"]["template"].pop("metadata", None)
    document["spec"]["template"] |= {"metadata": marks} if marks else {}


def _sidecar(chance: random.Random, document: Json) -> None:
    """Put a container beside the game, or take it away."""
    containers = document["spec"]["template"]["spec"]["containers"]
    if len(containers) > 1:
        containers.pop()
    else:
        containers.append({"name": "proxy", "image": f"registry.example/{chance.choice('ab')}:1"})


def _ports(chance: random.Random, document: Json) -> None:
    """Give the rooms host ports, other ones, or none."""
    inner, game = document["spec"], document["spec"]["template"]["spec"]["containers"][0]
    start = chance.choice((0, 20_000, 21_000, 22_000))
    inner["portRange"] = {"start": start, "end": start + 49} if start else None
    game.pop("ports", None)
    if start:
        game["ports"] = [{"name": "game", "containerPort": 7777, "protocol": "UDP"}]


EDITS: tuple[Edit, ...] = (
    _drawn("replicas", *range(MOST_ROOMS + 1)),
    _drawn("replicas", *range(MOST_ROOMS + 1)),
    _drawn("rollout", None, {"maxSurge": 1, "maxUnavailable": 0}, {"maxSurge": "50%"}),
    _drawn("removal", None, {"quietSeconds": 0}, {"quietSeconds": 9}),
    _drawn("disruption", None, {"mode": "count"}, {"mode": "count", "safetyPercentage": 0.5}),
    _drawn("scheduling", None, "packed", "distributed"),
    _drawn("timeouts", None, {"initializeSeconds": 90}),
    _drawn("objects", None, FOLDER),
    _drawn("suspend", None, False),
    _drawn("game", "arena", "duel"),
    _room("image", *(f"registry.example/game:{number}" for number in (1, 2, 3))),
    _room("env", None, [{"name": "A", "value": "1"}], [{"name": "B", "value": "2"}]),
    _room("command", None, ["/game"], ["/game", "--fast"]),
    _room("resources", None, {"requests": {"cpu": "50m"}}, {"limits": {"memory": "1Gi"}}),
    _room("imagePullPolicy", None, "Always", "Never"),
    _pod("terminationGracePeriodSeconds", None, 1, 5),
    _pod("nodeSelector", None, {"kubernetes.io/os": "linux"}),
    _marks,
    _sidecar,
    _ports,
)


HOPELESS: dict[str, Edit] = {
    "an image that is not there": _room("image", "registry.example/game:missing"),
    "a game that crashes": _room("image", "registry.example/game:crash"),
    "more than a node has": _room("resources", {"requests": {"cpu": "500"}}),
    "a zone that there is none of": _pod("nodeSelector", {"topology.kubernetes.io/zone": "none"}),
}
"""What is no mistake by its text, and of which no room ever stands."""


class Chain:
    """The files of a repository, edited over and over by chance."""

    def __init__(self, chance: random.Random, made: Made = spec) -> None:
        self.chance, self._made = chance, made
        self.files = first_files(made)

    def edit(self) -> dict[str, str | None]:
        """Make one transition; return what changes. There is always a spec left."""
        before = dict(self.files)
        while self.files == before:
            self._edit()
        changed: dict[str, str | None] = dict.fromkeys(before.keys() - self.files.keys())
        return changed | {
            path: text for path, text in self.files.items() if before.get(path) != text
        }

    def hopeless(self, name: str, what: str) -> Files:
        """Return a spec of which no room will stand; the chain itself goes on without it."""
        document = yaml.safe_load(self.files[file_of(name)])
        HOPELESS[what](self.chance, document)
        document["spec"]["replicas"] = max(1, document["spec"]["replicas"])
        return {file_of(name): yaml.safe_dump(document, sort_keys=False)}

    def names(self) -> list[str]:
        """Return the workloads that there are."""
        return [name for name in NAMES if file_of(name) in self.files]

    def _edit(self) -> None:
        chance = self.chance
        draw, names = chance.random(), self.names()
        missing = [name for name in NAMES if name not in names]
        if draw < 0.1 and missing:
            name = chance.choice(missing)
            self.files[file_of(name)] = self._made(name, chance.randint(0, 3))
        elif draw < 0.18 and len(names) > 1:
            del self.files[file_of(chance.choice(names))]
        elif draw < 0.26:
            self._change_kind(chance.choice(names))
        elif draw < 0.34:
            self.files |= _object("motd", chance.choice(("welcome", "bye", "closed")))
        elif draw < 0.4:
            self._toggle_object()
        else:
            name = chance.choice(names)
            document = yaml.safe_load(self.files[file_of(name)])
            for _ in range(chance.randint(1, 3)):
                chance.choice(EDITS)(chance, document)
            self.files[file_of(name)] = yaml.safe_dump(document, sort_keys=False)

    def _toggle_object(self) -> None:
        path, text = next(iter(_object("maps", "harbour").items()))
        if self.files.pop(path, None) is None:
            self.files[path] = text

    def _change_kind(self, name: str) -> None:
        """A Scheduler becomes a Fleet among others, and the other way round."""
        document = yaml.safe_load(self.files[file_of(name)])
        if document["kind"] == "Scheduler":
            document["kind"] = "Fleet"
            document["spec"]["namespace"] = SHARED
        else:
            document["kind"] = "Scheduler"
            del document["spec"]["namespace"]
        document["spec"].setdefault("portRange", None)
        self.files[file_of(name)] = yaml.safe_dump(document, sort_keys=False)


async def open_world(files: dict[str, str | None]) -> tuple[World, Process]:
    """Start a process over a repository with these files; it is settled."""
    world = World(kinds=("ConfigMap",))
    world.commit(files)
    process = await world.process()
    process.head.ceiling = LOOSEST
    await world.settle(process, TURNS)
    return world, process


KINDS = (
    *("/api/v1/namespaces", "/api/v1/serviceaccounts", "/api/v1/configmaps", "/api/v1/pods"),
    "/apis/policy/v1/poddisruptionbudgets",
)


def standing(world: World, forget: Callable[[Json], None] = lambda item: None) -> list[str]:
    """Tell all fields of all objects that are ours, in an order, without identities and times.

    Records are not told: they are of the past; nor is what `forget` takes out of an object.
    """
    found = [item for kind in KINDS for item in world.objects(kind) if is_ours(item)]
    for item in found:
        forget(item)
    return sorted(map(plain, found))


def plain(item: Json) -> str:
    """Tell all fields of one object, without its identity and times."""
    return yaml.safe_dump(_plain(item))


def is_ours(item: Json) -> bool:
    """Whether an object is one of a workload's."""
    marks = item["metadata"].get("labels") or {}
    ours = labels.INSTANCE in marks and labels.RECORD not in marks
    return ours and item["metadata"].get("namespace") != "gamekeeper"


def _plain(item: Json) -> Json:
    metadata = item["metadata"]
    kept = {name: metadata.get(name) for name in ("namespace", "labels", "annotations")}
    if item.get("kind") == "Pod" or "containers" in item.get("spec", {}):
        return _plain_room(item, kept)
    body = {name: value for name, value in item.items() if name not in ("metadata", "status")}
    return {"name": metadata["name"], **kept, **body}


def _plain_room(pod: Json, kept: Json) -> Json:
    """A room as any of its kind: neither its name, nor its ports, nor its node."""
    name = pod["metadata"]["name"]
    workload = pod["metadata"]["labels"][labels.WORKLOAD]
    text = yaml.safe_dump({**kept, "spec": pod["spec"]}).replace(name, f"{workload}-n")
    plain: Json = yaml.safe_load(text)
    plain["spec"].pop("nodeName", None)
    # Ours, as `scheduling` says: it is for rooms that are made from then on.
    plain["spec"].pop("affinity", None)
    containers = plain["spec"]["containers"]
    ports = [port for container in containers for port in container.get("ports") or ()]
    numbers = {str(port["hostPort"]) for port in ports}
    for port in ports:
        port["hostPort"] = "one of the range"
    for container in containers:
        for variable in container.get("env") or ():
            if variable.get("value") in numbers:
                variable["value"] = "its host port"
    plain["phase"] = pod["status"].get("phase")
    return plain
