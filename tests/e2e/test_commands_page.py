"""README.md and docs/commands.md do what they say: their lines are typed as they stand there."""

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import environment

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "commands.md"
EXITS = re.compile(r"^(.*?)\s+# exits (\d)$")


def lines_of(page: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def script_of(lines: list[str]) -> str:
    """Return the lines as one script that stops where one of them exits otherwise than it says."""
    script = ["trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"]
    for line in lines:
        found = EXITS.match(line)
        command, code = found.groups() if found else (line, "0")
        script.append(command)
        if not command.endswith("&"):
            said = shlex.quote(f"{command}: exits otherwise than with {code}")
            script.append(f"[ $? = {code} ] || {{ echo {said}; exit 99; }}")
    return "\n".join(script)


def typed(lines: list[str], folder: Path, **more: str) -> str:
    """Type lines of a page in a folder; return what they print, errors among it."""
    with subprocess.Popen(
        ["bash", "-u", "-c", script_of(lines)],
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(timeout=400)
        except subprocess.TimeoutExpired:
            shell.send_signal(signal.SIGTERM)
            raise
    assert shell.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return typed(lines_of(PAGE), folder, XDG_CACHE_HOME=str(folder / "cache"))


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("spec.replicas: 2 -> 20", id="an offline diff shows fields"),
        pytest.param("+ 20 rooms", id="a live diff counts rooms"),
        pytest.param("20 rooms created, 20 of 20 ready", id="apply makes them"),
        pytest.param("faults.yaml: 1 rule for faults.", id="a storm begins under the sandbox"),
        pytest.param("Nothing to do.", id="what is as wanted is left alone"),
        pytest.param("gamekeeper approve bd7085a350de", id="a refusal names the hash to approve"),
        pytest.param("hold: over-budget", id="status says why"),
        pytest.param("local Scheduler arena/arena scale-in to=2", id="approve says what goes"),
        pytest.param("One process decides at a time.", id="apply does not lead beside a loop"),
        pytest.param("PLAYERS   MATCHES", id="rooms stand in a table"),
        pytest.param("drains: nobody is sent there any more", id="empty rooms drain at once"),
        pytest.param("kubectl cordon sandbox-1", id="drain cordons nothing, and says how"),
        pytest.param("listens on 7777/UDP", id="a room's log is printed"),
        pytest.param("1 quarter of an hour imported", id="demand comes in"),
        pytest.param("20     2    ", id="history tells who changed a number"),
        pytest.param("+  replicas: 20", id="undo shows what it would change"),
        pytest.param("asked for by schedulers/arena.yaml:4 at commit", id="explain names the line"),
    ],
)
def test_the_page_comes_true(told: str, said: str) -> None:
    assert said in told


def test_a_fleet_came_up_through_the_storm(told: str) -> None:
    found = re.search(r"fair weather; those before struck (\d+)", told)
    assert found is not None
    # 20 creates that succeed are 29 at least where every third is refused.
    assert int(found[1]) >= 9


def test_the_first_lines_of_the_readme_come_true_in_a_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    # What `make demo` has set up there.
    (clone / ".venv").symlink_to(sys.prefix)
    more = {"XDG_CACHE_HOME": str(clone / "cache"), "GAMEKEEPER_LISTEN": "127.0.0.1:0"}
    said = typed(lines_of(ROOT / "README.md"), clone, **more)
    assert "valid: 1 workload with 2 rooms" in said
    assert "1 room created" in said
    assert "led by " in said
    assert "schedulers/arena.yaml:" in said
