"""The image's steps in a clean environment, without a container engine; marked `real`, since it
downloads what the lock says.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.e2e.commands import environment

ROOT = Path(__file__).parents[2]


def run(*words: str, cwd: Path = ROOT, **more: str) -> str:
    done = subprocess.run(
        words, cwd=cwd, env=environment(**more), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def instructions() -> list[str]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_is_nobodys_root_and_copies_what_stands_here() -> None:
    lines = instructions()
    assert "USER 10001" in lines
    for line in lines:
        if line.startswith("COPY") and "--from" not in line:
            for name in line.split()[1:-1]:
                assert (ROOT / name).exists(), line


def test_whatever_the_program_starts_is_in_the_image() -> None:
    """`gpg` alone only checks signatures: secret keys are its agent's, which Debian recommends."""
    (line,) = (each for each in instructions() if "apt-get install" in each)
    words = line.split("&&")[1].split()
    assert "--no-install-recommends" in words
    assert {"git", "openssh-client", "gpg", "gpg-agent"} <= set(words)


def test_the_deployment_runs_as_the_user_of_the_image() -> None:
    documents = list(yaml.safe_load_all((ROOT / "deploy/gamekeeper.yaml").read_text()))
    [deployment] = [item for item in documents if item["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    user = pod["securityContext"]["runAsUser"]
    assert f"USER {user}" in instructions()
    assert pod["securityContext"]["fsGroup"] == user
    assert any(f"--uid {user}" in line for line in instructions())


def test_a_git_host_can_reach_the_webhook_whose_secret_may_come_later() -> None:
    documents = list(yaml.safe_load_all((ROOT / "deploy/gamekeeper.yaml").read_text()))
    [deployment] = [item for item in documents if item["kind"] == "Deployment"]
    [service] = [
        item
        for item in documents
        if item["kind"] == "Service" and item["metadata"]["name"] == "gamekeeper"
    ]
    template = deployment["spec"]["template"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    [container] = template["spec"]["containers"]
    assert service["spec"]["ports"][0]["targetPort"] in [
        each["name"] for each in container["ports"]
    ]
    settings = {each["name"]: each.get("value", "") for each in container["env"]}
    mounts = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    volumes = {each["name"]: each for each in template["spec"]["volumes"]}
    folder = str(Path(settings["GAMEKEEPER_WEBHOOK_SECRET_FILE"]).parent)
    assert volumes[mounts[folder]]["secret"]["optional"] is True


def test_the_locks_name_every_package_by_hash_and_no_host() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "--hash=sha256:" in text
        for line in text.replace("\\\n", " ").splitlines():
            if line and not line.startswith("#"):
                assert "==" in line.split()[0], line
                assert "--hash=sha256:" in line
        for word in ("://", "index-url", "find-links", "trusted-host"):
            assert word not in text


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands at /opt/gamekeeper in the image, made from a copy of what Git tracks here."""
    scratch = tmp_path_factory.mktemp("image")
    source, target = scratch / "src", scratch / "opt"
    source.mkdir()
    tracked = run("git", "ls-files", "reconciler", "schemas", "templates", "deploy").split()
    for name in ["requirements.lock", "pyproject.toml", "README.md", *tracked]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "venv", str(target))
    install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", "requirements.lock"]
    run(str(target / "bin" / "python"), *install, cwd=source)
    run("sh", "deploy/image.sh", sys.executable, str(target), cwd=source)
    return target


@pytest.mark.real
def test_the_wheel_works_away_from_the_checkout(image: Path, tmp_path: Path) -> None:
    gamekeeper = str(image / "bin" / "gamekeeper")
    clean = {"PATH": f"{image / 'bin'}{os.pathsep}/usr/bin:/bin", "PYTHONPATH": ""}
    where = run(
        str(image / "bin" / "python"), "-c", "import reconciler; print(reconciler.__file__)",
        cwd=tmp_path, **clean,
    )  # fmt: skip
    assert Path(where.strip()).is_relative_to(image)
    run(gamekeeper, "init", "fleet", cwd=tmp_path, **clean)
    assert "valid: 1 workload" in run(gamekeeper, "validate", "fleet", cwd=tmp_path, **clean)
    assert "kind: Pod\n" in run(gamekeeper, "render", "fleet", cwd=tmp_path, **clean)
    assert "gamekeeper" in run(gamekeeper, "--version", cwd=tmp_path, **clean)


@pytest.mark.real
def test_the_image_tells_the_whole_story(image: Path, tmp_path: Path) -> None:
    clean = {"PATH": f"{image / 'bin'}{os.pathsep}/usr/bin:/bin", "PYTHONPATH": ""}
    told = run(str(image / "bin" / "gamekeeper"), "demo", cwd=tmp_path, **clean)
    assert "no match waited for a room" in told


@pytest.mark.real
def test_the_image_holds_one_kind_of_definitions(image: Path) -> None:
    held = list(image.glob("lib/python*/site-packages/kubernetes_validate/**/*.json"))
    assert held
    assert {path.name for path in held} == {"_definitions.json"}
    assert all(path.parent.name.endswith("-local-strict") for path in held)
