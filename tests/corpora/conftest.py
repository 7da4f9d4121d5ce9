"""One zygote for all cases of a corpus: none of them may end it."""

from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.zygote import Zygote


@pytest.fixture(scope="package")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    made.start()
    yield made
    made.close()
