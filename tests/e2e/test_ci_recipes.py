"""docs/ci.md does what it says: its commands are taken from the page and run."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.commands import commit, environment, fleet, git

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
SPEC = "schedulers/arena.yaml"
VARIABLES = {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def workflow(name: str) -> Any:
    return next(yaml.safe_load(text) for text in blocks("yaml") if f"# {name}" in text)


def shell_recipe() -> str:
    return blocks("sh")[0]


def github_recipe() -> str:
    steps = workflow(".github/workflows/fleet.yaml")["jobs"]["fleet"]["steps"]
    return "\n".join(step["run"] for step in steps if "run" in step and step["name"] != "Install")


def gitlab_recipe() -> str:
    return "\n".join(workflow(".gitlab-ci.yml")["fleet"]["script"])


def strict_recipe() -> str:
    return blocks("sh")[1]


RECIPES = {"shell": shell_recipe, "github": github_recipe, "gitlab": gitlab_recipe}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with `origin/main`, on a branch of its own."""
    origin = fleet(tmp_path / "origin")
    commit(origin, SPEC, "replicas: 2", "replicas: 20")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    git(tmp_path / "clone", "switch", "-q", "-c", "topic")
    return tmp_path / "clone"


def run(recipe: str, clone: Path) -> "subprocess.CompletedProcess[str]":
    return run_lines(RECIPES[recipe](), clone)


def run_lines(lines: str, clone: Path) -> "subprocess.CompletedProcess[str]":
    # As both CI systems do it: stop at the first command that fails.
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", lines],
        cwd=clone,
        env=environment(**VARIABLES),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_good_change_passes_and_is_shown(recipe: str, clone: Path) -> None:
    commit(clone, SPEC, "replicas: 20", "replicas: 21")
    done = run(recipe, clone)
    assert done.returncode == 0, done.stderr
    assert "1 room created" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES)
def test_no_change_passes(recipe: str, clone: Path) -> None:
    assert run(recipe, clone).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_broken_spec_fails_with_its_place(recipe: str, clone: Path) -> None:
    commit(clone, SPEC, "replicas: 20", "replicsa: 20")
    done = run(recipe, clone)
    assert done.returncode == 1
    assert SPEC in done.stdout
    assert "replicas" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_branch_of_counts_is_judged_beside_the_tracked_branch_and_not_the_authors(
    recipe: str, clone: Path
) -> None:
    config = clone / "gamekeeper.yaml"
    kept = config.read_text().partition("spec:")[0]
    for branch, code in (("topic/counts", 0), ("main/counts", 1)):
        config.write_text(f"{kept}spec: {{writeBack: {{branch: {branch}}}}}\n")
        git(clone, "commit", "--quiet", "--all", "--message", branch)
        done = run(recipe, clone)
        assert done.returncode == code, (branch, done.stdout, done.stderr)
    assert "main/counts" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_change_over_budget_passes_and_names_its_hash(recipe: str, clone: Path) -> None:
    commit(clone, SPEC, "replicas: 20", "replicas: 2")
    done = run(recipe, clone)
    assert done.returncode == 0, done.stderr
    assert re.search(r"(gamekeeper approve|refused until approved:) ?[0-9a-f]{12}", done.stdout)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rooms", "code", "told"),
    [pytest.param(2, 1, "may go without approval", id="over"), pytest.param(19, 0, "", id="less")],
)
def test_what_is_refused_fails_where_the_page_says_how(
    rooms: int, code: int, told: str, clone: Path
) -> None:
    commit(clone, SPEC, "replicas: 20", f"replicas: {rooms}")
    done = run_lines(strict_recipe(), clone)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr


def test_the_page_asks_for_whole_clones() -> None:
    checkout = workflow(".github/workflows/fleet.yaml")["jobs"]["fleet"]["steps"][0]
    assert checkout["with"]["fetch-depth"] == 0
    assert workflow(".gitlab-ci.yml")["fleet"]["variables"]["GIT_DEPTH"] == "0"


def test_what_is_installed_is_the_readers_own_copy_since_no_index_has_one() -> None:
    steps = workflow(".github/workflows/fleet.yaml")["jobs"]["fleet"]["steps"]
    (install,) = (step["run"] for step in steps if step.get("name") == "Install")
    (before,) = workflow(".gitlab-ci.yml")["fleet"]["before_script"]
    for line in (install, before):
        assert re.fullmatch(r'pip install "git\+\$\S*.*GAMEKEEPER_URL.*"', line), line
