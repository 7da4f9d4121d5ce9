"""The fuzzer finds what it is there to find, and finds it again."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests import scorecard
from tests.fuzz import playing
from tests.fuzz.forging import Forge, altered
from tests.fuzz.playing import ROW, Target, search
from tests.loop.shares import SETTING

SEED = b"kind: Scheduler\nspec:\n  replicas: 10\n"
TEXTS = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
"""Of all targets."""
FORGE = Forge([SEED, b"kind: Fleet\n"])


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Count nothing of what is planted here, and keep none of it."""
    monkeypatch.setattr(scorecard, "FIGURES", {})
    monkeypatch.setattr(playing, "KEPT", tmp_path)
    monkeypatch.setenv(SETTING, "1")


def chokes(data: bytes) -> None:
    if data.count(b"\n") > 3:
        raise KeyError(len(data))


def never_ends(data: bytes) -> None:
    if b"Fleet" in data:
        re.match(r"(x+x+)+y", "x" * 40)


def holds_no_hang_back(data: bytes) -> None:
    try:
        never_ends(data)
    except Exception:
        return


def test_what_a_parser_lets_out_is_told_with_its_number_and_its_input() -> None:
    target = Target("chokes", 200, FORGE, chokes)

    with pytest.raises(AssertionError) as told:
        search(target)

    number = int(re.findall(r"case (\d+)", str(told.value))[0])
    assert "KeyError" in str(told.value)
    with pytest.raises(KeyError):
        chokes(target.input_of(number))
    assert scorecard.FIGURES[ROW]["unhandled"] == 1


def test_one_case_is_played_again_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[bytes] = []
    target = Target("again", 1000, FORGE, played.append)
    monkeypatch.setenv(SETTING, "17/1000")
    search(target)

    assert played == [target.input_of(17)]


@pytest.mark.parametrize("play", [never_ends, holds_no_hang_back])
def test_what_does_not_end_is_ended_and_told(play: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "LONGEST_SECONDS", 0.05)
    assert callable(play)

    with pytest.raises(AssertionError, match="Hang"):
        search(Target("hangs", 20, FORGE, play))

    assert scorecard.FIGURES[ROW]["hangs"] >= 1


def test_a_share_is_of_the_same_cases_each_time_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SETTING, "10")
    played: list[bytes] = []
    for _ in range(2):
        search(Target("same", 1000, FORGE, played.append))

    assert played[:100] == played[100:]
    assert scorecard.FIGURES[ROW]["inputs"] == 200


def test_inputs_differ_from_their_seeds_and_from_each_other() -> None:
    inputs = [FORGE(random.Random(number)) for number in range(300)]

    assert len(set(inputs)) > 250
    assert inputs.count(SEED) < 10
    assert any(len(each) > 1000 for each in inputs), "some go on for long"


def test_values_change_in_their_types_and_names() -> None:
    value = {"spec": {"replicas": [1, 2], "name": "a"}}
    changed = [altered(value, random.Random(number)) for number in range(300)]

    assert value == {"spec": {"replicas": [1, 2], "name": "a"}}
    assert sum(isinstance(each, dict) and "spec" in each for each in changed) > 50
    assert sum(each == value for each in changed) < 30


def test_no_two_targets_share_a_name() -> None:
    # By it a case is made, kept and played again.
    named = Counter(re.findall(r'\bTarget\(\s*"([^"{]+)"', TEXTS))
    assert len(named) > 40
    assert [name for name, times in named.items() if times > 1] == []


def test_what_was_found_once_is_played_with_its_target() -> None:
    for path in (path for path in playing.FOUND.rglob("*") if path.is_file()):
        assert path.suffix == ".yaml", f"{path} is found by nobody"
        assert f'Target("{path.parent.name}", ' in TEXTS, f"{path} is of no target"
        target = Target(path.parent.name, 1, FORGE, chokes)
        assert path.stem in dict(target.found())
