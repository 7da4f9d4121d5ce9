"""What a person reads of a fleet: who leads, whether they see Git, and what still goes on."""

import json
from dataclasses import replace

import pytest

from reconciler.cli.ages import age
from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import Status
from reconciler.model.notifications import Trouble
from reconciler.model.records import RepositoryRecord
from reconciler.service.lookout import Sighting
from tests.unit.cli.screens import console, text_of

NOW = 1_000_000.0
UNSEEN = "    A process with --no-lease is not seen here: its log and metrics tell of it."
WELL = Sighting("loop-1", NOW - 2, 15.0, NOW - 12, 0.0, "", ahead_seconds=0.0)
BLIND = replace(WELL, looked_at=NOW - 600, blind_since=NOW - 300, error="no such branch: mian")


def said(seen: Sighting | None) -> str:
    screen = console()
    print_text(screen, Status(RepositoryRecord(), seen, ()), NOW)
    return text_of(screen.out)


@pytest.mark.parametrize(
    ("seen", "lines"),
    [
        pytest.param(WELL, ["led by loop-1", "last look at Git 12 s ago"], id="all is well"),
        pytest.param(
            BLIND,
            [
                "led by loop-1",
                "Git cannot be read since 1970-01-12T13:41:40Z (5 min): no such branch: mian",
                "    What was accepted stays wanted: rooms are healed and roll-outs go on; "
                "no new commit acts.",
                "last look at Git 10 min ago",
            ],
            id="Git cannot be read",
        ),
        pytest.param(
            replace(WELL, untold=(Trouble("chat", NOW - 120, "chat answers 503", 2),)),
            [
                "led by loop-1",
                "chat is not told since 1970-01-12T13:44:40Z (2 min): chat answers 503; "
                "2 messages given up",
                "last look at Git 12 s ago",
            ],
            id="somebody is not told",
        ),
        pytest.param(
            replace(WELL, holder="", renewed_at=0.0, looked_at=0.0),
            [
                "Nobody holds the Lease yet: a loop that has just started takes it within "
                "seconds; until one does,",
                "    rooms run on, and nothing is healed, scaled or rolled out. "
                "Start one: gamekeeper run",
            ],
            id="nobody ever led",
        ),
        pytest.param(
            replace(WELL, holder=""),
            [
                "No process leads: rooms run on, and nothing is healed, scaled or rolled out. "
                "Start one: gamekeeper run",
                UNSEEN,
                "last look at Git 12 s ago",
            ],
            id="nobody leads",
        ),
        pytest.param(
            replace(WELL, renewed_at=NOW - 40, looked_at=0.0),
            [
                "loop-1 led, and is silent for 40 s: rooms run on, and nothing is healed, scaled "
                "or rolled out until it or another one runs",
                UNSEEN,
            ],
            id="who led was killed",
        ),
        pytest.param(
            replace(WELL, renewed_at=NOW - 40, looked_at=0.0, ahead_seconds=None),
            [
                "loop-1 led, and is silent for 40 s by its own clock, which may be behind: rooms "
                "run on, and nothing is healed, scaled or rolled out until it or another one runs",
                UNSEEN,
            ],
            id="silent by a clock that may be wrong",
        ),
        pytest.param(
            replace(WELL, ahead_seconds=-3600.0),
            [
                "led by loop-1",
                "    its clock is 60 min behind the API server's: dates in Git are read by it",
                "last look at Git 12 s ago",
            ],
            id="whose clock is wrong leads",
        ),
        pytest.param(
            replace(WELL, ahead_seconds=59.0),
            ["led by loop-1", "last look at Git 12 s ago"],
            id="whose clock is nearly right",
        ),
        pytest.param(None, [], id="the Lease may not be read"),
    ],
)
def test_who_leads_and_what_they_see(seen: Sighting | None, lines: list[str]) -> None:
    assert said(seen).splitlines() == ["No commit was taken in yet.", *lines]


def test_data_say_the_same() -> None:
    told = json.loads(json.dumps(as_json(Status(RepositoryRecord(), BLIND, ()), NOW)))
    assert (told["leader"], told["leaderIsSilent"]) == ("loop-1", False)
    assert told["leaderClockAheadSeconds"] == 0.0
    assert told["git"] == {
        "lookedAt": "1970-01-12T13:36:40Z",
        "failingSince": "1970-01-12T13:41:40Z",
        "error": "no such branch: mian",
    }
    unknown = as_json(Status(RepositoryRecord(), None, ()), NOW)
    assert (unknown["leader"], unknown["git"]) == (None, None)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (59, "59 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (200_000, "2 d")],
)
def test_an_age_is_as_rough_as_one_wants_to_know_it(seconds: float, text: str) -> None:
    assert age(seconds) == text
