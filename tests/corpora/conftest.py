"""One zygote for all cases of a corpus: none of them may end it, or use or open too much."""

from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from tests.corpora.used import Workers

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
    workers.judge(ROWS[request.module.__name__.rpartition(".")[2]])
