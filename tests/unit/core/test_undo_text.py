"""The message of a commit that takes numbers back."""

from reconciler.core.commit_steps import believed, told_of
from reconciler.core.undo_text import message_of
from reconciler.model.refs import WorkloadKey
from reconciler.model.undo import Undo

COMMIT = "0a1b2c3d4e5f" + "0" * 28


def undo(name: str) -> Undo:
    return Undo(WorkloadKey("Scheduler", name, name), COMMIT, "main", f"{name}.yaml", 12, 8)


def test_one_number_stands_in_the_first_line() -> None:
    assert message_of([undo("arena")]).splitlines() == [
        "Undo 0a1b2c3d4e5f: arena back to 8",
        "",
        "Scheduler/arena: 12 -> 8",
        "",
        f"What commit {COMMIT} did to numbers is taken back.",
    ]


def test_many_are_counted_there() -> None:
    lines = message_of([undo(f"arena-{n}") for n in range(20)]).splitlines()
    assert lines[0] == "Undo 0a1b2c3d4e5f: 20 counts"
    assert len(lines) == 24


def test_it_passes_for_no_decision_of_ours() -> None:
    body = message_of([undo("arena")]).partition("\n")[2]
    assert believed(told_of(body, undo("arena").key), 12, 8) == ()
