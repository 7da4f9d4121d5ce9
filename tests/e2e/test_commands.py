"""diff, apply, status, approve and reconcile against a cluster over HTTP, as people meet them."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.canaries.outputs import read_files
from tests.e2e.commands import GAMEKEEPER, commit, environment, fleet, gamekeeper, git

pytestmark = pytest.mark.long

SPEC = "schedulers/arena.yaml"
KUBECTL = str(Path(GAMEKEEPER).parent / "kubectl")
READY_SECONDS = 240.0


class Place:
    """A repository, and a cluster of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.repository = fleet(folder / "fleet")
        self.settings = {
            "KUBECONFIG": str(self.kubeconfig),
            "GAMEKEEPER_INSTANCE": "main",
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return gamekeeper(*words, cwd=self.repository, more={**self.settings, **more})

    def json(self, *words: str) -> Any:
        done = self.run(*words, "--output", "json")
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def kubectl(self, *words: str) -> str:
        done = subprocess.run(
            [KUBECTL, *words],
            env=environment(**self.settings),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    def everything(self) -> str:
        """Every object with its version: equal as long as nobody writes."""
        kinds = "namespaces,configmaps,serviceaccounts,pods,poddisruptionbudgets,leases"
        form = "custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion"
        return self.kubectl("get", kinds, "-A", "--no-headers", "-o", form)

    def uids(self, selector: str) -> set[str]:
        """The pods of arena that a label selector names and that are not going."""
        words = ["get", "pods", "-n", "arena", "-l", selector, "-o", "json"]
        found = [each["metadata"] for each in json.loads(self.kubectl(*words))["items"]]
        return {each["uid"] for each in found if "deletionTimestamp" not in each}

    @contextmanager
    def loop(self, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
        command = [GAMEKEEPER, "run", "--repo", str(self.repository), "--listen", "127.0.0.1:0"]
        with process([*command, *words], self.settings) as loop:
            yield loop


@contextmanager
def process(command: list[str], settings: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    with (
        tempfile.NamedTemporaryFile() as said,
        subprocess.Popen(command, env=environment(**settings), stdout=said, stderr=said) as started,
    ):
        try:
            yield started
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait()
            read_files()


def with_clock(hours: int) -> list[str]:
    """Return the command of a process whose clock is that much ahead."""
    program = (
        f"import sys, time; right = time.time; time.time = lambda: right() + {hours} * 3600; "
        "from reconciler.cli.main import main; sys.exit(main())"
    )
    return [sys.executable, "-c", program]


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    here = Place(tmp_path)
    command = [GAMEKEEPER, "sandbox", "--nodes", "4", "--kubeconfig", str(here.kubeconfig)]
    with process(command, {}):
        deadline = time.monotonic() + READY_SECONDS
        while not here.kubeconfig.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield here


@pytest.fixture
def applied(place: Place) -> Place:
    """A place whose fleet of two rooms is as wanted."""
    done = place.run("apply", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def test_a_live_diff_and_a_dry_run_write_nothing(place: Place) -> None:
    before = place.everything()
    for words in (["diff", "--live"], ["apply", "--dry-run"]):
        done = place.run(*words)
        assert done.returncode == 2, done.stderr
        assert "+ 2 rooms" in done.stdout
    assert place.everything() == before


def test_what_is_as_wanted_is_no_change_though_others_write_there_too(applied: Place) -> None:
    applied.kubectl("annotate", "namespace", "arena", "team=red")
    applied.kubectl("label", "serviceaccount", "arena", "-n", "arena", "cost=low")
    before = applied.everything()
    done = applied.run("diff", "--live")
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["Nothing to do."])
    assert applied.everything() == before


def test_a_field_of_ours_that_somebody_changed_is_shown_and_set_back(applied: Place) -> None:
    patch = '{"spec": {"minAvailable": 7}}'
    applied.kubectl("patch", "pdb", "arena", "-n", "arena", "--type", "merge", "-p", patch)
    shown = applied.json("diff", "--live")["workloads"][0]["objects"]
    assert [each["fields"] for each in shown] == [
        [{"path": "spec.minAvailable", "before": 7, "after": 1}]
    ]
    assert applied.run("apply", "--yes").returncode == 0
    assert applied.json("diff", "--live")["workloads"] == []


def test_only_what_is_committed_is_looked_at(applied: Place) -> None:
    spec = applied.repository / SPEC
    spec.write_text(spec.read_text().replace("replicas: 2", "replicas: 3"))
    assert applied.run("diff", "--live").returncode == 0
    git(applied.repository, "commit", "-qam", "three")
    assert applied.run("diff", "--live").returncode == 2


def test_a_branch_elsewhere_is_compared_by_its_url(place: Place, tmp_path: Path) -> None:
    git(place.repository, "switch", "-qc", "other")
    commit(place.repository, SPEC, "replicas: 2", "replicas: 5")
    git(place.repository, "switch", "-q", "main")
    words = ("diff", "--live", "--repo", str(place.repository), "--branch", "other")
    assert "+ 5 rooms" in place.run(*words).stdout


def test_a_folder_is_applied_and_another_one_is_as_another_repository(place: Place) -> None:
    for environment_name in ("eu", "us"):
        (place.repository / environment_name / "schedulers").mkdir(parents=True)
        (place.repository / environment_name / "gamekeeper.yaml").write_text(
            (place.repository / "gamekeeper.yaml").read_text()
        )
    text = (place.repository / SPEC).read_text()
    (place.repository / "eu" / SPEC).write_text(text)
    (place.repository / "us/schedulers/lobby.yaml").write_text(text.replace("arena", "lobby"))
    git(place.repository, "rm", "-rq", "gamekeeper.yaml", "schedulers")
    git(place.repository, "add", "--all")
    git(place.repository, "commit", "-qm", "environments")
    assert place.run("apply", "--yes", "--path", "eu").returncode == 0
    assert ", folder eu" in place.run("status").stdout
    assert place.json("status")["path"] == "eu"
    assert place.json("diff", "--live", "--path", "eu")["workloads"] == []
    other = place.json("diff", "--live", "--path", "us")
    assert [each["hold"] for each in other["holds"]] == ["repository-changed"]


def test_a_refused_removal_is_named_and_the_same_everywhere(applied: Place) -> None:
    commit(applied.repository, SPEC, "replicas: 2", "replicas: 9")
    assert applied.run("apply", "--yes").returncode == 0
    commit(applied.repository, SPEC, "replicas: 9", "replicas: 1")
    offline = applied.json("diff", "main~1", "main")
    live = applied.json("diff", "--live")
    done = applied.run("apply", "--yes")
    assert done.returncode == 0
    assert "but for what is held" in done.stdout
    status = applied.json("status")["workloads"][0]
    assert (status["rooms"]["ready"], status["state"]) == (9, "ready, stalled")
    hashes = {
        offline["changeHash"],
        *(hold["changeHash"] for each in (offline, live, status) for hold in each["holds"]),
    }
    assert len(hashes) == 1
    given = applied.run("approve", *hashes)
    assert "local Scheduler arena/arena scale-in to=1" in given.stdout
    assert "approved by kubernetes-admin, for 60 minutes" in given.stdout
    assert applied.run("apply", "--yes").returncode == 0
    assert applied.json("status")["workloads"][0]["rooms"]["ready"] == 1


def test_a_hash_that_takes_no_approval_any_more_is_refused(applied: Place) -> None:
    commit(applied.repository, SPEC, "replicas: 2", "replicas: 9")
    assert applied.run("apply", "--yes").returncode == 0
    commit(applied.repository, SPEC, "replicas: 9", "replicas: 1")
    change_hash = applied.json("diff", "--live")["holds"][0]["changeHash"]
    assert "gamekeeper approve" in applied.run("apply", "--yes").stdout
    commit(applied.repository, SPEC, "replicas: 1", "replicas: 9")
    assert applied.run("apply", "--yes").returncode == 0
    overtaken = applied.run("approve", change_hash)
    assert overtaken.returncode == 1
    assert "was overtaken: no head asks for it any more" in overtaken.stderr
    commit(applied.repository, SPEC, "replicas: 9", "replicas: 1")
    assert "gamekeeper approve" in applied.run("apply", "--yes").stdout
    assert applied.run("approve", change_hash).returncode == 0
    assert applied.run("apply", "--yes").returncode == 0
    again = applied.run("approve", change_hash)
    assert again.returncode == 1
    assert "was let through already" in again.stderr


def test_an_approval_may_come_before_its_commit(applied: Place) -> None:
    commit(applied.repository, SPEC, "replicas: 2", "replicas: 9")
    assert applied.run("apply", "--yes").returncode == 0
    commit(applied.repository, SPEC, "replicas: 9", "replicas: 1")
    given = applied.run("approve", applied.json("diff", "main~1", "main")["changeHash"])
    assert "no change with this hash yet" in given.stderr
    assert applied.json("diff", "--live")["holds"] == []
    assert applied.run("apply", "--yes").returncode == 0
    assert applied.json("status")["workloads"][0]["rooms"]["desired"] == 1


@pytest.mark.parametrize("wrong", ["d1007e0425d", "D1007E0425DF", "d1007e0425df0", "--help-me"])
def test_what_is_no_hash_is_refused(tmp_path: Path, wrong: str) -> None:
    done = gamekeeper("approve", wrong, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")


def test_without_a_gamekeeper_there_is_nothing_to_approve(place: Place) -> None:
    done = place.run("approve", "d1007e0425df")
    assert done.returncode == 1
    assert "no Gamekeeper has run against this cluster" in done.stderr


def test_a_mistake_in_the_head_exits_1_and_the_rest_is_applied(applied: Place) -> None:
    arena = (applied.repository / SPEC).read_text()
    (applied.repository / "schedulers/lobby.yaml").write_text(arena.replace("arena", "lobby"))
    (applied.repository / SPEC).write_text(arena.replace("replicas: 2", "replicas: many"))
    git(applied.repository, "add", "--all")
    git(applied.repository, "commit", "-qm", "half of it is wrong")
    done = applied.run("diff", "--live")
    assert done.returncode == 1
    assert f"{SPEC}:" in done.stdout
    done = applied.run("apply", "--yes")
    assert done.returncode == 1
    states = {each["name"]: each for each in applied.json("status")["workloads"]}
    assert states["lobby"]["rooms"]["ready"] == 2
    assert states["arena"]["rooms"]["ready"] == 2
    assert states["arena"]["holds"][0]["hold"] == "finding"


def test_rooms_that_never_become_ready_end_in_1_with_the_reason(applied: Place) -> None:
    commit(applied.repository, SPEC, "cpu: 50m", "cpu: 900")
    done = applied.run("apply", "--yes", "--timeout", "10")
    assert done.returncode == 1
    assert "1 workload not as wanted when the time was up" in done.stdout
    assert "waiting: " in done.stdout
    assert "Insufficient cpu" in done.stdout


def test_an_object_of_somebody_else_holds_its_workload(place: Place) -> None:
    place.kubectl("create", "namespace", "arena")
    shown = place.json("diff", "--live")["holds"]
    assert [hold["hold"] for hold in shown] == ["foreign"]
    done = place.run("apply", "--yes")
    assert "kubectl annotate namespace arena" in done.stdout
    place.kubectl("annotate", "namespace", "arena", "gamekeeper.dev/adopt=main")
    assert place.run("apply", "--yes").returncode == 0


def test_rendered_pods_that_somebody_applies_are_no_rooms_and_cost_none(applied: Place) -> None:
    rooms = applied.uids("gamekeeper.dev/instance=main")
    manifests = applied.repository / "rendered.yaml"
    manifests.write_text(applied.run("render").stdout)
    applied.kubectl("apply", "-f", str(manifests))
    assert len(applied.uids("")) == 4
    assert applied.json("diff", "--live")["workloads"] == []
    assert applied.json("status")["workloads"][0]["rooms"]["ready"] == 2
    commit(applied.repository, SPEC, "replicas: 2", "replicas: 1")
    assert applied.run("apply", "--yes").returncode == 0
    left = applied.uids("gamekeeper.dev/instance=main")
    assert len(left) == 1
    assert left < rooms
    assert len(applied.uids("")) == 3


def test_beside_a_loop_apply_names_it_and_reconcile_asks_it(place: Place) -> None:
    with place.loop("--poll-seconds", "600"):
        deadline = time.monotonic() + READY_SECONDS
        while place.run("reconcile", "--wait").returncode:
            assert time.monotonic() < deadline  # its namespace comes with the loop
        commit(place.repository, SPEC, "replicas: 2", "replicas: 3")
        head = git(place.repository, "rev-parse", "HEAD")
        asked = place.run("reconcile", "--wait")
        assert asked.stdout == f"The loop has taken commit {head} in.\n"
        done = place.run("apply", "--yes")
        assert done.returncode == 1
        assert place.json("status")["leader"] in done.stderr
        assert "is held by" in done.stderr


def test_status_says_that_git_cannot_be_read_and_since_when(place: Place) -> None:
    with place.loop("--poll-seconds", "1"):
        wait_until(lambda: "last look at Git" in place.run("status").stdout)
        git(place.repository, "branch", "-m", "main", "elsewhere")
        wait_until(lambda: "Git cannot be read since" in place.run("status").stdout)
        said = place.run("status").stdout
        assert "couldn't find remote ref refs/heads/main" in said
        assert "it has elsewhere" in said
        assert "What was accepted stays wanted" in said
        git(place.repository, "branch", "-m", "elsewhere", "main")
        wait_until(lambda: "cannot be read" not in place.run("status").stdout)
    wait_until(lambda: "No process leads" in place.run("status").stdout)


def test_reconcile_says_when_nobody_answers(applied: Place) -> None:
    assert applied.run("reconcile").returncode == 0
    done = applied.run("reconcile", "--wait", "--timeout", "1")
    assert done.returncode == 1
    assert "No process holds the Lease" in done.stderr


def test_status_of_an_empty_cluster_says_so(place: Place) -> None:
    done = place.run("status")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "No commit was taken in yet.")


def test_a_suspended_workload_is_named_and_is_no_change(applied: Place) -> None:
    commit(applied.repository, SPEC, "replicas: 2\n", "replicas: 2\n  suspend: true\n")
    assert applied.run("apply", "--yes").returncode == 0
    done = applied.run("diff", "--live")
    assert done.returncode == 0
    assert "(suspended)" in done.stdout
    assert applied.json("status")["workloads"][0]["state"] == "suspended"


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_apply_asks(place: Place, answer: str, code: int) -> None:
    before = place.everything()
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [GAMEKEEPER, "apply"],
        cwd=place.repository,
        env=environment(**place.settings),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asked:
        os.write(ours, f"{answer}\n".encode())
        said, asking = asked.communicate(timeout=300)
    os.close(ours)
    os.close(theirs)
    assert "Apply this? [y/N]" in asking
    assert asked.returncode == code, said
    assert (place.everything() == before) is bool(code)


def test_where_nobody_can_answer_apply_wants_yes(place: Place) -> None:
    before = place.everything()
    with subprocess.Popen(
        [GAMEKEEPER, "apply"],
        cwd=place.repository,
        env=environment(**place.settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asked:
        _, said = asked.communicate(timeout=300)
    assert asked.returncode == 1
    assert "pass --yes to agree" in said.lower()
    assert place.everything() == before


def test_explain_promises_nothing_of_what_a_foreign_namespace_holds(place: Place) -> None:
    place.kubectl("create", "namespace", "arena")

    def stands() -> bool:
        found = place.json("status")["workloads"]
        return bool(found) and [hold["hold"] for hold in found[0]["holds"]] == ["foreign"]

    with place.loop():
        wait_until(stands)
        told = place.json("explain", "arena")
    assert [hold["hold"] for hold in told["holds"]] == ["foreign"]
    assert told["next"] == ["nothing, while it is held (foreign)"]


@pytest.mark.parametrize("hours", [-24, -1, 1])
def test_who_leads_with_a_wrong_clock_leads_and_is_told_to_have_one(
    place: Place, hours: int
) -> None:
    words = ["run", "--repo", str(place.repository), "--listen", "127.0.0.1:0"]
    with process([*with_clock(hours), *words], place.settings):
        wait_until(lambda: "last look at Git" in place.run("status").stdout)
        said = place.run("status").stdout
        assert "\nled by " in said
        assert "silent" not in said
        assert re.search(r"\nlast look at Git \d+ s ago\n", said)
        side = "ahead of" if hours > 0 else "behind"
        assert f"its clock is {abs(hours) * 60} min {side} the API server's" in said
        told = place.json("status")
        assert told["leaderIsSilent"] is False
        assert round(told["leaderClockAheadSeconds"] / 3600) == hours
        wait_until(lambda: place.json("status")["workloads"] != [])
        assert "No process leads" not in place.run("explain", "arena").stdout
