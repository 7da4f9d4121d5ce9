"""What the Lease says of our commits is what became of them."""

import pytest

from reconciler.loop.landing import Landed
from reconciler.model import labels
from reconciler.model.edits import Edit, Refusal
from reconciler.model.errors import Denied, RecordChanged, Unavailable
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.service.lookout import sighting_of
from reconciler.service.outbox import LONGEST_ERROR, OutboxNotes, outbox_of
from tests.unit.core.making import a_key
from tests.unit.service_views.scripted import VirtualClock

KEY, COMMIT = a_key(), "ab" * 20
ALIAS = Refusal(Edit(KEY, ("spec", "replicas"), 5), 7, "the number is an alias")


def read_back(notes: OutboxNotes) -> Outbox:
    return outbox_of(notes.notes())


def test_before_the_first_commit_nothing_is_said() -> None:
    assert OutboxNotes(VirtualClock()).notes() == {}
    assert sighting_of(None).outbox == EMPTY_OUTBOX


def test_commits_and_races_are_counted() -> None:
    clock = VirtualClock()
    notes = OutboxNotes(clock)
    notes.raced()
    notes.unrecorded(RecordChanged("by a hand"))
    notes.landed(Landed(COMMIT))
    clock.at += 60
    notes.landed(Landed(COMMIT[::-1]))
    assert read_back(notes) == Outbox(COMMIT[::-1], clock.at, pushes=2, races=1, unrecorded=1)


def test_a_trouble_stands_from_its_first_time_until_a_commit_lands() -> None:
    clock = VirtualClock()
    notes = OutboxNotes(clock)
    notes.unlanded(Unavailable("no route to host"))
    clock.at += 60
    notes.unlanded(Denied("the branch is protected"))
    seen = read_back(notes)
    assert (seen.error, seen.failing_since) == ("the branch is protected", clock.at - 60)
    notes.landed(Landed(COMMIT))
    assert (read_back(notes).error, read_back(notes).failing_since) == ("", 0.0)


def test_what_cannot_be_written_is_named_with_its_line_until_it_can_be() -> None:
    notes = OutboxNotes(VirtualClock())
    notes.landed(Landed(refused=(ALIAS,)))
    assert read_back(notes).refused == {KEY: "line 7: the number is an alias"}
    assert read_back(notes).pushes == 0
    notes.landed(Landed(COMMIT))
    assert read_back(notes).refused == {}


@pytest.mark.parametrize("landed", [Landed(), Landed(refused=(ALIAS,))], ids=["no", "only such"])
def test_where_nothing_waits_for_the_host_nothing_fails(landed: Landed) -> None:
    notes = OutboxNotes(VirtualClock())
    notes.landed(Landed(COMMIT, refused=(ALIAS,)))
    notes.unlanded(Unavailable("no route to host"))
    notes.landed(landed)
    seen = read_back(notes)
    assert (seen.error, seen.failing_since) == ("", 0.0)
    assert list(seen.refused) == [each.edit.where for each in landed.refused]
    assert (seen.commit, seen.pushes) == (COMMIT, 1), "nothing was pushed meanwhile"


def test_no_error_is_longer_than_a_screen() -> None:
    notes = OutboxNotes(VirtualClock())
    notes.unlanded(Denied("x" * 5000))
    assert len(read_back(notes).error) == LONGEST_ERROR


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("soon", id="no JSON"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("[]", id="no object"),
        pytest.param('{"commit": "a"}', id="fields are missing"),
        pytest.param(
            '{"commit":"a","pushedAt":Infinity,"pushes":0,"races":0,"error":"","failingSince":0,'
            '"refused":[]}',
            id="a time that never comes",
        ),
        pytest.param(
            '{"commit":"a","pushedAt":0,"pushes":Infinity,"races":0,"error":"","failingSince":0,'
            '"refused":[]}',
            id="pushes without end",
        ),
    ],
)
def test_what_somebody_else_wrote_there_is_nothing(text: str) -> None:
    assert outbox_of({labels.OUTBOX: text}) == EMPTY_OUTBOX
