"""deploy/README.md does what it says: what needs no registry is taken from the page and run."""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.adapters.kubernetes.client import open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.core.grants import plural
from reconciler.loop.lost_records import ensure_namespace
from reconciler.loop.requests import request_ref
from reconciler.model import labels
from reconciler.service.doors.admins import admins_of
from reconciler.service.doors.codes import RoomCodes
from reconciler.service.doors.people import VERBS
from reconciler.service.views import OBJECT_KINDS
from reconciler.settings import Settings
from reconciler.wiring.clusters import rooms_url
from reconciler.wiring.doors import POD_NAME, POD_NAMESPACE
from tests.e2e.commands import environment
from tests.e2e.processes import fleet, free_address, until
from tests.gitservers.http import HttpGitServer
from tests.loop.world import CONFIG, spec

DEPLOY = Path(__file__).parents[2] / "deploy"
PAGE = (DEPLOY / "README.md").read_text()
FILES = ("token", "ssh-key", "known_hosts", "secret")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def manifests(kind: str) -> list[Any]:
    documents = yaml.safe_load_all((DEPLOY / "gamekeeper.yaml").read_text())
    return [each for each in documents if each["kind"] == kind]


def shell(script: str, folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def container() -> Any:
    (deployment,) = manifests("Deployment")
    return deployment["spec"]["template"]["spec"]["containers"][0]


def mounted(secret: str) -> str:
    """Where the deployment mounts a Secret."""
    (deployment,) = manifests("Deployment")
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    (volume,) = (v["name"] for v in volumes if v.get("secret", {}).get("secretName") == secret)
    (path,) = (m["mountPath"] for m in container()["volumeMounts"] if m["name"] == volume)
    return str(path)


@pytest.mark.parametrize("block", [each for each in blocks("sh") if "create secret" in each])
def test_every_secret_is_one_that_the_deployment_mounts_with_files_that_it_reads(
    block: str, tmp_path: Path
) -> None:
    for name in FILES:
        (tmp_path / name).write_text("x")
    done = shell(block.replace(" create ", " create --dry-run=client -o yaml "), tmp_path)
    assert done.returncode == 0, done.stderr
    secret = yaml.safe_load(done.stdout)
    folder = mounted(secret["metadata"]["name"])
    set_here = {entry["value"] for entry in container()["env"] if "value" in entry}
    for file in secret["data"]:
        path = f"{folder}/{file}"
        assert path in set_here or f"_FILE={path}" in PAGE, path


def test_the_ingress_leads_to_the_port_of_the_service_and_to_nothing_but_the_webhook() -> None:
    (ingress,) = (yaml.safe_load(text) for text in blocks("yaml") if "kind: Ingress" in text)
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    service, _ = manifests("Service")
    assert (path["path"], path["pathType"]) == ("/webhook", "Exact")
    assert path["backend"]["service"]["name"] == service["metadata"]["name"]
    assert ingress["metadata"]["namespace"] == service["metadata"]["namespace"]
    ports = {port["name"] for port in service["spec"]["ports"]}
    assert path["backend"]["service"]["port"]["name"] in ports


def signing() -> Any:
    """The patch of the deployment that the page shows for GnuPG, as the pod's spec."""
    (patch,) = (yaml.safe_load(text) for text in blocks("yaml") if "initContainers" in text)
    return patch["spec"]["template"]["spec"]


def test_what_signs_reads_the_key_where_the_page_mounts_it() -> None:
    pod = signing()
    (first,), (patched,) = pod["initContainers"], pod["containers"]
    assert patched["name"] == container()["name"]
    assert first["image"] == container()["image"]
    assert first["securityContext"] == container()["securityContext"]
    volumes = {each["name"]: each for each in pod["volumes"]}
    (keys,) = {each["name"] for each in patched["volumeMounts"]}
    mounts = {each["name"]: each["mountPath"] for each in first["volumeMounts"]}
    (signs,) = mounts.keys() - {keys}
    assert first["command"][-1].endswith(f"--import {mounts[signs]}/key")
    assert f"generic {volumes[signs]['secret']['secretName']} --from-file=key=" in PAGE
    assert "emptyDir" in volumes[keys], "gpg writes there"
    homes = {
        entry["value"] for each in (first, patched) for entry in each["env"]
        if entry["name"] == "GNUPGHOME"
    }  # fmt: skip
    (home,) = homes
    assert home.startswith(f"{mounts[keys]}/")


def test_what_signs_by_ssh_reads_the_key_where_it_is_mounted() -> None:
    """The patch that the page shows first; that the Secret has such a key, the test above says."""
    (patch,) = (
        yaml.safe_load(text)
        for text in blocks("yaml")
        if "gamekeeper-signing" in text and "initContainers" not in text
    )
    pod = patch["spec"]["template"]["spec"]
    (patched,), (volume,) = pod["containers"], pod["volumes"]
    (mount,) = patched["volumeMounts"]
    asked = {entry["name"]: entry["value"] for entry in patched["env"]}
    assert patched["name"] == container()["name"]
    assert mount["name"] == volume["name"]
    assert volume["secret"] == signing()["volumes"][0]["secret"]
    assert asked == {
        "GAMEKEEPER_COMMIT_SIGNING": "ssh",
        "GAMEKEEPER_COMMIT_SIGNING_KEY": f"{mount['mountPath']}/key",
    }


@pytest.mark.real
def test_a_key_that_comes_in_as_the_page_says_signs(tmp_path: Path) -> None:
    """Twice, as after the end of a pod whose agent was killed; gpg's sockets want short paths."""
    command = signing()["initContainers"][0]["command"][-1]
    with tempfile.TemporaryDirectory(prefix="gk-", dir="/tmp") as short:
        theirs, keys = f"{short}/theirs", f"{short}/keys/gnupg"
        words = "--batch --quiet --passphrase '' --quick-gen-key bot@example.com ed25519 sign 0"
        made = shell(
            f"mkdir -m 700 {theirs}; gpg {words}; gpg --armor --export-secret-keys > {short}/key\n"
            "gpg --list-keys --with-colons | sed -n 's/^fpr:*\\([0-9A-F]*\\):$/\\1/p'; "
            "gpgconf --kill all",
            tmp_path,
            GNUPGHOME=theirs,
        )
        assert made.returncode == 0, made.stderr
        (tmp_path / "made").write_text("x")
        Path(short, "keys").mkdir(mode=0o777)
        command = command.replace("/etc/gamekeeper/signing/key", f"{short}/key")
        sign = f"gpg --batch --local-user {made.stdout.strip()}! --detach-sign --armor made"
        end = "gpg-connect-agent 'getinfo pid' /bye | sed -n 's/^D //p'"
        for step in (command, sign, command, sign):
            done = shell(step, tmp_path, GNUPGHOME=keys)
            assert done.returncode == 0, done.stderr
            (tmp_path / "made.asc").unlink(missing_ok=True)
            os.kill(int(shell(end, tmp_path, GNUPGHOME=keys).stdout), signal.SIGKILL)


def test_every_variable_that_the_page_names_is_a_setting() -> None:
    help_text = shell("gamekeeper run --help", DEPLOY).stdout
    named = set(re.findall(r"GAMEKEEPER_[A-Z_]+", PAGE))
    assert len(named) > 5
    assert [name for name in named if f"[{name}]" not in help_text] == []


@pytest.mark.long
def test_the_request_that_the_page_shows_brings_a_commit_in(tmp_path: Path) -> None:
    secret, request = (each for each in blocks("sh") if "secret)" in each or "> secret" in each)
    make_secret, _ = secret.splitlines()
    assert shell(make_secret, tmp_path).returncode == 0
    address = free_address()
    with fleet(tmp_path) as made, HttpGitServer(tmp_path, tls=False) as host:
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 1))
        flags = ["--repo", host.url("fleet.git"), "--no-lease", "--poll-seconds", "3600"]
        flags += ["--listen", address, "--webhook-secret-file", str(tmp_path / "secret")]
        made.start_loop("cache", *flags)
        until("one room", lambda: len(made.pods("arena")) == 1, 30.0)
        made.commit(schedulers__arena=spec("arena", 2))
        wrong = shell(
            request.replace("$(cat secret)", "wrong"), tmp_path, URL=f"http://{address}/webhook"
        )
        assert wrong.returncode != 0
        assert "401" in wrong.stderr
        done = shell(request, tmp_path, URL=f"http://{address}/webhook")
        assert (done.returncode, done.stdout) == (0, "looking\n"), done.stderr
        until("two rooms", lambda: len(made.pods("arena")) == 2, 10.0)


def test_the_rooms_service_leads_to_whoever_leads_and_to_the_port_where_rooms_are_heard() -> None:
    _, service = manifests("Service")
    (deployment,) = manifests("Deployment")
    marks = deployment["spec"]["template"]["metadata"]["labels"]
    selector = dict(service["spec"]["selector"])
    assert selector.pop(labels.LEADS) == "true"
    assert labels.LEADS not in marks, "a new pod does not lead"
    assert selector.items() <= marks.items()
    assert service["spec"]["publishNotReadyAddresses"], "/readyz waits for more than a room does"
    name = service["metadata"]["name"], service["metadata"]["namespace"]
    assert rooms_url(Settings()) == "http://{}.{}.svc".format(*name)
    (port,) = service["spec"]["ports"]
    listens = {entry["name"]: entry["containerPort"] for entry in container()["ports"]}
    environment = {entry["name"]: entry for entry in container()["env"]}
    assert port["port"] == 80
    address = environment["GAMEKEEPER_ROOMS_LISTEN"]["value"]
    assert address.endswith(f":{listens[port['targetPort']]}")
    for variable, path in ((POD_NAME, "metadata.name"), (POD_NAMESPACE, "metadata.namespace")):
        assert environment[variable]["valueFrom"] == {"fieldRef": {"fieldPath": path}}


def test_replicas_stand_apart_and_leave_one_at_a_time() -> None:
    (deployment,), (budget,) = manifests("Deployment"), manifests("PodDisruptionBudget")
    pod = deployment["spec"]["template"]
    (spread,) = pod["spec"]["topologySpreadConstraints"]
    assert (spread["topologyKey"], spread["maxSkew"]) == ("kubernetes.io/hostname", 1)
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway", "one node is enough for both"
    assert budget["spec"]["maxUnavailable"] < deployment["spec"]["replicas"]
    assert budget["metadata"]["namespace"] == deployment["metadata"]["namespace"]
    for each in (spread["labelSelector"], budget["spec"]["selector"]):
        assert each["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_the_tokens_file_of_the_page_is_one() -> None:
    (text,) = (text for text in blocks("yaml") if "sha256" in text)
    (admin,) = admins_of("admins.yaml", text.encode()).values()
    assert admin.name == "match-director"
    assert admin.workloads == frozenset({"arena"})


def test_the_role_of_the_page_allows_what_is_asked_about() -> None:
    (role,) = (yaml.safe_load(text) for text in blocks("yaml") if "[gamekeeper.dev]" in text)
    (rule,) = role["rules"]
    assert (rule["apiGroups"], rule["resources"]) == (["gamekeeper.dev"], ["rooms"])
    assert set(rule["verbs"]) == set(VERBS.values())


def test_the_roles_of_people_are_of_what_their_commands_ask_for() -> None:
    (text,) = (text for text in blocks("yaml") if "gamekeeper-read" in text)
    read, approve, reconcile = yaml.safe_load_all(text)
    listed = {
        kind for rule in read["rules"] if "list" in rule["verbs"] for kind in rule["resources"]
    }
    # What a command reads at once is what the loop follows.
    kinds = "Pod", "Node", "ConfigMap", *(kind for _, kind in OBJECT_KINDS)
    followed = {plural(kind) for kind in kinds}
    assert listed == followed
    ours = request_ref(Settings().namespace, "main")
    assert reconcile["rules"][0]["resourceNames"] == [ours.name]
    for each in (approve, reconcile):
        assert each["metadata"]["namespace"] == ours.namespace


@pytest.mark.long
async def test_a_key_is_rotated_as_the_page_says_and_the_old_code_stays_good(
    tmp_path: Path,
) -> None:
    (rotate,) = (each for each in blocks("sh") if "room-codes" in each)
    with fleet(tmp_path) as made:
        flags = ConnectionFlags(kubeconfig=str(made.kubeconfig))
        cluster = open_cluster(connect(flags), "main")
        try:
            await ensure_namespace(cluster, "gamekeeper")
            codes = RoomCodes(cluster, "gamekeeper")
            old = await codes.of("arena", "arena-1")
            done = shell(rotate, tmp_path, KUBECONFIG=str(made.kubeconfig))
            assert done.returncode == 0, done.stderr
            await codes.load()
            assert await codes.of("arena", "arena-1") != old
            assert await codes.fits("arena", "arena-1", old)
        finally:
            await cluster.close()
