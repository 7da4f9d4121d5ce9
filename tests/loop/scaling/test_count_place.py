"""Where a number stands that was taken in: only what says that number is named."""

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.cli.count_reading import place_of
from reconciler.model.records import Accepted, RepositoryRecord
from tests.loop.scaling.house import ARENA, FILE

HEAD = "apiVersion: gamekeeper.dev/v1\n"
SPEC = HEAD + "kind: Scheduler\nmetadata: {name: arena}\nspec:\n  replicas: 2\n"
COUNTS = HEAD + "kind: Replicas\nspec:\n  counts:\n    Scheduler/arena: 5\n"


@pytest.mark.parametrize(
    ("replicas", "apart", "fetched", "place"),
    [
        pytest.param(2, False, True, f"{FILE}:5", id="in its spec"),
        pytest.param(5, True, True, "counts:replicas.yaml:5", id="on a branch of counts"),
        pytest.param(
            5,
            True,
            False,
            "",
            id="on a branch that this checkout does not have",
        ),
        pytest.param(2, True, False, f"{FILE}:5", id="in its spec, though there is such a branch"),
        pytest.param(7, False, True, "", id="nowhere that this checkout knows"),
    ],
)
async def test_the_place_of_a_number(replicas: int, apart: bool, fetched: bool, place: str) -> None:
    host = MemoryHost()
    tracked = host.commit({FILE: SPEC})
    host.branch("counts", tracked)
    counts = host.commit({"replicas.yaml": COUNTS}, branch="counts")
    repository = MemoryRepository(host)
    await repository.fetch()
    if fetched:
        await repository.tip("counts")
    known = RepositoryRecord(commit=tracked, counts_commit=counts if apart else "")
    accepted = Accepted("{}", replicas, tracked, FILE, 1)
    assert await place_of(repository, known, "counts", ARENA, accepted) == place
