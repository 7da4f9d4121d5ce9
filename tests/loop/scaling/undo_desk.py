"""A person before a repository whose numbers go back."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.cli.history import read_history
from reconciler.cli.log_reading import GitSide, Recorded
from reconciler.cli.undo_diff import Edited, edited
from reconciler.cli.undo_push import push_undo
from reconciler.cli.undo_search import found_undos
from reconciler.model.history import CountHistory
from reconciler.model.pushes import Person
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord
from reconciler.model.specs import Permissions
from tests.loop.compiler import InlineCompiler
from tests.loop.scaling.house import FILE
from tests.loop.world import CONFIG, spec

ADA = Person("Ada", "ada@studio.example")
POLICY = {"schedule": [{"replicas": 5}]}
MOVED = "schedulers/moved.yaml"


def arena(count: int, low: int = 2, name: str = "arena") -> str:
    return spec(name, count, autoscaling={"min": low, "max": 20, "policy": POLICY})


class Desk:
    """A repository with a person before it; `ours` are commits of Gamekeeper."""

    def __init__(self) -> None:
        self.host = MemoryHost()
        self.ours: list[str] = []
        self.path = ""
        self.values: tuple[str, ...] = ()
        self.host.commit({"gamekeeper.yaml": CONFIG, FILE: arena(3)}, "A fleet")

    def scale(self, *counts: int) -> str:
        for count in counts:
            self.ours.append(self.host.commit({FILE: arena(count)}, f"Scale arena to {count}"))
        return self.ours[-1]

    @property
    def recorded(self) -> Recorded:
        return Recorded(RepositoryRecord(pushed=tuple(self.ours)))

    def at(self, ask: Callable[[GitSide], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            repository = MemoryRepository(self.host, path=self.path)
            nothing = Reading("", None, {}, {}, (), (), ())
            compiler, allowed = InlineCompiler(), Permissions(values=self.values)
            side = GitSide(repository, repository, compiler, allowed, "main", "", nothing)
            await side.look()
            return await ask(side)

        return asyncio.run(main())

    def change(self, word: str, recorded: Recorded | None = None) -> Edited:
        async def ask(side: GitSide) -> Edited:
            return await edited(side, await found_undos(side, word, recorded or self.recorded))

        found = self.at(ask)
        assert isinstance(found, Edited)
        return found

    def past(self) -> list[tuple[int | None, int | None, str, bool | None]]:
        async def ask(side: GitSide) -> CountHistory:
            return await read_history(side, side.workload("arena"), self.recorded, 20)

        changes = self.at(ask).changes
        return [(each.before, each.after, str(each.source), each.ours) for each in changes]

    def push(self, word: str) -> str:
        async def ask(side: GitSide) -> str:
            async def again() -> Edited:
                return await edited(side, await found_undos(side, word, self.recorded))

            return (await push_undo(side, await again(), again, ADA)).commit

        return str(self.at(ask))

    def text(self) -> str:
        return self.host.commits[self.host.branches["main"]].files[FILE].decode()


MISTAKEN = arena(5).replace("min: 2", "min: two")
