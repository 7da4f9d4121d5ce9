"""A loop that listens nowhere, and rooms that should report to it: people are told what to do."""

from pathlib import Path

import pytest

from tests.e2e.commands import gamekeeper
from tests.e2e.processes import fleet, until
from tests.loop.world import CONFIG, spec

pytestmark = pytest.mark.long

ADVICE = "until it is started with --rooms-listen"


def test_whoever_should_be_heard_is_held_by_name_and_nobody_else(tmp_path: Path) -> None:
    with fleet(tmp_path) as made:
        made.commit(
            gamekeeper=CONFIG,
            schedulers__arena=spec("arena", 1, reports="required"),
            schedulers__mute=spec("mute", 1),
        )
        made.start_loop()
        flags = ("--kubeconfig", str(made.kubeconfig), "--instance", "main")
        until("the log tells it", lambda: ADVICE in made.log(), 30.0)
        until("a room comes all the same", lambda: made.pods("arena"), 30.0)
        # What is logged stands on the record a moment later.
        until(
            "status tells it",
            lambda: ADVICE in gamekeeper("status", *flags, cwd=tmp_path).stdout,
            30.0,
        )
        status = gamekeeper("status", *flags, cwd=tmp_path).stdout
        explained = gamekeeper("explain", "arena-0", *flags, cwd=tmp_path).stdout
    assert ADVICE in status
    assert ADVICE in explained
    assert made.log().count(ADVICE) == 1
    assert "workload=Scheduler/arena" in made.log()
    assert status.count("(deaf)") == 1
