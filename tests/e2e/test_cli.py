"""The command as people meet it: a process with streams, signals and exit codes."""

import json
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.e2e.commands import (
    GAMEKEEPER,
    beside_progress,
    commit,
    environment,
    fleet,
    gamekeeper,
    git,
)

SPEC = "schedulers/arena.yaml"
KUBECTL = str(Path(GAMEKEEPER).parent / "kubectl")


def test_help_takes_at_most_a_fifth_of_a_second(tmp_path: Path) -> None:
    # The best of five, by CPU: other processes of the machine are not ours to measure.
    took = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert gamekeeper("--help", cwd=tmp_path).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(took) <= 0.2


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, reconciler.cli.main as m; m.main(['--help']); "
        "print(sorted({n.split('.')[0] for n in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"aiohttp", "asyncio", "git", "jinja2", "jsonschema", "kubernetes", "yaml"}
    assert not heavy & set(re.findall(r"\w+", done.stderr))


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["vaildate"], "Did you mean `validate`?", id="a misspelled command"),
        pytest.param(["validate", "--ouput", "json"], "Did you mean --output?", id="a flag"),
        pytest.param(["validate", "no-such-rev"], "neither a path nor a revision", id="a revision"),
        pytest.param(["validate", "--egress-hosts", "*"], "'*' is no host", id="everybody"),
        pytest.param(["init", "."], "is not empty", id="a directory that is not empty"),
        pytest.param(["demo", "--keep", "."], "is not empty", id="a demo kept among files"),
        pytest.param(["init", "x", "--name", "A_b"], "lower case", id="a name Kubernetes refuses"),
        pytest.param(["rbac", "--account", "keeper"], "NAMESPACE/NAME", id="half an account"),
        pytest.param(["sandbox", "--nodes", "-1"], "from 0 to", id="a number out of bounds"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error(
    tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "file").write_text("")
    done = gamekeeper(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    mistake = beside_progress(done.stderr)
    assert said in mistake
    assert mistake.startswith("error: ")
    assert mistake.count("\n") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        pytest.param("--listen", "8080", "write HOST:PORT", id="a port alone"),
        pytest.param("--listen", "127.0.0.1:99999", "write HOST:PORT", id="a port too high"),
        pytest.param("--branch", "a..b", "is no branch name", id="a name that git refuses"),
        pytest.param("--repo", "./nowhere", "no such directory", id="a path that is not there"),
        pytest.param("--repo", "ftp://x/y", "Allowed: https://", id="a transport unknown to us"),
        pytest.param("--repo", "https://", "no usable host", id="a URL without a host"),
    ],
)
def test_run_finds_what_is_written_wrong_before_it_asks_anybody(
    tmp_path: Path, flag: str, value: str, said: str
) -> None:
    (tmp_path / "fleet").mkdir()
    words = ["run", "--repo", "fleet", "--instance", "x", "--server", "http://127.0.0.1:1"]
    done = gamekeeper(*words, flag, value, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_bad_environment_variable_is_named(tmp_path: Path) -> None:
    done = gamekeeper("validate", cwd=tmp_path, more={"GAMEKEEPER_POD_SECURITY": "lax"})
    assert done.returncode == 1
    assert (
        "GAMEKEEPER_POD_SECURITY is 'lax': write one of baseline, restricted, privileged"
        in done.stderr
    )


@pytest.mark.long
def test_init_makes_a_repository_that_is_valid_and_clean(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "my-fleet")
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "branch", "--show-current") == "main"
    assert git(folder, "log", "--format=%an") == "Robin"
    done = gamekeeper("validate", str(folder), cwd=tmp_path)
    note, last = done.stdout.splitlines()
    assert note.startswith("note: reports: none (Scheduler/arena): which rooms are occupied is not")
    assert last == "valid: 1 workload with 2 rooms"
    for spec in ("gamekeeper.yaml", SPEC):
        first = (folder / spec).read_text().splitlines()[0]
        schema = re.fullmatch(r"# yaml-language-server: \$schema=(.*)", first)
        assert schema is not None
        assert json.loads(((folder / spec).parent / schema[1]).read_text())["$id"]


def test_init_without_an_identity_commits_under_a_name_of_its_own(tmp_path: Path) -> None:
    variables = {
        name: text for name, text in environment(HOME=str(tmp_path)).items() if "GIT_" not in name
    }
    done = subprocess.run(
        [GAMEKEEPER, "init", "x"], cwd=tmp_path, env=variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert git(tmp_path / "x", "log", "--format=%an <%ae>") == "Gamekeeper <gamekeeper@localhost>"
    assert "git config --global user.name" in done.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose head has two mistakes, and whose parent has none."""
    folder = fleet(tmp_path_factory.mktemp("broken") / "fleet")
    file = folder / SPEC
    file.write_text(file.read_text().replace("replicas: 2", "replicas: -2"))
    commit(folder, SPEC, "maxSurge", "maxSruge")
    return folder


@pytest.mark.long
def test_validate_names_every_mistake_in_order_of_place(broken: Path) -> None:
    done = gamekeeper("validate", cwd=broken)
    assert done.returncode == 1
    places = re.findall(rf"^{SPEC}:(\d+):(\d+): error: (.*)", done.stdout, re.MULTILINE)
    assert [text.split(":")[0] for *_, text in places] == [
        "spec.replicas",
        "spec.rollout.maxSruge",
    ]
    assert "maxSurge" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 errors; valid: 0 workloads")


@pytest.mark.long
@pytest.mark.parametrize(
    ("hosts", "warned"),
    [
        pytest.param("", False, id="no list is known here"),
        pytest.param("a.example.com", True, id="another host"),
        pytest.param("*.example.com", False, id="all of them"),
    ],
)
def test_validate_warns_of_whom_nobody_may_ask(tmp_path: Path, hosts: str, warned: bool) -> None:
    made = fleet(tmp_path / "fleet")
    policy = "{webhook: {url: 'https://scaler.example.com/'}}"
    asking = f"  autoscaling: {{min: 1, max: 9, policy: {policy}}}\n  replicas: 2"
    commit(made, SPEC, "  replicas: 2", asking)
    done = gamekeeper("validate", cwd=made, more={"GAMEKEEPER_EGRESS_HOSTS": hosts})
    assert done.returncode == 0
    assert ("--egress-hosts scaler.example.com" in done.stdout) is warned


@pytest.mark.long
@pytest.mark.parametrize(
    ("branch", "words", "said"),
    [
        pytest.param("HEAD", [], "not HEAD", id="git's own word"),
        pytest.param("trunk/x", [], 'beside the tracked branch "trunk"', id="as checked out"),
        pytest.param("main/x", ["--branch", "main"], "write main-x", id="as named"),
        pytest.param("trunk/x", ["--branch", "main"], "", id="beside another one"),
        pytest.param("trunk", [], "warning: spec.writeBack.branch", id="the tracked one itself"),
    ],
)
def test_validate_holds_the_branch_of_counts_to_git_and_to_the_tracked_one(
    tmp_path: Path, branch: str, words: list[str], said: str
) -> None:
    made = fleet(tmp_path / "fleet")
    git(made, "branch", "-m", "trunk")
    config = made / "gamekeeper.yaml"
    config.write_text(
        f"apiVersion: gamekeeper.dev/v1\nkind: Config\nspec:\n  writeBack:\n    branch: {branch}\n"
    )
    done = gamekeeper("validate", *words, cwd=made)
    assert said in done.stdout, done.stdout + done.stderr
    refused = bool(said) and "warning" not in said
    assert done.returncode == (1 if refused else 0)
    assert ("gamekeeper.yaml:5:13: " in done.stdout) == bool(said)


@pytest.mark.long
def test_validate_reads_a_revision(broken: Path) -> None:
    assert gamekeeper("validate", "HEAD~1", cwd=broken).returncode == 0


@pytest.mark.long
def test_validate_reads_what_is_not_committed_yet(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    (folder / "schedulers" / "second.yaml").write_text("kind: Scheduler\n")
    assert gamekeeper("validate", cwd=folder).returncode == 1
    assert gamekeeper("validate", "HEAD", cwd=folder).returncode == 0


@pytest.mark.long
def test_validate_writes_annotations_with_paths_from_here(broken: Path) -> None:
    done = gamekeeper("validate", "fleet", "--output", "github", cwd=broken.parent)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all(re.match(rf"::error file=fleet/{SPEC},line=\d+,col=\d+,", line) for line in lines)


@pytest.mark.long
@pytest.mark.parametrize("output", ["json", "yaml"])
def test_validate_writes_data(broken: Path, output: str) -> None:
    done = gamekeeper("validate", "--output", output, cwd=broken)
    findings = yaml.safe_load(done.stdout)["findings"]
    assert [item["file"] for item in findings] == [SPEC, SPEC]
    assert {"line", "column", "path", "message", "fix", "severity"} <= set(findings[0])


@pytest.mark.long
def test_render_of_a_broken_repository_prints_no_manifest(broken: Path) -> None:
    done = gamekeeper("render", cwd=broken)
    assert (done.returncode, done.stdout) == (1, "")
    assert "spec.replicas" in done.stderr


@pytest.mark.long
def test_render_prints_objects_and_then_a_pod_for_each_room(tmp_path: Path) -> None:
    done = gamekeeper("render", cwd=fleet(tmp_path / "fleet"))
    documents = list(yaml.safe_load_all(done.stdout))
    assert [f"{item['kind']} {item['metadata']['name']}" for item in documents] == [
        "Namespace arena",
        "ServiceAccount arena",
        "PodDisruptionBudget arena",
        "Pod arena-render-1",
        "Pod arena-render-2",
    ]
    ports = [pod["spec"]["containers"][0]["ports"][0]["hostPort"] for pod in documents[3:]]
    assert ports == [20000, 20001]


@pytest.mark.long
def test_a_rendered_pod_lacks_the_label_of_a_room_and_is_one_otherwise(tmp_path: Path) -> None:
    done = gamekeeper("render", "--instance", "main", cwd=fleet(tmp_path / "fleet"))
    namespace, *_, room = yaml.safe_load_all(done.stdout)
    assert namespace["metadata"]["labels"]["gamekeeper.dev/instance"] == "main"
    marks = {k for k in room["metadata"]["labels"] if k.startswith("gamekeeper.dev/")}
    assert marks == {"gamekeeper.dev/kind", "gamekeeper.dev/workload"}


@contextmanager
def sandbox(folder: Path) -> Iterator["tuple[subprocess.Popen[str], Path]"]:
    """Run `gamekeeper sandbox`; yields the process and the kubeconfig that it printed."""
    running = subprocess.Popen(
        [GAMEKEEPER, "sandbox", "--nodes", "2"], cwd=folder, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stderr is not None
    try:
        printed = re.fullmatch(r"export KUBECONFIG=(\S+)\n", running.stdout.readline())
        assert printed is not None
        assert printed[1].endswith("kubeconfig")
        yield running, Path(printed[1])
    finally:
        if running.poll() is None:
            running.kill()
        running.wait(30)
        running.stdout.close()
        running.stderr.close()


@pytest.mark.long
def test_the_sandbox_leaves_a_kubeconfig_of_somebody_else_alone(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("current-context: production\n")
    done = gamekeeper("sandbox", "--kubeconfig", "config", cwd=tmp_path)
    assert done.returncode == 1
    assert "no sandbox wrote it" in done.stderr
    assert (tmp_path / "config").read_text() == "current-context: production\n"
    done = gamekeeper("sandbox", "--kubeconfig", "no/config", cwd=tmp_path)
    assert "there is no directory" in done.stderr


@pytest.mark.long
def test_the_sandbox_takes_what_render_prints_and_leaves_nothing(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    manifests = gamekeeper("render", cwd=folder).stdout
    with sandbox(tmp_path) as (running, kubeconfig):
        kubectl = [KUBECTL, "--kubeconfig", str(kubeconfig)]
        subprocess.run(
            [*kubectl, "apply", "-f", "-"], input=manifests, text=True, check=True,
            capture_output=True, timeout=60,
        )  # fmt: skip
        waited = [*kubectl, "wait", "--for=condition=Ready", "pod", "--all", "-n", "arena"]
        subprocess.run([*waited, "--timeout=30s"], check=True, capture_output=True, timeout=60)
        running.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert running.wait(30) == 0
        # Who waited for connections to end by themselves would take ten.
        assert time.monotonic() - begun < 9
    assert not kubeconfig.exists()
    assert not kubeconfig.parent.exists()
