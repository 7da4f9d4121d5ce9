"""What a person reads of counts that are on their way into Git, and of policies that wait."""

import json
from dataclasses import replace
from typing import Any

import pytest

from reconciler.cli.status_json import as_json
from reconciler.cli.status_text import print_text
from reconciler.cli.statuses import Status, WorkloadStatus
from reconciler.core import pauses
from reconciler.model.intents import Intent, Landing, Scaling, Step
from reconciler.model.last_looks import LastLook
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.model.pauses import Pause
from reconciler.model.plans import Counts
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.service.lookout import Sighting
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key

NOW = 1_000_000.0
KEY, OURS, THEIRS = a_key(), "ab" * 20, "cd" * 20
STEP = Step(NOW - 20, 5, 8, "fixedBuffer", "3 rooms with players and 5 more: 8 rooms")
WAITS = Scaling(intent=Intent(5, 8, (STEP,)))
HELD = Scaling(held_until=NOW + 720, held_by=THEIRS)
DEAF = Pause("DemandDoubted", "3 of 20 rooms are not heard", NOW - 90, NOW - 90)
DOWN = Outbox(error="no route to host", failing_since=NOW - 300)


def status(scaling: Scaling, outbox: Outbox = EMPTY_OUTBOX, **more: Any) -> Status:
    record = StateRecord(scaling=scaling, **more)
    workload = WorkloadStatus(KEY, Counts(), "ready", (), (), OURS, "a.yaml:4", record=record)
    seen = Sighting("loop-1", NOW - 2, 15.0, NOW - 12, 0.0, "", outbox)
    # What we are about to push is on record before: it says nothing of what arrived.
    return Status(RepositoryRecord(pushed=(THEIRS,)), seen, (workload,))


def said(shown: Status) -> list[str]:
    screen = console()
    print_text(screen, shown, NOW)
    return text_of(screen.out).splitlines()


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        pytest.param(
            status(WAITS, Outbox(OURS, NOW - 600, pushes=3, races=1)),
            [
                "1 count is on the way into Git, the oldest for 20 s",
                "last commit of ours abababababab, 10 min ago; 3 commits and 1 lost race since "
                "this process leads",
                "decided: Scheduler/arena 5 -> 8 by fixedBuffer 20 s ago: to be committed in "
                "40 s, with what is decided until then",
                "    3 rooms with players and 5 more: 8 rooms",
            ],
            id="a count waits for the quiet time",
        ),
        pytest.param(
            status(Scaling(), Outbox(OURS, NOW - 600, pushes=1, unrecorded=2)),
            [
                "last commit of ours abababababab, 10 min ago; 1 commit and 0 lost races since "
                "this process leads",
                "2 notes of commits not taken by our own records: the log says why",
            ],
            id="records of ours that somebody else writes",
        ),
        pytest.param(
            status(Scaling(intent=Intent(5, 7, (STEP,)))),
            [
                "decided: Scheduler/arena 5 -> 7 by fixedBuffer 20 s ago: to be committed in "
                "40 s, with what is decided until then",
                "    3 rooms with players and 5 more: 8 rooms; not 8, for the bounds have changed "
                "since",
            ],
            id="bounds that came later moved it",
        ),
        pytest.param(
            status(WAITS, DOWN),
            [
                "no commit comes into Git since 1970-01-12T13:41:40Z (5 min): no route to host",
                "    What was decided acts all the same; one commit catches up when Git takes it.",
                "decided: Scheduler/arena 5 -> 8 by fixedBuffer 20 s ago: no commit comes into Git",
            ],
            id="the host is down",
        ),
        pytest.param(
            status(HELD),
            [
                "paused: Scheduler/arena: the number was set by hand in cdcdcdcdcdcd; its policy "
                "waits until 1970-01-12T13:58:40Z (12 min)"
            ],
            id="a person set the number",
        ),
        pytest.param(
            status(Scaling(), conditions=(pauses.condition_of(DEAF),)),
            [
                "paused: Scheduler/arena: 3 of 20 rooms are not heard; since "
                "1970-01-12T13:45:10Z (90 s)"
            ],
            id="a policy that cannot tell",
        ),
    ],
)
def test_lines_about_scaling(shown: Status, lines: list[str]) -> None:
    found = said(shown)
    assert [line for line in lines if line not in found] == []


@pytest.mark.parametrize(
    ("holder", "renewed_at"),
    [
        pytest.param("", NOW - 2, id="given back"),
        pytest.param("loop-1", NOW - 60, id="run out"),
    ],
)
def test_the_last_words_of_who_leads_no_more_are_no_news(holder: str, renewed_at: float) -> None:
    outbox = replace(DOWN, commit=OURS, pushed_at=NOW - 600, refused={KEY: "line 7: an alias"})
    shown = status(WAITS, outbox)
    assert shown.seen is not None
    shown = replace(shown, seen=replace(shown.seen, holder=holder, renewed_at=renewed_at))
    lines = said(shown)
    assert not [line for line in lines if "no route to host" in line or "last commit" in line]
    assert [line for line in lines if "to be committed in 40 s" in line]
    assert [line for line in lines if "--no-lease" in line]
    landing = Landing(OURS, 8, STEP.at)
    sent = replace(status(replace(WAITS, landings=(landing,)), outbox), seen=shown.seen)
    assert [line for line in said(sent) if "was being pushed when" in line]
    unknown = replace(sent, seen=None)
    assert [line for line in said(unknown) if "its commit is being pushed" in line]
    found = as_json(shown, NOW)
    assert (found["writeBack"]["error"], found["writeBack"]["lastCommit"]) == ("", None)


def test_what_a_commit_told_already_waits_no_more() -> None:
    early = Step(NOW - 500, 4, 5, "fixedBuffer", "5 rooms")
    waits = Scaling(intent=Intent(5, 8, (early, STEP), told_at=early.at))
    shown = as_json(status(waits), NOW)
    assert shown["writeBack"]["oldestSeconds"] == 20.0
    (arena,) = shown["workloads"]
    assert arena["scaling"]["intent"]["since"] == "1970-01-12T13:46:20Z"


def looked(shown: Status, look: LastLook) -> Status:
    assert shown.seen is not None
    return replace(shown, seen=replace(shown.seen, last_looks={KEY: look}))


def test_what_keeps_a_count_from_what_its_policy_wants_is_told_in_a_line() -> None:
    limit = "60 is the most that was wanted within 300 s"
    look = LastLook(NOW - 4, NOW - 20, 2, 60, ("20, wanted 10 a room: 2 rooms", limit))
    shown = looked(status(Scaling()), look)
    told = f"limited: Scheduler/arena: its policy wanted 2 rooms 4 s ago, 60 decided: {limit}"
    assert told in said(shown)
    assert as_json(shown, NOW)["workloads"][0]["scaling"]["lastLook"]["advised"] == 2
    assert shown.seen is not None
    over = replace(shown, seen=replace(shown.seen, holder=""))
    for other in (over, looked(shown, replace(look, advised=60)), looked(status(HELD), look)):
        assert not [line for line in said(other) if line.startswith("limited:")]


def test_a_look_whose_reason_nobody_tells_is_told_all_the_same() -> None:
    shown = looked(status(Scaling()), LastLook(NOW - 4, NOW - 20, 2, 60, ()))
    told = (
        "limited: Scheduler/arena: its policy wanted 2 rooms 4 s ago, 60 decided: why is not told"
    )
    assert told in said(shown)


@pytest.mark.parametrize(
    ("advised", "replicas", "steps", "told"),
    [
        pytest.param(0, 2, ("0 rooms", "min: 2 rooms"), False, id="it rests at its min"),
        pytest.param(0, 2, ("0 rooms", "3 is the most", "min: 2 rooms"), False, id="and a window"),
        pytest.param(90, 60, ("90 rooms", "max: 60 rooms"), True, id="players may wait"),
        pytest.param(0, 5, ("min: as a stranger says",), True, id="the policy's own words"),
        pytest.param(0, 5, ("0 rooms", "min: 2 rooms", "a hold"), True, id="held above it"),
    ],
)
def test_a_policy_that_rests_at_its_min_is_no_news(
    advised: int, replicas: int, steps: tuple[str, ...], told: bool
) -> None:
    shown = looked(status(Scaling()), LastLook(NOW - 4, NOW - 20, advised, replicas, steps))
    assert any(line.startswith("limited:") for line in said(shown)) is told


def test_a_great_count_is_told_in_figures() -> None:
    look = LastLook(NOW - 4, NOW - 20, 1_000_000, 60, ("1000000 rooms", "max: 60 rooms"))
    assert any("wanted 1000000 rooms" in line for line in said(looked(status(Scaling()), look)))


def test_what_never_arrived_is_no_commit_of_ours() -> None:
    assert not [line for line in said(status(WAITS, DOWN)) if line.startswith("last commit")]


def test_a_trouble_that_holds_up_nothing_is_no_news() -> None:
    assert not [line for line in said(status(Scaling(), DOWN)) if "takes no commit" in line]


def test_where_git_is_not_written_nothing_is_on_its_way_there() -> None:
    config_json = json.dumps({"kind": "Config", "spec": {"writeBack": {"mode": "off"}}})
    shown = replace(status(WAITS, DOWN), repository=RepositoryRecord(config_json=config_json))
    lines = said(shown)
    assert not [line for line in lines if "on the way" in line or "no route to host" in line]
    ours = "decided: Scheduler/arena 5 -> 8 by fixedBuffer 20 s ago: it acts, and Git keeps its own"
    assert [line for line in lines if line.startswith(ours)]
    back = as_json(shown, NOW)["writeBack"]
    assert (back["mode"], back["waiting"], back["oldestSeconds"]) == ("off", 0, None)


def test_data_say_the_same() -> None:
    found = json.loads(json.dumps(as_json(status(replace(HELD, intent=WAITS.intent), DOWN), NOW)))
    assert found["writeBack"] == {
        "mode": "direct",
        "branch": None,
        "waiting": 1,
        "oldestSince": "1970-01-12T13:46:20Z",
        "oldestSeconds": 20.0,
        "lastCommit": None,
        "pushedAt": None,
        "pushes": 0,
        "races": 0,
        "unrecorded": 0,
        "failingSince": "1970-01-12T13:41:40Z",
        "error": "no route to host",
    }
    (arena,) = found["workloads"]
    assert arena["scaling"]["intent"] == {
        "from": 5,
        "to": 8,
        "policy": "fixedBuffer",
        "reason": STEP.reason,
        "since": "1970-01-12T13:46:20Z",
        "decidedAt": "1970-01-12T13:46:20Z",
        "stands": "failing",
        "why": "no commit comes into Git: no route to host",
    }
    assert arena["scaling"]["holds"] == [
        {
            "hold": "HumanHold",
            "reason": "the number was set by hand in cdcdcdcdcdcd",
            "commit": THEIRS,
            "since": None,
            "until": "1970-01-12T13:58:40Z",
        }
    ]
    nothing = as_json(status(Scaling()), NOW)["workloads"][0]["scaling"]
    assert nothing == {"intent": None, "holds": [], "lastLook": None}


def test_a_hold_that_is_over_is_not_told() -> None:
    over = replace(HELD, held_until=NOW)
    human = Pause("HumanHold", "the number was set by hand", NOW - 900, NOW - 900)
    shown = status(over, conditions=(pauses.condition_of(human),))
    assert not [line for line in said(shown) if line.startswith("paused:")]
