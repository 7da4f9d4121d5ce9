"""What Git asks for in tests of rooms, and what is played there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from reconciler.model.refs import Json
from reconciler.sandbox.players.natures import Voice
from tests.loop.world import World, spec

SURGE = {"maxSurge": 2, "maxUnavailable": 0}
FREE = {"rooms": 1000, "percent": 100}
CONFIG = yaml.safe_dump(
    {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Config",
        "spec": {"budgets": {"workload": FREE, "total": FREE}},
    }
)
VOICES = {"arena": Voice.MAESTRO, "lobby": Voice.NATIVE, "duel": Voice.COLLECTIONS}
MATCHES = {"arena": 1, "lobby": 3, "duel": 1}
QUIET_SECONDS = 8.0
PINGS_SECONDS = 60
SERVERS = "servers"
"""The namespace that Fleets share."""


@dataclass(frozen=True)
class Piece:
    """One workload: what its spec says besides count and image, and what is played there.

    Of one with a `namespace` the spec is a Fleet; a Scheduler has a namespace of its own.
    """

    name: str
    voice: Voice
    rooms: int
    matches: int = 1
    namespace: str = ""
    more: Mapping[str, Json] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The namespace of its rooms."""
        return self.namespace or self.name

    @property
    def file(self) -> str:
        """Where its spec stands."""
        return f"schedulers/{self.name}.yaml"

    def text(self, rooms: int, image: int) -> str:
        """Return the text of its spec."""
        fields: dict[str, Any] = {
            "rollout": SURGE,
            "portRange": {"start": 7000, "end": 7019},
            "removal": {"quietSeconds": int(QUIET_SECONDS)},
            "timeouts": {"pingSeconds": PINGS_SECONDS},
        }
        fields |= {"namespace": self.namespace} if self.namespace else {}
        fields |= {} if self.namespace else {"matches": {"max": self.matches}}
        for name, value in self.more.items():
            fields[name] = {**fields.get(name, {}), **value}
        text = spec(self.name, rooms, f"registry.example/game:{image}", **fields)
        document = yaml.safe_load(text)
        document["kind"] = "Fleet" if self.namespace else "Scheduler"
        document["spec"]["reports"] = "required"
        container = document["spec"]["template"]["spec"]["containers"][0]
        container["ports"] = [{"name": "game", "containerPort": 7777, "protocol": "UDP"}]
        return yaml.safe_dump(document, sort_keys=False)


TRIO = tuple(
    Piece(name, voice, rooms, MATCHES[name])
    for (name, voice), rooms in zip(VOICES.items(), (4, 3, 3), strict=True)
)


class Wish:
    """What Git asks for, by workload: how many rooms, of which image."""

    def __init__(self, world: World, pieces: Sequence[Piece] = TRIO) -> None:
        self.world = world
        self.pieces = {piece.name: piece for piece in pieces}
        self.wanted = {piece.name: (piece.rooms, 1) for piece in pieces}
        files = {piece.file: piece.text(piece.rooms, 1) for piece in pieces}
        world.commit({"gamekeeper.yaml": CONFIG, **files})

    def change(self, name: str, rooms: int, image: int) -> None:
        """Commit another count and image; 0 rooms deletes the spec."""
        piece = self.pieces[name]
        if rooms:
            self.wanted[name] = rooms, image
        else:
            self.wanted.pop(name, None)
        self.world.commit({piece.file: piece.text(rooms, image) if rooms else None})
