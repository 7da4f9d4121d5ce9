"""The documents and policies that docs/scaling.md shows are valid as they stand there."""

import re
from pathlib import Path

import pytest
import yaml

from reconciler import assets
from reconciler.core.policies.reviews import request_of
from reconciler.core.schema_check import check
from reconciler.core.yaml_strict import parse_file
from reconciler.model.scaling import Bounds
from tests.unit.core.making import a_key
from tests.unit.core.policies.looks import a_load
from tests.unit.core.reading import SPEC, kit, read

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
_, _, TABLE = PAGE.partition("\n## Policies\n")
POLICIES = re.findall(r"^\|.*\| `(.*)` \|$", TABLE.partition("\n## ")[0], re.MULTILINE)


@pytest.mark.parametrize(("place", "kind"), [(0, "Scheduler"), (1, "Scheduler"), (2, "Config")])
def test_what_the_page_shows_is_valid(place: int, kind: str) -> None:
    (document,) = parse_file("page.yaml", SHOWN[place].encode()).documents
    assert document.value["kind"] == kind
    assert check(kit().kinds[kind], document.value) == []


def test_the_page_names_every_policy_once() -> None:
    names = [name for text in POLICIES for name in yaml.safe_load(text)]
    assert sorted(names) == sorted(assets.policy_schemas())


@pytest.mark.parametrize("policy", POLICIES, ids=lambda text: text.partition(":")[0])
def test_a_policy_is_shown_as_a_spec_may_have_it(policy: str) -> None:
    spec = yaml.safe_load(SPEC)
    bounds = {"min": 2, "max": 60, "policy": yaml.safe_load(policy)}
    fleet = {"kind": "Fleet", "metadata": {"name": "arena"}}
    del spec["spec"]["game"]
    spec |= fleet | {"spec": {**spec["spec"], "reports": "required", "autoscaling": bounds}}
    assert read({"schedulers/arena.yaml": yaml.safe_dump(spec)}).findings == ()


def test_the_page_names_what_a_webhook_is_told_of_the_rooms() -> None:
    load = request_of(a_key(), a_load(), Bounds(1, 2))["load"]
    (told,) = re.findall(r"`load` counts rooms (.*?)\. With `form", PAGE)
    assert set(load) == set(re.findall(r"`(\w+)`", told))
