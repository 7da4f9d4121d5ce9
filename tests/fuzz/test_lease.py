"""What stands on the Lease: whoever may write there writes what they like, and it is read or not.

It is read by commands, which print it, and by who leads next, who goes on from it.
"""

import io
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime

from reconciler.cli.console import Console
from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import Status, WorkloadStatus
from reconciler.core.sound_record import MOST_SECONDS
from reconciler.model import labels
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.outbox import EMPTY_OUTBOX
from reconciler.model.plans import Counts
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.service.lookout import Sighting, sighting_of
from reconciler.service.notifications.memory import Told
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search

NOW = 1_760_000_000.0
ARENA = WorkloadKey("Scheduler", "arena", "arena")
INTENT = Intent(10, 12, (Step(NOW, 10, 12, "webhook", "it wants 12"),), NOW)
AT = "2025-10-09T08:53:20Z"
NOTES: dict[str, Json | list[object]] = {
    labels.OUTBOX: {
        "commit": "c" * 40,
        "pushedAt": NOW - 60,
        "pushes": 3,
        "races": 1,
        "unrecorded": 1,
        "error": "the branch is protected",
        "failingSince": NOW - 600,
        "refused": [["Scheduler", "arena", "arena", "line 7: the number is an alias"]],
    },
    labels.NOTIFYING: [["chat", NOW - 60, "it answers 500", 2]],
    labels.LAST_LOOKS: [
        ["Scheduler", "arena", "arena", NOW - 5, NOW - 9, 4, 6, NOW + 60, ["it wants 4", "step"]]
    ],
    labels.TOLD: {"chat": {"0123456789ab": "ba9876543210", "hba9876543210": "0123456789ab"}},
}
TIMES = Forge([AT.encode(), b"0001-01-01T00:00:00+23:59"], (b"9999-12-31", b"-23:59", b"T24"), 300)
NUMBERS = (1e999, -1e999, float("nan"), 1e308, -1, 253_402_300_799, 2**63, "nan", "1e999", [1], AT)
MOST_BYTES = 64 * 1024
"""All annotations of a Lease have 256 KiB; beyond them no renewal is taken, and nobody leads."""
LONG = ("é" * 20_000, "x" * 60_000, [["a", 1, "b", 2]] * 500, "[" * 60_000)


def lease_of(chance: random.Random) -> bytes:
    """Return the notes on a Lease, and when who holds it and the API server say it was renewed."""
    long = LONG if chance.random() < 0.01 else ()
    notes = {
        name: written(altered(note, chance, (*NUMBERS, *long)), chance).decode("utf-8", "replace")
        if chance.random() < 0.6
        else json.dumps(note)
        for name, note in NOTES.items()
    }
    times = [
        TIMES(chance).decode("utf-8", "replace") if chance.random() < 0.3 else AT for _ in range(3)
    ]
    notes |= {labels.LOOKED_AT: times[0], labels.BLIND_SINCE: times[1], labels.BLIND_ERROR: "no"}
    renewed = datetime.fromtimestamp(chance.choice((NOW, NOW, NOW - 900, -6e10, 2e11)), UTC)
    return json.dumps([notes, renewed.isoformat(), times[2]]).encode()


def read_whole(data: bytes) -> None:
    """All that is taken can be told as text and as JSON, and is gone on from."""
    notes, renewed, taken = json.loads(data)
    entry = {"time": taken, "fieldsV1": {"f:spec": {"f:renewTime": {}}}}
    metadata = {"name": "main", "annotations": notes, "managedFields": [entry]}
    spec = {"holderIdentity": "a", "renewTime": renewed, "leaseDurationSeconds": 15}
    seen = sighting_of({"metadata": metadata, "spec": spec})

    assert all(0.0 <= at <= MOST_SECONDS for at in times_in(seen))
    record = StateRecord(scaling=Scaling(INTENT))
    arena = WorkloadStatus(ARENA, Counts(), "ready", (), (), "c" * 40, "", record=record)
    status = Status(RepositoryRecord(), seen, (arena,))
    screen = Console(io.StringIO(), io.StringIO())
    print_text(screen, status, NOW)
    json.dumps(as_json(status, NOW), allow_nan=False)
    gone_on_from(notes[labels.TOLD])


def times_in(seen: Sighting) -> Iterator[float]:
    """Yield every time of what is told."""
    yield from (seen.renewed_at, seen.looked_at, seen.blind_since)
    yield from (seen.outbox.pushed_at, seen.outbox.failing_since)
    yield from (each.since for each in seen.untold)
    for look in seen.last_looks.values():
        yield from (look.at, look.answered_at, look.again_at)


def gone_on_from(text: str) -> None:
    """What was told is written again so that an annotation holds it, and is read as the same."""
    told = Told()
    told.load(text)
    once = told.written()
    assert len(once.encode()) <= MOST_BYTES
    told.load(once)
    assert told.written() == once


def test_the_notes_that_are_changed_here_are_read_unchanged() -> None:
    notes = {name: json.dumps(note) for name, note in NOTES.items()}
    seen = sighting_of({"metadata": {"annotations": notes}})
    told = Told()
    told.load(notes[labels.TOLD])

    assert seen.outbox.pushes == 3
    assert seen.outbox != EMPTY_OUTBOX
    assert [each.name for each in seen.untold] == ["chat"]
    assert [look.replicas for look in seen.last_looks.values()] == [6]
    assert json.loads(told.written()) == NOTES[labels.TOLD]


def test_no_note_on_the_lease_is_too_much() -> None:
    search(Target("lease", 42_000, lease_of, read_whole))
