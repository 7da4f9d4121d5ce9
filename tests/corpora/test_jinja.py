"""Templates that want out, or never end: each ends in time, names itself, and harms nobody.

GAMEKEEPER_UPDATE_GOLDEN=1 rewrites `expected.txt`; read the difference before committing it.
"""

import json
import re
import time
from pathlib import Path

import pytest

from reconciler import assets
from reconciler.adapters.compiler.compiler import WorkerCompiler
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Misconfigured
from tests.contract.compiler_world import workload
from tests.corpora.playing import (
    EXPECTED,
    MADE,
    data_of,
    folders,
    held_to,
    told_of_template,
)
from tests.corpora.templates import ESCAPES, RUNAWAYS
from tests.scorecard import score

FILE = "pod.yaml.j2"
CASES = folders("jinja")
NORMAL_SECONDS = 0.02
"""Half of all normal renders are to take no longer."""
RAN_AWAY = re.compile(
    "took too long|used too much CPU time|needed too much memory|it nests too deep"
)
"""Which limit ends a runaway first is the machine's, and where its recursion does, Python's."""


async def _told(template: str, zygote: Zygote) -> str:
    compiler = WorkerCompiler(zygote, {**assets.templates(), FILE: template})
    try:
        rendered = await compiler.render([workload()], "prod")
    except Misconfigured as error:
        return RAN_AWAY.sub("ran away", str(error)) + "\n"
    (made,) = rendered.values()
    return json.dumps(json.loads(made.room), indent=1) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
async def test_what_comes_of_a_template_stands_beside_it(case: Path, zygote: Zygote) -> None:
    before = zygote.pid
    score(18, templates=1, not_as_expected=1)
    held_to(case / EXPECTED, await _told(data_of(case, FILE).decode("utf-8", "replace"), zygote))

    assert zygote.pid == before, "it ended more than its own worker"
    began = time.perf_counter()
    said = await _told(assets.templates()[FILE], zygote)
    took = time.perf_counter() - began
    assert '"kind": "Pod"' in said, "and others render"
    # By the clock of this machine: told, not judged.
    score(18, normal_renders=1, of_them_over_20_ms=took > NORMAL_SECONDS)
    score(18, most_ms_of_a_normal_render=round(1000 * took), not_as_expected=-1)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
async def test_no_template_of_a_repository_takes_a_room(case: Path, zygote: Zygote) -> None:
    """As that of a ConfigMap, for the pod's own is the operator's: rendered or refused."""
    said = await told_of_template(data_of(case, FILE), zygote)

    assert said.endswith("\n3 rooms of arena; of steady the same\n")
    score(18, committed_beside_full_rooms=1)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_holds_nothing_that_is_not_rendered(case: Path) -> None:
    assert {path.name for path in case.iterdir()} in ({FILE, EXPECTED}, {MADE, EXPECTED})


def test_there_are_cases_enough_of_each_kind() -> None:
    assert len(CASES) >= 50
    assert len(ESCAPES) >= 40
    assert len(RUNAWAYS) >= 10
    assert not ESCAPES & RUNAWAYS


@pytest.mark.parametrize("name", sorted(ESCAPES | RUNAWAYS))
def test_no_template_that_is_after_more_is_rendered(name: str) -> None:
    said = (Path(__file__).parent / "jinja" / name / EXPECTED).read_text(encoding="utf-8")

    assert said.startswith("templates/pod.yaml.j2:"), "it is refused"


def test_what_a_limit_ended_is_called_a_runaway() -> None:
    ended = {case.name for case in CASES if "ran away" in (case / EXPECTED).read_text()}

    assert len(ended) >= 10
    assert ended <= RUNAWAYS
