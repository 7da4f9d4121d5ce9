"""The demo's story on a real control plane, under the service account of deploy/ and no other.

Git is served by real transports; `gamekeeper run` is the installed program.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml

from reconciler.cli import demo_stage
from reconciler.cli.console import Console
from reconciler.cli.demo_stage import Stage
from reconciler.cli.demo_story import STORY, scheduler
from reconciler.loop import requests
from reconciler.model import labels
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.settings import Settings
from tests.controlplane.cluster import ControlPlane, Parts
from tests.controlplane.programs import kubectl
from tests.e2e.processes import free_address
from tests.gitservers.http import HttpGitServer
from tests.gitservers.repositories import BareRepository
from tests.gitservers.ssh import ssh_server

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
ACCOUNT = "gamekeeper/gamekeeper"
OWN_POD = "gamekeeper-own"
PATIENCE_SECONDS = 100.0
Chapter = Callable[[Stage], Coroutine[Any, Any, None]]
PROGRAM = Path(sys.executable).with_name("gamekeeper")


@contextmanager
def installed(parts: Parts) -> Iterator[ControlPlane]:
    """A real control plane to which deploy/ was applied, but for its Deployment."""
    documents = list(yaml.safe_load_all((ROOT / "deploy/gamekeeper.yaml").read_text()))
    wanted = [item for item in documents if item["kind"] != "Deployment"]
    with ControlPlane(parts) as cluster:
        cluster.add_nodes(3)
        subprocess.run(
            [str(kubectl("1.36")), "--kubeconfig", str(cluster.kubeconfig), "apply", "-f", "-"],
            input=yaml.safe_dump_all(wanted).encode(),
            check=True,
            capture_output=True,
        )
        yield cluster


def deployed(cluster: ControlPlane, repository: str, folder: Path) -> dict[str, str]:
    """What `gamekeeper run` is told in each story: it runs under the account of deploy/."""
    return {
        "REPO": repository,
        "INSTANCE": "main",
        "KUBECONFIG": str(cluster.kubeconfig_for(ACCOUNT)),
        "POLL_SECONDS": "1",
        "CACHE_DIR": str(folder / "cache"),
    }


@contextmanager
def running(settings: Mapping[str, str]) -> Iterator[None]:
    """`gamekeeper run` as a process; it must end by itself, and well, when it is told to."""
    # No pipe: once that is full, who is read only in the end stands still for good.
    log = Path(settings["CACHE_DIR"]).with_suffix(".log")
    # Its own port is one for all on a machine, and so somebody else's.
    mine = {"LISTEN": "127.0.0.1:0", **settings}
    with log.open("ab") as out:
        process = subprocess.Popen(
            [str(PROGRAM), "run"],
            env={**os.environ, **{f"GAMEKEEPER_{name}": text for name, text in mine.items()}},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=120)
        finally:
            process.kill()
            process.wait()
            said = log.read_text(encoding="utf-8", errors="replace")
            print(said)
    assert process.returncode == 0, said


def tell(
    settings: Settings,
    repository: Path,
    environment: Mapping[str, str],
    also: Sequence[tuple[str, Chapter]] = (),
) -> str:
    """Play all chapters and return what the narrator said."""
    said = StringIO()

    async def play() -> None:
        stage = Stage(Console(said, said), repository, settings)
        await stage.prepare()
        try:
            for number, (title, chapter) in enumerate((*STORY, *MORE, *also), 1):
                stage.open_chapter(number, title)
                await chapter(stage)
        finally:
            await stage.close()
            print(said.getvalue())

    with pytest.MonkeyPatch.context() as patch:
        # The demo's is meant for a machine of which it has the whole.
        patch.setattr(demo_stage, "PATIENCE_SECONDS", PATIENCE_SECONDS)
        for name, text in environment.items():
            patch.setenv(name, text)
        asyncio.run(play())
    return said.getvalue()


def _make_own_pods(cluster: ControlPlane) -> None:
    """Two pods as the Deployment would make them; the first one is said to be this process."""
    for name, marks in ((OWN_POD, {}), ("gamekeeper-old", {labels.LEADS: "true"})):
        marks = {labels.NAME: "gamekeeper", **marks}
        port = {"name": "rooms", "containerPort": 8090}
        container = {"name": "c", "image": "registry.example/gamekeeper:1", "ports": [port]}
        spec = {"serviceAccountName": "gamekeeper", "containers": [container]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": marks}}
        cluster.api.demand("POST", "/api/v1/namespaces/gamekeeper/pods", {**body, "spec": spec})


def test_the_story_over_http_under_the_deployed_account(tmp_path: Path) -> None:
    BareRepository.create(tmp_path / "git", "fleet.git")
    with installed(Parts(audited=True)) as cluster, HttpGitServer(tmp_path / "git") as host:
        settings = {
            **deployed(cluster, host.url("fleet.git"), tmp_path),
            "GIT_CERTIFICATE_AUTHORITY_FILE": str(host.authority_file),
            "ROOMS_LISTEN": (address := free_address()),
            "POD_NAME": OWN_POD,
            "POD_NAMESPACE": "gamekeeper",
        }
        _make_own_pods(cluster)
        speaks = partial(a_room_speaks_for_itself, cluster=cluster, address=address)
        person = Settings(
            repo=host.url("fleet.git"), instance="main", kubeconfig=str(cluster.kubeconfig)
        )
        with running(settings):
            said = tell(
                person,
                tmp_path / "work",
                host.environment(),
                [
                    ("A room speaks for itself", speaks),
                    ("Rooms are led to who decides", the_service_leads_to_who_leads),
                ],
            )
        assert said.count("ok ") >= len(STORY)
        check_access(cluster)


def test_the_story_over_ssh(tmp_path: Path) -> None:
    bare = BareRepository.create(tmp_path / "git", "fleet.git")
    with installed(Parts()) as cluster, ssh_server() as host:
        settings = {
            **deployed(cluster, host.url(bare.path), tmp_path),
            "GIT_SSH_KEY_FILE": str(host.key_file),
            "GIT_KNOWN_HOSTS_FILE": str(host.known_hosts_file),
        }
        person = Settings(
            repo=host.url(bare.path), instance="main", kubeconfig=str(cluster.kubeconfig)
        )
        with running(settings):
            said = tell(person, tmp_path / "work", host.environment())
    assert said.count("ok ") >= len(STORY)


async def a_person_asks_to_look_now(stage: Stage) -> None:
    ref = requests.request_ref("gamekeeper", "main")
    await requests.ask(stage.cluster, ref, "main", "now")

    async def answered() -> bool:
        return not await requests.pending(stage.cluster, ref)

    await stage.until("the request is answered", answered)


async def a_stranger_holds_the_next_name(stage: Stage) -> None:
    ordinals = (await stage.records()).ordinals(WorkloadKey("Scheduler", "arena", "arena"))
    assert ordinals is not None
    name = f"arena-{ordinals.next}"
    containers = [{"name": "squatter", "image": "registry.example/squatter:1"}]
    await stage.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "arena"},
            "spec": {"containers": containers},
        }
    )
    await stage.commit("One more", arena=scheduler("arena", 6, "1.1"))

    async def grown() -> bool:
        ours = await stage.rooms("arena")
        return len(ours) == 6 and all(pod["metadata"]["name"] != name for pod in ours)

    await stage.until("arena has 6 rooms of ours, the stranger's pod is left alone", grown)


async def a_label_of_ours_is_taken_off(stage: Stage) -> None:
    pod = (await stage.rooms("arena"))[0]
    ref = ObjectRef("v1", "Pod", "arena", pod["metadata"]["name"])
    await stage.cluster.merge_patch(ref, {"metadata": {"labels": {labels.MANAGED_BY: None}}})

    async def mended() -> bool:
        there = await stage.cluster.get(ref)
        return there is not None and labels.MANAGED_BY in there["metadata"]["labels"]

    await stage.until("it is set again, on the same pod", mended)


async def a_room_speaks_for_itself(stage: Stage, cluster: ControlPlane, address: str) -> None:
    spec = scheduler("duel", 2).replace("reports: none", "reports: required")
    assert "reports: required" in spec
    await stage.commit("Rooms that report", duel=spec)

    async def running() -> bool:
        return len(await stage.ready_rooms("duel")) == 2

    await stage.until("two rooms run, and nobody has heard of them", running)
    room, other = await stage.rooms("duel")
    token, name = _token_of(cluster, room), room["metadata"]["name"]
    said = {"timestamp": 1, "status": "ready"}

    async def heard() -> bool:
        path = f"/scheduler/duel/rooms/{name}/ping"
        assert _asked(address, "PUT", path, token, said) == 200
        pod = await stage.cluster.get(ObjectRef("v1", "Pod", "duel", name))
        return pod is not None and pod["metadata"]["labels"].get(labels.STATE) == "idle"

    await stage.until("one is heard, by its own token", heard)
    path = f"/scheduler/duel/rooms/{other['metadata']['name']}/ping"
    assert _asked(address, "PUT", path, token, said) == 403
    (code,) = (
        variable["value"]
        for variable in other["spec"]["containers"][0]["env"]
        if variable["name"] == "API_SERVER_CODE"
    )
    body = {"serverName": other["metadata"]["name"], "namespace": "duel", "playerCount": 0}
    assert _asked(address, "POST", f"/setactiveplayers?code={code}", "", body) == 200
    assert _asked(address, "POST", f"/setactiveplayers?code={code[::-1]}", "", body) == 401
    # Somebody whom the API server knows, and who may not look at rooms.
    assert _asked(address, "GET", "/v1/rooms", cluster.token("default/default")) == 403


async def the_service_leads_to_who_leads(stage: Stage) -> None:
    async def led() -> bool:
        found = await stage.cluster.list(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            "gamekeeper",
            labels="kubernetes.io/service-name=gamekeeper-rooms",
        )
        ends = [end for each in found.items for end in each.get("endpoints") or ()]
        return [end["targetRef"]["name"] for end in ends] == [OWN_POD]

    await stage.until("the rooms' Service leads to the pod that decides, and to no other", led)


def _token_of(cluster: ControlPlane, pod: dict[str, Any]) -> str:
    """What the kubelet writes into the pod."""
    metadata, account = pod["metadata"], pod["spec"]["serviceAccountName"]
    (audience,) = (
        source["serviceAccountToken"]["audience"]
        for volume in pod["spec"]["volumes"]
        for source in volume.get("projected", {}).get("sources", ())
    )
    bound = {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]}
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [audience], "boundObjectRef": bound},
    }
    path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
    token: str = cluster.api.demand("POST", path, body)["status"]["token"]
    return token


def _asked(address: str, method: str, path: str, token: str, body: object = None) -> int:
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    data = json.dumps(body).encode() if body is not None else None
    request = Request(f"http://{address}{path}", data, headers, method=method)
    try:
        with urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


MORE: tuple[tuple[str, Chapter], ...] = (
    ("A label of ours is taken off", a_label_of_ours_is_taken_off),
    ("A person asks the loop to look now", a_person_asks_to_look_now),
    ("A stranger's pod holds the next name", a_stranger_holds_the_next_name),
)


def check_access(cluster: ControlPlane) -> None:
    """Nothing was refused, and nothing that deploy/ grants went unused."""
    asked = cluster.audit(ACCOUNT)
    forbidden = [
        _request(event)
        for event in asked
        if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
    ]
    assert not forbidden
    pages = {event["requestURI"] for event in asked if "objectRef" not in event}
    assert pages >= {"/.well-known/openid-configuration", "/openid/v1/jwks"}
    used = {_request(event) for event in asked if "objectRef" in event}
    # An apply that makes the object asks for both; the audit log shows the patch alone.
    used |= {(group, kind, "create") for group, kind, verb in used if verb == "patch"}
    granted = set(_granted())
    assert not granted - used, f"granted and never asked for: {sorted(granted - used)}"


def _request(event: dict[str, Any]) -> tuple[str, str, str]:
    ref = event["objectRef"]
    return ref.get("apiGroup", ""), ref["resource"], event["verb"]


def _granted() -> Iterator[tuple[str, str, str]]:
    for document in yaml.safe_load_all((ROOT / "deploy/gamekeeper.yaml").read_text()):
        for rule in document.get("rules", ()):
            for group in rule.get("apiGroups", ()):
                for resource in rule["resources"]:
                    for verb in rule["verbs"]:
                        yield group, resource, verb
