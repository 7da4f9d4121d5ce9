"""The faults file: what its rules mean, and what is said of its mistakes."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.faults_file import FaultsFile, read_faults
from reconciler.sandbox.faults import Fault, Faults

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "faults").glob("*.yaml"))


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        pytest.param(
            "{verb: create, kind: Pod, name: a-*, every: 3, answer: 429, retryAfterSeconds: 2}",
            {
                "verbs": ("create",),
                "kind": "Pod",
                "name": "a-*",
                "every": 3,
                "status": 429,
                "retry_after_seconds": 2,
            },
            id="a code",
        ),
        pytest.param("{delaySeconds: 1.5}", {"delay_seconds": 1.5}, id="a delay alone"),
        pytest.param(
            "{answer: drop, applied: true, share: 0.5, seed: 4}",
            {"dropped": True, "executed": True, "share": 0.5, "seed": 4},
            id="a lost answer",
        ),
        pytest.param(
            "{answer: stale, times: 2, after: 1}",
            {"verbs": ("get", "list"), "stale_revisions": 10, "times": 2, "after": 1},
            id="a stale read",
        ),
        pytest.param(
            "{answer: cut, namespace: n}",
            {"verbs": ("watch",), "cut_after": 0, "namespace": "n"},
            id="a watch that is cut",
        ),
    ],
)
def test_a_rule_is_a_fault(rule: str, fault: dict[str, Any]) -> None:
    assert read_faults("f", f"- {rule}".encode()) == [Fault(**{"times": None, **fault})]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        pytest.param(
            "- verb: create\n  answr: 429\n", 'f:2:3: \\[0\\].answr: .*mean "answer"', id="a typo"
        ),
        pytest.param(
            "- answer: 200\n", r"f:1:11: \[0\].answer: must be at least 400", id="no error"
        ),
        pytest.param("- answer: drip\n", "f:1:11: .*or drop, stale or cut", id="an odd answer"),
        pytest.param("- verb: steal\n  answer: 429\n", "f:1:9: .*one of create", id="an odd verb"),
        pytest.param("- verb: get\n", "f:1:3: .*this rule does nothing", id="no answer"),
        pytest.param(
            "- verb: create\n  answer: stale\n", "f:1:9: .*for the verb get or list", id="a verb"
        ),
        pytest.param("- answer: cut\n  revisions: 3\n", "f:2:3: .*answer of stale", id="a stray"),
        pytest.param(
            "- kind: Pot\n  answer: 429\n", 'f:1:9: .*no kind "Pot" .*mean "Pod"', id="a kind"
        ),
        pytest.param("answer: 429\n", "f:1:1: must be a list", id="no list"),
        pytest.param("- {\n", "f:2:1: this is not YAML", id="no YAML"),
        pytest.param(
            "- share: 2\n  answer: 500\n- every: 0\n  answer: 500\n",
            "f:1:10: .*f:3:10: ",
            id="every mistake is told",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(written: str, told: str) -> None:
    with pytest.raises(Failure, match=told):
        read_faults("f", written.encode())


@pytest.mark.parametrize("written", ["", "# fair weather\n", "[]\n"])
def test_a_file_without_rules_is_fair_weather(written: str) -> None:
    assert read_faults("f", written.encode()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_without_mistakes(path: Path) -> None:
    assert read_faults(str(path), path.read_bytes())


async def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("- answer: 500\n- answer: 501\n")
    console = Console(io.StringIO(), io.StringIO())
    faults = Faults()
    opened = FaultsFile.open(str(file), faults, console)
    following = asyncio.create_task(opened.follow())
    faults.struck = 3
    await _until(file, "- answr: 500\n", lambda: "answr" in _said(console))
    assert [one.status for one in faults.planted] == [500, 501]
    await _until(file, "- answer: 429\n", lambda: len(faults.planted) == 1)
    await _until(file, "", lambda: not faults.planted)
    following.cancel()
    assert "2 rules for faults." in _said(console)
    assert "1 rule for faults; those before struck 3." in _said(console)
    assert "fair weather; those before struck 0." in _said(console)


async def _until(file: Path, text: str, condition: Callable[[], bool]) -> None:
    # As editors do: another file takes its place.
    other = file.with_suffix(".new")
    other.write_text(text)
    other.replace(file)
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"{text!r} was not read")


def _said(console: Console) -> str:
    assert isinstance(console.err, io.StringIO)
    return console.err.getvalue()
