"""One zygote for all cases of a corpus: none of them may end it, or use or open too much."""

from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from tests.corpora.bombs import BOMBS
from tests.corpora.used import MOST_MS_OF_A_BOMB, Workers

ROWS = {"test_repositories": 16, "test_yaml": 17, "test_jinja": 18}


@pytest.fixture(scope="package")
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    made.close()


@pytest.fixture(scope="package")
def watched(workers: Workers) -> Iterator[Zygote]:
    made = Zygote("tests.corpora.watched_nursery")
    made.start()
    yield made
    made.close()


@pytest.fixture
def zygote(watched: Zygote, workers: Workers, request: pytest.FixtureRequest) -> Iterator[Zygote]:
    """Return the zygote; what its workers used is counted by the corpus of the test."""
    yield watched
    row = ROWS[request.module.__name__.rpartition(".")[2]]
    workers.judge(row, MOST_MS_OF_A_BOMB if _is_bomb(request) else None)


def _is_bomb(request: pytest.FixtureRequest) -> bool:
    parameters = getattr(request.node, "callspec", None)
    case = parameters.params.get("case") if parameters else None
    return case is not None and case.parent.name == "yaml" and case.name in BOMBS
