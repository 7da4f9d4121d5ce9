"""What all corpora of planted defects have in common: a defect, and that a check catches it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.scorecard import score

Plant = Callable[[pytest.MonkeyPatch], None]
_PLANTED: set[Plant] = set()
"""Defects that were planted in this run: one that several checks catch is one defect."""


@contextmanager
def caught(plant: Plant, patch: pytest.MonkeyPatch, *errors: type[Exception]) -> Iterator[None]:
    """Plant a defect for a block that is to fail an assertion, or with one of `errors`."""
    plant(patch)
    score(7, planted_bugs=plant not in _PLANTED, missed=1)
    _PLANTED.add(plant)
    with pytest.raises((AssertionError, *errors)):
        yield
    score(7, missed=-1)
