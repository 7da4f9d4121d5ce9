"""docs/objects.md says what there is: kinds, names, filters, and its example."""

import re
from dataclasses import replace
from pathlib import Path

from reconciler.adapters.compiler.context import context_of
from reconciler.adapters.compiler.environment import TemplateEnvironment
from reconciler.core.grants import Needs, cluster_rules
from reconciler.core.own_objects import ADDED
from reconciler.model.additional import KINDS
from reconciler.settings import Settings
from reconciler.wiring.permits import content_kinds_of
from tests.contract.compiler_world import workload

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "objects.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_its_object_is_the_one_of_the_example() -> None:
    folder = ROOT / "examples" / "good" / "objects-beside-the-rooms" / "objects" / "arena"
    assert BLOCKS[0] == (folder / "configmap.yaml.j2").read_text(encoding="utf-8")


def test_what_it_adds_to_ours_the_example_does() -> None:
    folder = ROOT / "examples" / "good" / "more-on-objects-of-ours" / "objects" / "arena"
    assert BLOCKS[1] == (folder / "serviceaccount.yaml.j2").read_text(encoding="utf-8")


def test_it_names_all_that_may_be_added_to_ours() -> None:
    rows = re.findall(
        r"^\| `(\w+)`(?:, of a Scheduler alone)? \| .* \| (.*) \|$", PAGE, re.MULTILINE
    )
    told = {kind: tuple(re.findall(r"`(\w+)`", added)) for kind, added in rows if kind in ADDED}
    assert told == ADDED


def test_what_it_leaves_to_others_the_example_does() -> None:
    folder = ROOT / "examples" / "good" / "fields-of-others" / "schedulers"
    assert BLOCKS[2] in (folder / "arena.yaml").read_text(encoding="utf-8")


def test_it_names_the_kinds_that_can_be_allowed_and_no_other() -> None:
    (listed,) = re.findall(r"lists kinds of (.*?);", PAGE)
    assert re.findall(r"`(\w+)`", listed) == sorted(KINDS)


def test_what_it_says_templates_see_is_there() -> None:
    context = context_of(workload(), "main")
    named = re.findall(r"^\| `([a-z]+)` \| (.*) \|$", PAGE, re.MULTILINE)
    assert {name for name, _ in named} <= context.keys()
    (of_workload,) = (text for name, text in named if name == "workload")
    assert re.findall(r"`(\w+)`", of_workload) == list(context["workload"])


def test_it_names_every_filter() -> None:
    (listed,) = re.findall(r"^and the filters (.*)\.$", PAGE, re.MULTILINE)
    assert re.findall(r"`(\w+)`", listed) == sorted(TemplateEnvironment().filters)


def test_what_it_has_copied_the_example_does() -> None:
    folder = ROOT / "examples" / "good" / "copied-pull-secret" / "schedulers"
    shown = [each for each in BLOCKS if each in (folder / "arena.yaml").read_text(encoding="utf-8")]
    assert len(shown) == 1


def secrets_listed(settings: Settings) -> bool:
    needs = Needs("gamekeeper", ("", ""), contents=content_kinds_of(settings))
    rules = cluster_rules(replace(needs, copies=("shared/registry-pull",)))
    return any("secrets" in each.get("resources", ()) and "list" in each["verbs"] for each in rules)


def test_with_the_kinds_that_it_names_an_account_may_list_no_secrets() -> None:
    (named,) = re.findall(r"`--namespace-content-kinds (\S+)`", PAGE)
    without = Settings(namespace_content_kinds=tuple(named.split(",")))
    assert secrets_listed(Settings())
    assert not secrets_listed(without)
    left_out = {*content_kinds_of(Settings())} - {*content_kinds_of(without)}
    assert left_out == {("v1", "Secret")}
