"""Which tests tell figures of the scorecard, read from their text: no test is imported for it.

A test tells what it, its fixtures or anything that these name tells by `score`. Of a class all its
methods count.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.campaign.pieces import Arguments

SCORE = ("tests.scorecard", "score")
SELECTS, MARKS = "-k", "-m"
Name = tuple[str, str]
"""A module, and a name in it."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """A test that tells figures."""

    path: str
    name: str

    def is_played_by(self, arguments: Arguments) -> bool:
        """Whether pytest would take all its cases, given these.

        Of `-k` only words with `or` between them are understood, which the name of the test has to
        have: that of one of its cases is not enough. Raises ValueError for others.
        """
        ends = [at for at, word in enumerate(arguments) if word in (SELECTS, MARKS)]
        paths = arguments[: min(ends, default=len(arguments))]
        if not any(self.path == path or self.path.startswith(f"{path}/") for path in paths):
            return False
        if SELECTS not in arguments:
            return True
        words = arguments[arguments.index(SELECTS) + 1].split(" or ")
        if not all(word.isidentifier() for word in words):
            raise ValueError(f"{words} are not words with `or` between them")
        return any(word in self.name for word in words)


@dataclass(slots=True)
class Text:
    """A module: what it defines, and what it has from others, by name."""

    defined: dict[str, ast.stmt] = field(default_factory=dict)
    taken: dict[str, Name] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Self:
        """Read it."""
        made = cls()
        for node in ast.parse(text).body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    made.defined[node.name] = node
                case ast.ImportFrom(module=str() as module):
                    for each in node.names:
                        made.taken[each.asname or each.name] = module, each.name
        return made


class Texts:
    """The modules from which figures are told, of a folder with tests."""

    def __init__(self, root: Path) -> None:
        files = (root / "tests").rglob("*.py")
        paths = {_module(path.relative_to(root)): path for path in sorted(files)}
        texts = {module: path.read_text(encoding="utf-8") for module, path in paths.items()}
        self._texts = {module: Text.of(texts[module]) for module in _near(texts)}
        self._paths = {module: paths[module].relative_to(root).as_posix() for module in self._texts}
        self._next: dict[Name, list[Name]] = {}

    def scoring(self) -> Iterator[Scoring]:
        """Yield each test that tells figures."""
        for module, text in self._texts.items():
            for name in text.defined:
                if name.startswith("test_") and self._tells((module, name)):
                    yield Scoring(self._paths[module], name)

    def _tells(self, name: Name) -> bool:
        left, seen = [name], {name}
        while left:
            at = left.pop()
            if at == SCORE:
                return True
            if at not in self._next:
                self._next[at] = list(self._named(at))
            fresh = [each for each in self._next[at] if each not in seen]
            seen.update(fresh)
            left += fresh
        return False

    def _named(self, name: Name) -> Iterator[Name]:
        """Yield what a function or class names; an argument is a fixture where there is one."""
        module, at = name
        for node in ast.walk(self._texts[module].defined[at]):
            match node:
                case ast.Name(id=word):
                    yield from self._found(module, word)
                case ast.arg(arg=word):
                    places = (module, *self._conftests(module))
                    found = (each for place in places for each in self._found(place, word))
                    yield from list(found)[:1]

    def _found(self, module: str, word: str) -> Iterator[Name]:
        text = self._texts[module]
        place, known = text.taken.get(word, (module, word))
        if place in self._texts and known in self._texts[place].defined:
            yield place, known

    def _conftests(self, module: str) -> Iterator[str]:
        parts = module.split(".")
        for length in range(len(parts) - 1, 0, -1):
            conftest = ".".join((*parts[:length], "conftest"))
            if conftest in self._texts:
                yield conftest


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def _near(texts: dict[str, str]) -> list[str]:
    """Return the modules that have anything from the scorecard, by whatever way."""
    near = {SCORE[0]}
    grown = True
    while grown:
        before = len(near)
        folders = tuple(
            name.removesuffix("conftest") for name in near if name.endswith(".conftest")
        )
        for module, text in texts.items():
            if module not in near and (
                module.startswith(folders) or any(f"from {name} import" in text for name in near)
            ):
                near.add(module)
        grown = len(near) > before
    return sorted(near)
