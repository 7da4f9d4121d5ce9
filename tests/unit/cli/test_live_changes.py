"""What `diff --live` prints of counts that were decided."""

import json

from reconciler.cli.live_changes import LiveChange, print_live
from reconciler.model.intents import Intent, Step
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import a_key

STEPS = Step(1.0, 3, 5, "buffer", "5 busy"), Step(9.0, 5, 3, "buffer", "3 busy")


def printed(intent: Intent, output: str) -> str:
    screen = console()
    print_live(screen, LiveChange("c" * 40, (), (), (), {}, {a_key(): intent}), output, "")
    return text_of(screen.out)


def test_a_count_that_git_has_is_not_on_its_way_there() -> None:
    """It is kept as long as a push of another one may still arrive."""
    back, waits = Intent(3, 3, STEPS), Intent(3, 5, STEPS[:1])
    assert printed(back, "text") == "commit cccccccccccc\nNothing to do.\n"
    assert printed(back, "github") == ""
    assert json.loads(printed(back, "json"))["intents"] == []
    assert "decided: Scheduler/arena 3 -> 5, on its way into Git (buffer" in printed(waits, "text")
