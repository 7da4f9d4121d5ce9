"""Clients that others wrote read the sandbox over HTTP: lists in pages, watches, informers."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client, config, watch

from tests.contract.api_server_world import (
    Speaker,
    config_map,
    pod,
    quick_sandbox,
    running_pod,
    served,
)
from tests.controlplane.programs import find

_PATIENCE_SECONDS = 120


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Speaker]]:
    """Serve a sandbox; gives its kubeconfig and a speaker."""
    kubeconfig = tmp_path_factory.mktemp("clients") / "kubeconfig"
    with served(quick_sandbox()) as server:
        server.write_kubeconfig(kubeconfig)
        yield kubeconfig, Speaker(server.url)


@pytest.fixture
def space(sandbox: tuple[Path, Speaker]) -> str:
    """Make a namespace of the test's own and give its path."""
    return sandbox[1].namespace()


@pytest.fixture
def core(sandbox: tuple[Path, Speaker]) -> Iterator[client.CoreV1Api]:
    """Open the official Python client."""
    with config.new_client_from_config(str(sandbox[0])) as opened:
        yield client.CoreV1Api(opened)


def _name(space: str) -> str:
    return space.rsplit("/", 1)[1]


def test_the_python_client_lists_typed_objects_in_pages(
    sandbox: tuple[Path, Speaker], space: str, core: client.CoreV1Api
) -> None:
    for number in range(5):
        sandbox[1].make(f"{space}/pods", pod(f"room-{number}"))
    first = core.list_namespaced_pod(_name(space), limit=2)
    rest = core.list_namespaced_pod(_name(space), _continue=first.metadata._continue)
    assert [one.metadata.name for one in first.items] == ["room-0", "room-1"]
    assert [one.metadata.name for one in rest.items] == ["room-2", "room-3", "room-4"]
    assert first.metadata.remaining_item_count == 3
    made = first.items[0]
    assert isinstance(made, client.V1Pod)
    assert made.metadata.creation_timestamp.tzinfo is not None
    assert made.spec.containers[0].image == "game:1"
    selected = core.list_namespaced_pod(_name(space), field_selector="metadata.name=room-3")
    assert [one.metadata.name for one in selected.items] == ["room-3"]


def test_the_python_client_watches_from_where_it_listed(
    sandbox: tuple[Path, Speaker], space: str, core: client.CoreV1Api
) -> None:
    made = sandbox[1].make(f"{space}/configmaps", config_map("seen", a="1"))
    listed = core.list_namespaced_config_map(_name(space))
    core.patch_namespaced_config_map("seen", _name(space), {"data": {"a": "2"}})
    core.delete_namespaced_config_map("seen", _name(space))
    told = [
        (event["type"], event["object"].data, event["object"].metadata.uid)
        for event in watch.Watch().stream(
            core.list_namespaced_config_map,
            _name(space),
            resource_version=listed.metadata.resource_version,
            timeout_seconds=1,
        )
    ]
    uid = made["metadata"]["uid"]
    assert told == [("MODIFIED", {"a": "2"}, uid), ("DELETED", {"a": "2"}, uid)]


def test_the_python_client_hears_that_a_revision_is_too_old(tmp_path: Path) -> None:
    sandbox = quick_sandbox()
    with served(sandbox) as server:
        server.write_kubeconfig(tmp_path / "kubeconfig")
        space = Speaker(server.url).namespace()
        with config.new_client_from_config(str(tmp_path / "kubeconfig")) as opened:
            core = client.CoreV1Api(opened)
            old = core.list_namespaced_config_map(_name(space)).metadata.resource_version
            core.create_namespaced_config_map(_name(space), config_map("m"))
            sandbox.expire_history()
            stream = watch.Watch().stream(
                core.list_namespaced_config_map, _name(space), resource_version=old
            )
            with pytest.raises(client.ApiException) as refused:
                next(iter(stream))
    assert refused.value.status == 410


@pytest.mark.real
def test_an_informer_of_client_go_sees_what_was_there_and_what_comes_and_goes(
    sandbox: tuple[Path, Speaker], space: str
) -> None:
    kubeconfig, speaker = sandbox
    uid = speaker.make(f"{space}/pods", pod("there"))["metadata"]["uid"]
    argv = [str(find("informer")), f"--kubeconfig={kubeconfig}", f"--namespace={_name(space)}"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        deadline = threading.Timer(_PATIENCE_SECONDS, run.kill)
        deadline.start()
        seen = (json.loads(line) for line in run.stdout)
        before = []
        for sight in seen:
            before.append(sight)
            if sight["event"] == "synced":
                break
        speaker.make(f"{space}/pods", running_pod("watched"))
        assert any((one["event"], one["name"]) == ("add", "watched") for one in seen)
        assert any((one["name"], one["phase"]) == ("watched", "Running") for one in seen)
        speaker.ask("DELETE", f"{space}/pods/there")
        assert any((one["event"], one["uid"]) == ("delete", uid) for one in seen)
        run.communicate(timeout=_PATIENCE_SECONDS)
        deadline.cancel()
    assert [(one["event"], one.get("name")) for one in before] == [
        ("add", "there"),
        ("synced", None),
    ]
    assert before[1]["count"] == 1
    assert run.returncode == 0
