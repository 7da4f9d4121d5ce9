"""The number of one workload in any text: the right one, or none."""

import pytest

from reconciler.core.count_text import count_in, is_spoilt
from reconciler.model.refs import WorkloadKey

ARENA = WorkloadKey("Scheduler", "arena", "arena")
DUEL = WorkloadKey("Fleet", "eu", "duel")
SPEC = "apiVersion: gamekeeper.dev/v1\nkind: Scheduler\nmetadata: {name: arena}\nspec:\n"
FLEET = "apiVersion: gamekeeper.dev/v1\nkind: Fleet\nmetadata: {name: duel}\nspec:\n"
COUNTS = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec:\n  counts:\n"
VALUES = COUNTS.replace("Replicas", "Values").replace("counts", "workloads")


@pytest.mark.parametrize(
    ("text", "key", "count", "line"),
    [
        pytest.param(f"{SPEC}  replicas: 5\n", ARENA, 5, 5, id="in its spec"),
        pytest.param(
            f"{FLEET}  replicas: 1\n---\n{SPEC}  replicas: 5\n", ARENA, 5, 11, id="in the second"
        ),
        pytest.param(f"{COUNTS}    Scheduler/arena: 7\n", ARENA, 7, 5, id="in the file of counts"),
        pytest.param(f"{COUNTS}    Fleet/eu/duel: 7\n", DUEL, 7, 5, id="of a fleet, there too"),
        pytest.param(
            f"{VALUES}    Scheduler/arena:\n      replicas: 9\n",
            ARENA,
            9,
            6,
            id="in a file of values",
        ),
        pytest.param(f"{VALUES}    Scheduler/arena: 9\n", ARENA, None, 0, id="no values at all"),
        pytest.param(
            f"{FLEET}  namespace: eu\n  replicas: 3\n", DUEL, 3, 6, id="in a shared namespace"
        ),
        pytest.param(
            f"{SPEC}  replicas: 5\n  no such: property\n", ARENA, 5, 5, id="though it is invalid"
        ),
        pytest.param(f"{SPEC}  replicas: *n\n", ARENA, None, 0, id="an alias of nothing"),
        pytest.param(f'{SPEC}  replicas: "5"\n', ARENA, None, 0, id="a text"),
        pytest.param(f"{SPEC}  replicas: true\n", ARENA, None, 0, id="no number"),
        pytest.param(f"{SPEC}  game: arena\n", ARENA, None, 0, id="none is written"),
        pytest.param(f"{FLEET}  replicas: 3\n", DUEL, None, 0, id="one of another namespace"),
        pytest.param(f"{COUNTS}    Scheduler/other: 7\n", ARENA, None, 0, id="not listed"),
        pytest.param(f"{SPEC}  replicas: [", ARENA, None, 0, id="broken text"),
        pytest.param("- arena\n", ARENA, None, 0, id="a list"),
        pytest.param("kind: Scheduler\n# arena\n", ARENA, None, 0, id="nothing of ours"),
        pytest.param(
            f"{SPEC}  replicas: 5\n---\n{SPEC}  replicas: 6\n", ARENA, None, 0, id="two of them"
        ),
    ],
)
def test_a_number_is_found_or_not(
    text: str, key: WorkloadKey, count: int | None, line: int
) -> None:
    found = count_in("a.yaml", text.encode(), key)
    if count is None:
        assert found is None
    else:
        assert found is not None
        assert (found.count, str(found.source)) == (count, f"a.yaml:{line}")


def test_a_text_that_is_none_has_no_number() -> None:
    assert count_in("a.yaml", b"\xff\xfe arena", ARENA) is None


@pytest.mark.parametrize(
    ("text", "spoilt"),
    [
        pytest.param(f"{COUNTS}    Scheduler/arena: 7\n", False, id="it has a number"),
        pytest.param(f"{COUNTS}    Scheduler/other: 7\n", False, id="not listed"),
        pytest.param(f"{COUNTS}    Scheduler/other: x\n", False, id="another's mistake"),
        pytest.param(f"{COUNTS}    Scheduler/arena: x\n", True, id="no number"),
        pytest.param(f"{COUNTS}    Scheduler/arena: 7\n    Scheduler/arena: 7\n", True, id="twice"),
        pytest.param(f"{COUNTS}    Scheduler/other: [", True, id="broken text"),
        pytest.param(COUNTS.replace("v1", "v11"), True, id="another version"),
        pytest.param(COUNTS.partition("\n")[2], True, id="no version"),
        pytest.param(COUNTS.replace("counts", "count"), True, id="a mistyped property"),
        pytest.param(COUNTS, True, id="no counts behind their name"),
        pytest.param(f"{COUNTS}    Scheduler/Arena: 7\n", True, id="a mistyped name"),
        pytest.param(f"{COUNTS}    7: 7\n", True, id="a number for a name"),
        pytest.param(COUNTS.replace("counts:", "counts: {}"), False, id="none is listed"),
        pytest.param(COUNTS.partition("spec")[0], False, id="nothing is listed"),
        pytest.param("", True, id="nothing"),
        pytest.param("- arena\n", True, id="a list"),
        pytest.param(f"{SPEC}  replicas: 3\n", True, id="a spec"),
    ],
)
def test_a_file_of_counts_keeps_a_number_back_by_a_mistake(text: str, *, spoilt: bool) -> None:
    assert is_spoilt("replicas.yaml", text.encode(), ARENA) is spoilt
