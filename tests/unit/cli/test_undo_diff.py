"""An undo shows the numbers that it changes, and nothing of what stands beside them."""

import json

import pytest

from reconciler.cli.undo_diff import Edited, print_diff
from reconciler.model.refs import WorkloadKey
from reconciler.model.undo import Undo
from tests.canaries.places import canary
from tests.unit.cli.screens import console, text_of

HUSH = canary("container value", "beside a count")
ENV = f'{{"name": "DB_PASSWORD", "value": "{HUSH}"}}'
BLOCK = f"spec:\n  template:\n    - value: {HUSH}\n  replicas: 5\n  banner: {HUSH}\n"


def undone(name: str, now: int, back: int, file: str = "a") -> Undo:
    return Undo(WorkloadKey("Fleet", name, name), "c0ffee", "main", file, now, back)


def shown(before: str, after: str, *undos: Undo) -> list[str]:
    screen = console()
    change = Edited(undos, "main", "base", False, {"a": before.encode()}, {"a": after.encode()})
    print_diff(screen, change)
    return text_of(screen.out).splitlines()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param(
            BLOCK,
            BLOCK.replace("5\n", "12\n"),
            ["--- a/a", "+++ b/a", "@@ -4 +4 @@", "-  replicas: 5", "+  replicas: 12"],
            id="a line of its own",
        ),
        pytest.param(
            "counts:\n  # a\n  Scheduler/arena: 5\n\n  # b\n  Fleet/duel: 7\n",
            "counts:\n  # a\n  Scheduler/arena: 2\n\n  # b\n  Fleet/duel: 8\n",
            [
                "--- a/a",
                "+++ b/a",
                "@@ -3 +3 @@",
                "-  Scheduler/arena: 5",
                "+  Scheduler/arena: 2",
                "@@ -6 +6 @@",
                "-  Fleet/duel: 7",
                "+  Fleet/duel: 8",
            ],
            id="lines of the file of counts",
        ),
        pytest.param(
            json.dumps({"env": HUSH, "spec": {"replicas": 5}}),
            json.dumps({"env": HUSH, "spec": {"replicas": 2}}),
            ["a:1: replicas: 5 -> 2"],
            id="JSON in one line",
        ),
        pytest.param(
            f"a: {{replicas: 5, env: [{ENV}]}}\nb: {{A: {{replicas: 3}}, B: {{replicas: 4}}}}\n",
            f"a: {{replicas: 6, env: [{ENV}]}}\nb: {{A: {{replicas: 10}}, B: {{replicas: 2}}}}\n",
            ["a:1: replicas: 5 -> 6", "a:2: replicas: 3 -> 10", "a:2: replicas: 4 -> 2"],
            id="flow style, two numbers in one line",
        ),
        pytest.param(
            f"  replicas: 5 # {HUSH}\n",
            f"  replicas: 2 # {HUSH}\n",
            ["a:1: replicas: 5 -> 2"],
            id="a comment behind it",
        ),
    ],
)
def test_no_word_beside_a_number_is_shown(before: str, after: str, said: list[str]) -> None:
    assert shown(before, after) == said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param(
            "\n{A: {replicas: 3}, B: {replicas: 4}}\n",
            "\n{A: {replicas: 10}, B: {replicas: 2}}\n",
            ["a:2: Fleet/one: replicas: 3 -> 10", "a:2: Fleet/two: replicas: 4 -> 2"],
            id="two that differ",
        ),
        pytest.param(
            "{A: {replicas: 5}, B: {replicas: 5}}",
            "{A: {replicas: 7}, B: {replicas: 7}}",
            ["a:1: replicas: 5 -> 7"] * 2,
            id="two that change alike",
        ),
    ],
)
def test_of_a_line_with_two_numbers_it_is_told_whose_they_are(
    before: str, after: str, said: list[str]
) -> None:
    undos = [undone("other", 3, 10, "b"), undone("one", 3, 10), undone("two", 4, 2)]
    undos += [undone("three", 5, 7), undone("four", 5, 7)]
    assert shown(before, after, *undos) == said


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("sign", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_lines_are_counted_as_editors_and_git_count_them(sign: str, end: str) -> None:
    before = f"# a{sign}b{end}replicas: 5{end}a: {{replicas: 7}}{end}"
    after = before.replace("5", "6").replace("7", "8")
    hunk = ["@@ -2 +2 @@", "-replicas: 5", "+replicas: 6"]
    assert shown(before, after) == ["--- a/a", "+++ b/a", *hunk, "a:3: replicas: 7 -> 8"]
