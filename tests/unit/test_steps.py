"""Every test is played by a step of CI, and by one alone; who adds a file need not think of it."""

import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.loop.rooms.seeds import FEW, seeds_of

ROOT = Path(__file__).parents[2]
FILES = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
CHOICES = {"test": "not real and not long", "long": "long and not real", "real": "real or paired"}
"""Which tests a step plays; together all, and none twice but the contract's side of the sandbox."""

ABOVE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}


@cache
def parts_of(step: str) -> tuple[tuple[str, ...], ...]:
    """Return what pytest is given by each part of a step, as make itself would start it."""
    # What a make above this test says (how many at once, by which pipe) is not for this one.
    environment = {name: said for name, said in os.environ.items() if name not in ABOVE}
    run = ["make", "--no-print-directory", "--dry-run", step]
    said = subprocess.run(
        run, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout
    lines = said.replace("\\\n", " ").splitlines()
    return tuple(
        tuple(shlex.split(line.partition(" -m pytest ")[2]))
        for line in lines
        if " -m pytest " in line
    )


def choice_of(part: tuple[str, ...]) -> str:
    return part[part.index("-m") + 1] if "-m" in part else ""


def files_of(part: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files that a part collects."""
    places = [Path(word) for word in part if word.startswith("tests")]
    ignored = [Path(word.partition("=")[2]) for word in part if word.startswith("--ignore=")]
    for file in FILES:
        within = [file, *file.parents]
        meant = not places or any(place in within for place in places)
        if meant and not any(place in within for place in ignored):
            yield file


def played(step: str) -> Counter[Path]:
    return Counter(file for part in parts_of(step) for file in files_of(part))


@pytest.mark.parametrize(("step", "choice"), CHOICES.items())
def test_a_step_plays_what_it_is_for(step: str, choice: str) -> None:
    assert {choice_of(part) for part in parts_of(step)} == {choice}


def test_every_file_is_in_one_part_of_make_test() -> None:
    assert played("test") == Counter(FILES)


def test_what_is_long_is_played_by_make_long_or_whole_by_make_rooms() -> None:
    whole = {
        file for part in parts_of("rooms") if "tests/fuzz" not in part for file in files_of(part)
    }

    assert played("long") == Counter(FILES - whole)


def test_make_real_plays_every_file() -> None:
    assert played("real") == Counter(FILES)


def test_a_part_of_make_rooms_chooses_nothing_and_plays_files_of_its_own() -> None:
    sweeps = [part for part in parts_of("rooms") if "tests/fuzz" not in part]

    assert {choice_of(part) for part in sweeps} == {""}
    assert set(played("rooms").values()) == {1, 2}
    assert max(Counter(file for part in sweeps for file in files_of(part)).values()) == 1


def test_ci_plays_every_step() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = re.findall(r"^run (\w+)$|^ *nice -n 19 make --no-print-directory (\w+)", script, re.M)

    assert {*CHOICES, "rooms"} <= {name for pair in steps for name in pair}


def test_ci_plays_three_hundred_seeds_and_make_test_thirty() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    meant = makefile.partition("rooms-weather: export GAMEKEEPER_SEEDS := ")[2].splitlines()[0]
    seeds, few = seeds_of(meant), seeds_of(FEW)

    assert len(few) == 30
    assert not set(few) & set(seeds), "CI plays both"
    assert set(range(300)) < {*few, *seeds}, "and some that each program has anew"
