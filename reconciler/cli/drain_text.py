"""What `gamekeeper drain` says: which rooms leave now, which at the end of their matches."""

from collections.abc import Iterator, Sequence
from typing import Any

from reconciler.cli.console import Console
from reconciler.cli.deadlines import end_text
from reconciler.cli.leavers import Asked, Course
from reconciler.cli.output import print_json, print_yaml
from reconciler.cli.reading import counted
from reconciler.cli.room_detail import WHY
from reconciler.model.printable import escaped
from reconciler.model.rooms import Mark, Why


def print_asked(console: Console, output: str, asked: Sequence[Asked], node: str) -> None:
    """Print a line a room and a sum, as `text`, `json` or `yaml`."""
    if output == "text":
        for line in _lines(asked, node):
            console.print(escaped(line))
        return
    value = {"node": node or None, "rooms": [_as_json(each) for each in asked]}
    print_json(console, value) if output == "json" else print_yaml(console, [value])


def _as_json(asked: Asked) -> dict[str, Any]:
    return {
        "name": asked.pod.name,
        "namespace": asked.pod.namespace,
        "course": asked.course.value,
        "mark": asked.pod.mark.value or None,
        "error": asked.error or None,
    }


def _lines(asked: Sequence[Asked], node: str) -> Iterator[str]:
    if not asked:
        yield f"No room runs on {node}."
    for each in asked:
        yield f"{each.name} {_said(each)}"
    if len(asked) < 2:
        return
    now, later = _number(asked, Course.DRAINING), _number(asked, Course.WHEN_EMPTY)
    if now or later:
        drain = f"{counted(now, 'room')} draining now"
        yield f"{drain}, {later} to leave once known to be empty."


def _number(asked: Sequence[Asked], course: Course) -> int:
    return sum(each.course is course for each in asked)


def _said(asked: Asked) -> str:
    if asked.course is Course.WHEN_EMPTY:
        return _stays(asked)
    return {
        Course.DRAINING: "drains: nobody is sent there any more, and it goes once known empty",
        Course.STAYS: _back(asked),
        Course.LEAVES: _all_the_same(asked),
        Course.GONE: "is being deleted already, or is gone",
        Course.FAILED: f"was not reached: {asked.error}",
    }[asked.course]


def _stays(asked: Asked) -> str:
    if asked.busy:
        left = asked.ends_in_seconds
        end = "" if left is None else f", or is {end_text(left)}"
        return f"is {asked.pod.mark}: it stays to the end, and leaves then{end}"
    if asked.pod.mark is Mark.FAILED:
        return "has failed, and leaves"
    return "is to leave once it is known to be empty"


def _back(asked: Asked) -> str:
    if asked.pod.mark is Mark.FAILED:
        return "has failed, and stays for a post-mortem"
    return (
        "stays until the roll-out takes it: it is of an old revision" if asked.outdated else "stays"
    )


def _all_the_same(asked: Asked) -> str:
    """Say why a room leaves that nobody asks to leave any more."""
    when = ", once nobody plays there" if asked.busy else ""
    why = asked.pod.leaving or Why.LEFT_GIT  # the pod does not say so yet
    undo = "" if why is Why.FAILED else ", and only a commit takes that back"
    return f"leaves all the same{when}: {WHY[why]}{undo}"
