"""Acts about what stands beside the rooms: objects of users, copies, and what others change there.

They have a house of their own, whose operator allows more than that of the other acts.
"""

import base64
from typing import Any

import yaml

from reconciler.model.refs import Json
from tests.canaries.places import canary
from tests.loop.rooms.acts import PIECES, Act
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.wishes import Wish
from tests.loop.world import World

ARENA = PIECES[0]
KINDS = ("ConfigMap", "ServiceAccount")
"""Of those that may be added the sandbox serves no other."""
SHARED = "shared"
"""The namespace of sources."""
SOURCES, COPIES = (f"/api/v1/namespaces/{name}" for name in (SHARED, ARENA.place))
PULL, REGIONS = (
    {"kind": kind, "namespace": SHARED, "name": name}
    for kind, name in (("Secret", "pull"), ("ConfigMap", "regions"))
)
FOLDER = "objects/arena"
ACCOUNT, SETTINGS, MAPS, RULES = (
    f"{FOLDER}/{name}.yaml.j2"
    for name in ("serviceaccount", "configmap", "configmap-maps", "configmap-rules")
)
ROLE = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ workload.name }}
  annotations: {iam.example.com/role: ROLE}
"""


def _map(name: str, **data: str) -> str:
    """Return the template of a ConfigMap."""
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return yaml.safe_dump({**head, "data": data})


def _account(role: str) -> str:
    return ROLE.replace("ROLE", role)


def _asking(rooms: int, **more: Any) -> str:
    """Return the text of a spec of the arena that asks for more."""
    document = yaml.safe_load(ARENA.text(rooms, 1))
    document["spec"] |= more
    return yaml.safe_dump(document, sort_keys=False)


def _secret(**texts: str) -> Json:
    return {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


def _write(world: World, path: str, body: Json) -> None:
    """Write as a hand that is not ours; what is not there yet it does not find."""
    shelf, _, name = path.rpartition("/")
    if name in {each["metadata"]["name"] for each in world.objects(shelf)}:
        world.patch(path, body)


def _sources(world: World) -> None:
    """Let there be something to copy, and an operator who allows it."""
    world.kinds, world.copy_from = KINDS, (SHARED,)
    world.create("/api/v1/namespaces", {"metadata": {"name": SHARED}})
    data = _secret(key=canary("object Secret", "copied"), old="revoked later")
    world.create(
        f"{SOURCES}/secrets", {"metadata": {"name": "pull"}, "type": "Opaque", "data": data}
    )
    world.create(f"{SOURCES}/configmaps", {"metadata": {"name": "regions"}, "data": {"eu": "fra"}})


def _asked_for(there: Playhouse, wish: Wish) -> None:
    """Commit a room more, two objects beside it and two copies."""
    text = _asking(ARENA.rooms + 1, objects=FOLDER, copyFrom=[PULL, REGIONS])
    settings = _map("settings", motd="welcome", level="hard")
    there.world.commit({ARENA.file: text, SETTINGS: settings, ACCOUNT: _account("rooms")})


def _source_changes(there: Playhouse, wish: Wish) -> None:
    """The sources change, one entry of each goes, and somebody writes to an object of ours."""
    data = _secret(key=canary("object Secret", "copied later"))
    _write(there.world, f"{SOURCES}/secrets/pull", {"data": {**data, "old": None}})
    _write(there.world, f"{SOURCES}/configmaps/regions", {"data": {"eu": None, "us": "iad"}})
    _write(there.world, f"{COPIES}/configmaps/settings", {"data": {"motd": "mine"}})


def _copy_changes(there: Playhouse, wish: Wish) -> None:
    """Somebody writes to a copy, and to the account."""
    _write(there.world, f"{COPIES}/secrets/pull", {"data": _secret(more="mine")})
    account = f"{COPIES}/serviceaccounts/{ARENA.name}"
    _write(there.world, account, {"metadata": {"annotations": {"iam.example.com/role": "mine"}}})


def _warned(*copies: Json) -> str:
    """Return the text of a spec that tells of drift, and leaves a greeting to others."""
    left = {"kind": "ConfigMap", "name": "settings", "paths": ["/data/motd"]}
    return _asking(
        ARENA.rooms, objects=FOLDER, copyFrom=list(copies), ignore=[left], drift={"mode": "warn"}
    )


def _all_there(world: World) -> None:
    """Let objects and copies be asked for from the beginning."""
    _sources(world)
    world.commit(
        {
            ARENA.file: _warned(PULL, REGIONS),
            SETTINGS: _map("settings", motd="welcome", level="hard"),
            MAPS: _map("maps", maps="harbour"),
            RULES: _map("rules", rules="none"),
            ACCOUNT: _account("rooms"),
        }
    )


def _templates_change(there: Playhouse, wish: Wish) -> None:
    """Commit other content of three objects; the greeting is others' by now."""
    _write(there.world, f"{COPIES}/configmaps/settings", {"data": {"motd": "mine"}})
    there.world.commit(
        {
            SETTINGS: _map("settings", motd="farewell", level="easy"),
            RULES: _map("rules", rules="all"),
            ACCOUNT: _account("players"),
        }
    )


def _others_write(there: Playhouse, wish: Wish) -> None:
    """Somebody writes to an object that is to stay so, and to one that is to go."""
    _write(there.world, f"{COPIES}/configmaps/maps", {"data": {"maps": "castle"}})
    _write(there.world, f"{COPIES}/configmaps/rules", {"data": {"rules": "mine"}})


def _templates_go(there: Playhouse, wish: Wish) -> None:
    """Commit that one object goes, and one copy."""
    there.world.commit({ARENA.file: _warned(PULL), RULES: None})


BESIDE = (
    Act(
        "objects, a copy and drift",
        _asked_for,
        ((10.0, _source_changes), (6.0, _copy_changes)),
        stage=_sources,
    ),
    Act(
        "objects that change and go",
        _templates_change,
        ((6.0, _others_write), (6.0, _templates_go)),
        stage=_all_there,
    ),
)
