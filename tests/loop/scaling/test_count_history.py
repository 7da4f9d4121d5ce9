"""A number's past in the log: whoever changed it, wherever it stood."""

import asyncio
from collections.abc import Collection, Sequence

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.loop.commit_text import message_of
from reconciler.loop.count_history import ELDEST_ASKED, CountLog
from reconciler.model.history import CountHistory
from reconciler.model.intents import Intent, Step
from tests.loop.scaling.house import ARENA

FILE = "schedulers/arena.yaml"
UP, MORE = Step(100.0, 5, 7, "buffer", "busy"), Step(130.0, 7, 9, "buffer", "busier")


def spec(count: int | None, more: str = "") -> str:
    replicas = "" if count is None else f"  replicas: {count}\n"
    head = "apiVersion: gamekeeper.dev/v1\nkind: Scheduler\nmetadata: {name: arena}\n"
    return f"{head}spec:\n  game: arena\n{replicas}{more}"


def counts(count: int) -> str:
    head = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec:\n  counts:\n"
    return f"{head}    Scheduler/arena: {count}\n"


def read(
    host: MemoryHost,
    ours: Collection[str] | None = (),
    limit: int = 20,
    file: str = FILE,
    path: str = "",
    eldest: Sequence[str] = (),
) -> CountHistory:
    async def main() -> CountHistory:
        repository = MemoryRepository(host, path=path)
        head = await repository.fetch()
        log = CountLog(repository, ARENA, ("replicas.yaml", file), ours, eldest)
        return await log.read(head.commit, limit)

    return asyncio.run(main())


def numbers(history: CountHistory) -> list[tuple[int | None, int | None]]:
    return [(each.before, each.after) for each in history.changes]


@pytest.fixture
def host() -> MemoryHost:
    made = MemoryHost()
    made.commit({FILE: spec(3), "gamekeeper.yaml": "kind: Config\n"}, "A fleet")
    return made


def test_commits_that_leave_the_number_alone_are_no_part_of_it(host: MemoryHost) -> None:
    host.commit({FILE: spec(5)}, "five")
    host.commit({FILE: spec(5, "  suspend: true\n")}, "hold on")
    host.commit({"README.md": "hello"}, "words")
    history = read(host)
    assert numbers(history) == [(3, 5), (None, 3)]
    assert [each.logged.subject for each in history.changes] == ["five", "A fleet"]
    assert str(history.changes[0].source) == f"{FILE}:6"
    assert not history.cut


def test_ours_are_known_by_their_ids_and_tell_their_steps(host: MemoryHost) -> None:
    host.commit({FILE: spec(5)}, "five")
    text = message_of({ARENA: Intent(5, 9, (UP, MORE))}, "main")
    ours = host.commit({FILE: spec(9)}, text)
    newest = read(host, {ours}).changes[0]
    assert (newest.ours, newest.steps) == (True, (UP, MORE))
    forged = read(host, {"0" * 40}).changes[0]
    assert (forged.ours, forged.steps) == (False, ())
    unknown = read(host, None).changes[0]
    assert (unknown.ours, unknown.steps) == (None, (UP, MORE))


@pytest.mark.parametrize("lost", [0, ELDEST_ASKED])
def test_whose_a_commit_is_that_is_older_than_all_known_ids_is_not_said(
    host: MemoryHost, lost: int
) -> None:
    one, two = Step(50.0, 3, 5, "buffer", "first"), Step(60.0, 5, 6, "buffer", "then")
    host.commit({FILE: spec(5)}, message_of({ARENA: Intent(3, 5, (one,))}, "main"), now=50.0)
    known = host.commit(
        {FILE: spec(6)}, message_of({ARENA: Intent(5, 6, (two,))}, "main"), now=60.0
    )
    host.commit({FILE: spec(7)}, "A person's", now=70.0)
    eldest = (*(f"{number:040x}" for number in range(lost)), known)
    theirs, newer, older, _ = read(host, {known}, eldest=eldest).changes
    # Where none of the eldest ever landed it is not known of any other either.
    assert (theirs.ours, newer.ours, older.ours) == (None if lost else False, True, None)
    assert [step.reason for step in older.steps] == ["first"]


def test_a_message_that_says_other_numbers_than_the_file_is_not_believed(host: MemoryHost) -> None:
    text = message_of({ARENA: Intent(5, 9, (UP, MORE))}, "main")
    ours = host.commit({FILE: spec(90)}, text)
    newest = read(host, {ours}).changes[0]
    assert (newest.before, newest.after, newest.steps) == (3, 90, ())


def test_a_number_is_followed_into_the_file_that_it_came_from(host: MemoryHost) -> None:
    host.commit({FILE: spec(5)}, "five")
    moved = "schedulers/eu/arena.yaml"
    host.commit({FILE: None, moved: spec(5)}, "moved")
    host.commit({moved: spec(6)}, "six")
    host.commit({moved: None, "schedulers/all.yaml": spec(7)}, "moved, and more")
    history = read(host, file="schedulers/all.yaml")
    assert numbers(history) == [(6, 7), (5, 6), (3, 5), (None, 3)]


def test_a_copy_is_no_move(host: MemoryHost) -> None:
    host.commit({FILE: spec(5)}, "five")
    host.commit({FILE: spec(6), "staging/arena.yaml": spec(2)}, "a second fleet, like the first")
    history = read(host, file="staging/arena.yaml")
    assert numbers(history) == [(None, 2)]


def test_a_number_is_followed_into_the_file_of_counts_and_back(host: MemoryHost) -> None:
    host.commit({FILE: spec(None), "replicas.yaml": counts(3)}, "counts apart")
    host.commit({"replicas.yaml": counts(8)}, "eight")
    host.commit({"replicas.yaml": None, FILE: spec(8)}, "back")
    host.commit({FILE: spec(9)}, "nine")
    assert numbers(read(host)) == [(8, 9), (3, 8), (None, 3)]


def test_what_is_broken_for_a_while_is_told_as_no_number(host: MemoryHost) -> None:
    host.commit({FILE: spec(5) + "["}, "oops")
    host.commit({FILE: spec(5)}, "mended")
    assert numbers(read(host)) == [(None, 5), (3, None), (None, 3)]


def test_only_the_newest_are_read_and_that_there_are_more_is_told(host: MemoryHost) -> None:
    for count in range(4, 10):
        host.commit({FILE: spec(count)}, str(count))
    history = read(host, limit=2)
    assert (numbers(history), history.cut) == ([(8, 9), (7, 8)], True)
    assert not read(host, limit=7).cut


def test_paths_are_told_as_they_are_in_the_folder_that_is_read(host: MemoryHost) -> None:
    changes = read(host, file="arena.yaml", path="schedulers").changes
    assert str(changes[0].source) == "arena.yaml:6"
