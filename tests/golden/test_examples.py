"""Every example is a test: good ones have nothing to find, bad ones have exactly what they say.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `expected.txt`; read the difference before committing it.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.core.messages import as_text
from reconciler.model.additional import OWN
from reconciler.model.readings import Reading
from reconciler.model.specs import Permissions
from tests.loop.compiler import read_whole
from tests.working_trees import tree_of

EXAMPLES = Path(__file__).parents[2] / "examples"
UPDATE = os.environ.get("GAMEKEEPER_UPDATE_GOLDEN") == "1"
GOOD = sorted(path for path in (EXAMPLES / "good").iterdir() if path.is_dir())
BAD = sorted(path for path in (EXAMPLES / "bad").iterdir() if path.is_dir())


ALLOWED = Permissions(
    kinds=("ResourceQuota", "NetworkPolicy", "ConfigMap", "RoleBinding", *OWN),
    instance="main",
    copy_from=("shared",),
)


VALUES = "environments/eu-prod.yaml"


def read(folder: Path) -> Reading:
    values = (VALUES,) if (folder / VALUES).exists() else ()
    return read_whole(tree_of(folder), replace(ALLOWED, values=values))


def told(reading: Reading) -> str:
    """What `validate` prints, and what is held because of it."""
    lines = [as_text(finding) for finding in reading.findings]
    lines += [f"held: {key}" for key in reading.invalid]
    lines += [f"unreadable: {file}" for file in reading.unreadable]
    lines += [] if reading.config is not None else ["held: the whole commit"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("folder", GOOD, ids=lambda path: path.name)
def test_a_good_example_has_nothing_to_find(folder: Path) -> None:
    reading = read(folder)

    assert [as_text(finding) for finding in reading.findings] == []
    assert reading.workloads
    assert reading.config is not None


@pytest.mark.parametrize("folder", BAD, ids=lambda path: path.name)
def test_a_bad_example_has_exactly_the_mistakes_it_says(folder: Path) -> None:
    reading = read(folder)
    found = told(reading)
    expected = folder / "expected.txt"
    if UPDATE:
        expected.write_text(found, encoding="utf-8")

    assert reading.findings
    assert [as_text(each) for each in reading.findings if not each.fix] == []
    assert found == expected.read_text(encoding="utf-8")


def test_there_are_examples_enough() -> None:
    assert len(GOOD) >= 5
    assert len(BAD) >= 25


@pytest.mark.parametrize("folder", GOOD + BAD, ids=lambda path: path.name)
def test_the_editor_line_of_an_example_leads_to_a_schema(folder: Path) -> None:
    for path in folder.rglob("*.yaml"):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        if path.is_symlink() or first.startswith("version https://git-lfs"):
            continue
        assert first.startswith("# yaml-language-server: $schema="), path
        assert (path.parent / first.partition("=")[2]).is_file(), path
