"""What a process spares itself, beside what it would have come to: the two must be the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from reconciler.core import plan as planning
from reconciler.kube.schemas import Schemas
from reconciler.loop.found import Found
from reconciler.loop.lane import Lane
from reconciler.model.plans import Plan, Situation
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears
from reconciler.service.rooms.book import Book

LATER = 4_000_000_000.0
"""Unix seconds: a plan that lasts is the plan at any time."""


@contextmanager
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make each plan that is recalled, and what is heard of a workload, from nothing too."""
    wrong: list[str] = []
    schemas: dict[WorkloadKey, Schemas] = {}
    gather, recall, of = Lane.situation, Found.recall, Book.of

    def gathered(lane: Lane, key: WorkloadKey) -> Situation:
        schemas[key] = lane.schemas
        return gather(lane, key)

    def recalled(memory: Found, situation: Situation) -> Plan | None:
        found = recall(memory, situation)
        # What failed is forgotten in time, and written then.
        if found is not None and not situation.record.failures:
            same = replace(situation, confirmed=found.confirmed)
            anew = planning.plan(same, schemas[situation.key], LATER)
            if found != anew:
                wrong.append(f"recalled {found}, and from nothing it is {anew}")
        return found

    def heard(book: Book, key: WorkloadKey) -> Ears:
        ears = of(book, key)
        lines = book.pages.of(key)
        anew = {uid: line.known for uid, line in lines.items() if line.known is not None}
        if book.listening and ears.rooms != anew:
            wrong.append(f"heard {ears.rooms}, and from nothing it is {anew}")
        return ears

    monkeypatch.setattr(Lane, "situation", gathered)
    monkeypatch.setattr(Found, "recall", recalled)
    monkeypatch.setattr(Book, "of", heard)
    yield
    assert not wrong, wrong[0]
