"""What the tests of pushing have in common: an author and changes."""

from collections.abc import Mapping
from typing import Any

from reconciler.model.pushes import Change, Person

AUTHOR = Person("Gamekeeper", "gamekeeper@example.test")
AT = 1_750_000_000
START = {
    "gamekeeper.yaml": "kind: Config\n",
    "rooms/arena.yaml": "replicas: 3  # läuft\r\n",
    "rooms/eu/duel.yaml": "replicas: 2\n",
}


def change(base: str, files: Mapping[str, bytes | None] | None = None, **more: Any) -> Change:
    """Make a change of the arena, of main where nothing else is said."""
    given: dict[str, Any] = {
        "branch": "main",
        "message": "Scale arena 3 -> 5\n\nAll rooms are occupied.\n",
        "author": AUTHOR,
        "at": AT,
        **more,
    }
    return Change(base, files=files or {"rooms/arena.yaml": b"replicas: 5\n"}, **given)
