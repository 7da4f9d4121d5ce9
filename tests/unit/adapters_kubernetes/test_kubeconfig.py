import base64
import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.kubernetes.connect import Connection, connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.model.errors import Denied, Misconfigured


def write(path: Path, user: dict[str, Any], **changes: Any) -> Path:
    """Write a kubeconfig with the contexts `one` and `two` of clusters and users of these names."""
    names = ("one", "two")
    config = {
        "clusters": [
            {"name": name, "cluster": {"server": f"http://{name}.test:8080/"}} for name in names
        ],
        "users": [{"name": "one", "user": user}, {"name": "two", "user": {"token": "of-two"}}],
        "contexts": [{"name": n, "context": {"cluster": n, "user": n}} for n in names],
        "current-context": "one",
        **changes,
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


async def token(connection: Connection) -> str:
    return (await connection.credentials.headers()).get("Authorization", "")


@pytest.mark.parametrize(
    ("flags", "url", "header"),
    [
        pytest.param({}, "http://one.test:8080", "Bearer of-one", id="its current context"),
        pytest.param(
            {"context": "two"}, "http://two.test:8080", "Bearer of-two", id="a context by name"
        ),
        pytest.param(
            {"cluster": "two"}, "http://two.test:8080", "Bearer of-one", id="another cluster"
        ),
        pytest.param({"user": "two"}, "http://one.test:8080", "Bearer of-two", id="another user"),
        pytest.param(
            {"server": "http://s.test"}, "http://s.test", "Bearer of-one", id="another server"
        ),
        pytest.param({"token": "t"}, "http://one.test:8080", "Bearer t", id="another token"),
    ],
)
async def test_flags_choose_as_those_of_kubectl(
    tmp_path: Path, flags: dict[str, Any], url: str, header: str
) -> None:
    file = write(tmp_path / "config", {"token": "of-one"})
    connection = connect(ConnectionFlags(kubeconfig=str(file), **flags), {})
    assert connection.url == url
    assert await token(connection) == header


async def test_the_first_of_several_files_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "first", {"token": "first"})
    second = write(tmp_path / "second", {"token": "second"}, **{"current-context": "two"})
    connection = connect(ConnectionFlags(), {"KUBECONFIG": f"{first}:{second}:{tmp_path}/none"})
    assert await token(connection) == "Bearer first"


async def test_without_flag_and_variable_the_file_at_home_is_read(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", {"username": "u", "password": "p"})
    connection = connect(ConnectionFlags(), {"HOME": str(tmp_path)})
    assert await token(connection) == f"Basic {base64.b64encode(b'u:p').decode()}"


async def test_a_token_file_is_found_beside_its_kubeconfig_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old\n", encoding="utf-8")
    file = write(tmp_path / "config", {"tokenFile": "token"})
    connection = connect(ConnectionFlags(kubeconfig=str(file)), {})
    headers = await connection.credentials.headers()
    assert headers == {"Authorization": "Bearer old"}
    (tmp_path / "token").write_text("new\n", encoding="utf-8")
    assert await connection.credentials.headers() is headers
    assert await connection.credentials.renew(headers)
    assert await token(connection) == "Bearer new"
    (tmp_path / "token").unlink()
    with pytest.raises(Denied, match="token"):
        await connection.credentials.renew(await connection.credentials.headers())


def plugin(folder: Path, script: str) -> Path:
    program = folder / "login"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o700)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login"}}
    return write(folder / "config", user)


CREDENTIAL = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}


async def test_a_plugin_of_a_named_kubeconfig_is_run(tmp_path: Path) -> None:
    answer = {**CREDENTIAL, "status": {"token": "from-plugin"}}
    file = plugin(tmp_path, f"echo '{json.dumps(answer)}'")
    connection = connect(ConnectionFlags(kubeconfig=str(file)), {})
    assert await token(connection) == "Bearer from-plugin"


def test_a_plugin_of_an_unnamed_kubeconfig_is_refused(tmp_path: Path) -> None:
    file = plugin(tmp_path, "touch ran")
    with pytest.raises(Misconfigured, match="--kubeconfig"):
        connect(ConnectionFlags(), {"KUBECONFIG": str(file)})
    assert not (tmp_path / "ran").exists()


async def test_a_plugin_that_fails_is_denied_without_what_it_said(tmp_path: Path) -> None:
    file = plugin(tmp_path, "echo hunter2 >&2; exit 1")
    connection = connect(ConnectionFlags(kubeconfig=str(file)), {})
    with pytest.raises(Denied, match="run it by hand") as caught:
        await token(connection)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "flags", "message"),
    [
        pytest.param({}, {"context": "three"}, "no context named three: .* one, two", id="context"),
        pytest.param({}, {"cluster": "three"}, "no cluster named three", id="cluster"),
        pytest.param({"current-context": ""}, {}, "choose one with --context", id="no context"),
        pytest.param({"clusters": []}, {}, "no cluster named one: .* none", id="no clusters"),
        pytest.param({}, {"server": "one.test"}, "http:// or https://", id="a server of no scheme"),
        pytest.param(
            {}, {"server": "https://s", "certificate_authority": "/none"}, "/none", id="no file"
        ),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, changes: dict[str, Any], flags: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "config", {"token": "t"}, **changes)
    with pytest.raises(Misconfigured, match=message):
        connect(ConnectionFlags(kubeconfig=str(file), **flags), {})


def test_a_kubeconfig_that_is_not_there_or_not_yaml_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="check --kubeconfig"):
        connect(ConnectionFlags(kubeconfig=str(tmp_path / "none")), {})
    broken = tmp_path / "broken"
    broken.write_text("a: [", encoding="utf-8")
    with pytest.raises(Misconfigured, match="broken is not YAML"):
        connect(ConnectionFlags(kubeconfig=str(broken)), {})


def test_outside_a_cluster_and_without_a_kubeconfig_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="pass --kubeconfig"):
        connect(ConnectionFlags(), {"HOME": str(tmp_path)})
