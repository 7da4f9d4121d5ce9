"""What tests of specs need: the kit, and small documents to break."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from reconciler import assets, registry
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake
from reconciler.core.read import read_tree
from reconciler.core.spec_kit import SpecKit
from reconciler.core.yaml_strict import parse_file
from reconciler.model.readings import Reading
from reconciler.model.refs import Json
from reconciler.model.specs import Permissions
from reconciler.model.trees import Tree
from tests.working_trees import entry_of

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\n"
SPEC = """\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata:
  name: arena
spec:
  game: arena
  replicas: 10
  reports: none
  template:
    spec:
      containers:
        - name: game
          image: registry.example.com/arena:1.4.2
"""


@cache
def kit() -> SpecKit:
    """Return the kit of the checkout, made once."""
    return SpecKit(
        assets.schemas(), assets.KubernetesDefinitions(), registry.policies(), assets.TimeZones()
    )


def document_of(text: str) -> Document:
    """Return the only document of a text."""
    (document,) = parse_file("a.yaml", text.encode()).documents
    return document


def pod(**properties: Any) -> Json:
    """Return a sound pod spec with some properties of its own."""
    return {"containers": [container()], **properties}


def container(**properties: Any) -> Json:
    """Return a sound container with some properties of its own."""
    return {"name": "game", "image": "registry.example.com/arena:1", **properties}


def loaded(text: str) -> Any:
    """Return a value from YAML, for tables that are easier to read that way."""
    return yaml.safe_load(text)


def tree_of(files: dict[str, str], commit: str = "c1") -> Tree:
    """Return a tree with these files."""
    directories = {
        "/".join(path.split("/")[:depth])
        for path in files
        for depth in range(1, path.count("/") + 1)
    }
    entries = {path: entry_of(text.encode()) for path, text in files.items()}
    return Tree(commit, entries, frozenset(directories))


def read(files: dict[str, str], permissions: Permissions | None = None) -> Reading:
    """Read files beside a plain gamekeeper.yaml."""
    tree = tree_of({"gamekeeper.yaml": CONFIG, **files})
    return read_tree(tree, permissions or Permissions(), kit())


def rules(mistakes: Any) -> set[tuple[str, str]]:
    """Return path and rule of each mistake."""
    found: set[tuple[str, str]] = set()
    for mistake in mistakes:
        assert isinstance(mistake, Mistake)
        found.add((".".join(map(str, mistake.path)), mistake.rule))
    return found


def paths_of(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a value, its own first."""
    yield at
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_of(inner, (*at, name))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a value with another one at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy
