"""A mistake gets the place of its value, or of its key where the key is wrong."""

import pytest

from reconciler.core.mistakes import Mistake
from tests.unit.core.reading import document_of


@pytest.mark.parametrize(("at_key", "column"), [(True, 3), (False, 13)])
def test_a_mistake_gets_its_place(at_key: bool, column: int) -> None:
    document = document_of("spec:\n  replicas: ten\n")

    found = document.finding(Mistake(("spec", "replicas"), "wrong", "fix", "rule", at_key))

    assert (found.file, found.line, found.column) == ("a.yaml", 2, column)
    assert (found.path, found.message, found.fix) == ("spec.replicas", "wrong", "fix")
