"""docs/commands.md does what it says: its lines are taken from the page and typed in order."""

import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.commands import environment

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
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
        if command.endswith("&"):
            script.append("sleep 3")  # what a person needs to type the next line
        else:
            said = shlex.quote(f"{command}: exits otherwise than with {code}")
            script.append(f"[ $? = {code} ] || {{ echo {said}; exit 99; }}")
    return "\n".join(script)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    with subprocess.Popen(
        ["bash", "-u", "-c", script_of(lines_of(PAGE))],
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / "cache")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            shell.send_signal(signal.SIGTERM)
            raise
    assert shell.returncode == 0, said
    return said


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("spec.replicas: 2 -> 20", id="an offline diff shows fields"),
        pytest.param("+ 20 rooms", id="a live diff counts rooms"),
        pytest.param("20 rooms created, 20 of 20 ready", id="apply makes them"),
        pytest.param("Nothing to do.", id="what is as wanted is left alone"),
        pytest.param("gamekeeper approve bd7085a350de", id="a refusal names the hash to approve"),
        pytest.param("hold: over-budget", id="status says why"),
        pytest.param("local Scheduler arena/arena scale-in to=2", id="approve says what goes"),
        pytest.param("One process decides at a time.", id="apply does not lead beside a loop"),
    ],
)
def test_the_page_comes_true(told: str, said: str) -> None:
    assert said in told
