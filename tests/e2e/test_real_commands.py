"""The commands against a real control plane: the same words, the same exit codes."""

import json
from pathlib import Path

import pytest

from tests.controlplane.cluster import ControlPlane
from tests.e2e.commands import commit, gamekeeper
from tests.e2e.test_commands import process, wait_until, with_clock

pytestmark = pytest.mark.real

NAME = "typed"
SPEC = f"schedulers/{NAME}.yaml"


def test_from_nothing_to_a_refused_removal_and_back(
    real_cluster: ControlPlane, tmp_path: Path
) -> None:
    # Names of our own: the control plane is shared by the whole run.
    made = gamekeeper("init", "fleet", "--name", NAME, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    repository = tmp_path / "fleet"
    settings = {
        "KUBECONFIG": str(real_cluster.kubeconfig),
        "GAMEKEEPER_INSTANCE": NAME,
        "GAMEKEEPER_NAMESPACE": f"{NAME}-home",
    }

    def run(*words: str, code: int = 0) -> str:
        done = gamekeeper(*words, cwd=repository, more=settings)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    run("diff", "--live", code=2)
    run("apply", "--yes", "--timeout", "240")
    # Defaults of the real server are no difference.
    assert "Nothing to do." in run("diff", "--live")
    commit(repository, SPEC, "replicas: 2", "replicas: 9")
    run("apply", "--yes", "--timeout", "240")
    commit(repository, SPEC, "replicas: 9", "replicas: 1")
    run("diff", "--live", code=2)
    held = json.loads(run("diff", "--live", "-o", "json", code=2))["holds"][0]
    assert "approved by " in run("approve", held["changeHash"])
    run("apply", "--yes", "--timeout", "240")
    status = json.loads(run("status", "-o", "json"))["workloads"][0]
    assert (status["rooms"]["ready"], status["state"]) == (1, "ready")


def test_the_server_tells_when_it_took_the_lease_of_who_has_a_wrong_clock(
    real_cluster: ControlPlane, tmp_path: Path
) -> None:
    name = "late"
    assert gamekeeper("init", "fleet", "--name", name, cwd=tmp_path).returncode == 0
    repository = tmp_path / "fleet"
    settings = {
        "KUBECONFIG": str(real_cluster.kubeconfig),
        "GAMEKEEPER_INSTANCE": name,
        "GAMEKEEPER_NAMESPACE": f"{name}-home",
    }

    def status(form: str) -> str:
        return gamekeeper("status", "-o", form, cwd=repository, more=settings).stdout

    words = ["run", "--repo", str(repository), "--listen", "127.0.0.1:0"]
    with process([*with_clock(-24), *words], settings):
        wait_until(lambda: "last look at Git" in status("text"))
        told = json.loads(status("json"))
        assert told["leaderIsSilent"] is False
        assert round(told["leaderClockAheadSeconds"] / 3600) == -24
        assert "its clock is 1440 min behind the API server's" in status("text")
