"""The program that a kubeconfig names: real ones, that do what a table says."""

import asyncio
import base64
import json
import shlex
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.exec_plugin import Plugin
from reconciler.adapters.kubernetes.kubeconfig import Chosen, ConnectionFlags
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from tests.gitservers.certificates import make_certificate
from tests.unit.adapters_kubernetes.kubeconfigs import authorization, write

V1 = "client.authentication.k8s.io/v1"


def says(status: dict[str, Any] | None, version: str = V1) -> str:
    """Return the shell line that prints a credential."""
    credential = {"apiVersion": version, "kind": "ExecCredential", "status": status}
    return f"printf '%s' {shlex.quote(json.dumps(credential))}"


def plugin(folder: Path, script: str, cluster: dict[str, Any] | None = None, **entry: Any) -> Path:
    """Write a program `login` and the kubeconfig that names it."""
    program = folder / "login"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o700)
    chosen = {"apiVersion": V1, "command": "./login", **entry}
    return write(folder / "config", {"exec": chosen}, cluster)


async def login(file: Path) -> str:
    return await authorization(connect(ConnectionFlags(kubeconfig=str(file)), {}))


async def test_a_plugin_of_a_named_kubeconfig_is_run(tmp_path: Path) -> None:
    assert await login(plugin(tmp_path, says({"token": "from-plugin"}))) == "Bearer from-plugin"


def test_a_plugin_of_an_unnamed_kubeconfig_is_refused_and_not_run(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    at_home = plugin(tmp_path / ".kube", "touch ran")
    for environ in ({"KUBECONFIG": str(at_home)}, {"HOME": str(tmp_path)}):
        with pytest.raises(Misconfigured, match="--kubeconfig"):
            connect(ConnectionFlags(), environ)
    assert not (tmp_path / ".kube" / "ran").exists()


async def test_a_plugin_gets_its_words_its_environment_and_the_cluster(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    script = 'printf "%s" "$KUBERNETES_EXEC_INFO" > told; echo "$*:$COLOUR" > words; '
    cluster = {
        "server": "https://one.test",
        "certificate-authority": str(certificate),
        "tls-server-name": "inside",
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"a": 1}}],
    }
    file = plugin(
        tmp_path,
        f"cd {tmp_path}; {script} {says({'token': 't'})}",
        cluster,
        args=["get", "a b"],
        env=[{"name": "COLOUR", "value": "red"}],
        provideClusterInfo=True,
        interactiveMode="IfAvailable",
    )
    assert await login(file) == "Bearer t"
    assert (tmp_path / "words").read_text() == "get a b:red\n"
    told = json.loads((tmp_path / "told").read_text())
    assert told == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": "https://one.test",
                "tls-server-name": "inside",
                "certificate-authority-data": base64.b64encode(certificate.read_bytes()).decode(),
                "config": {"a": 1},
            },
        },
    }


async def test_a_plugin_is_told_of_no_cluster_unless_it_asks(tmp_path: Path) -> None:
    script = f'printf "%s" "$KUBERNETES_EXEC_INFO" > {tmp_path}/told; '
    await login(plugin(tmp_path, script + says({"token": "t"})))
    assert "cluster" not in json.loads((tmp_path / "told").read_text())["spec"]


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        pytest.param("echo no such profile >&2; exit 3", Misconfigured, "3: no such", id="fails"),
        pytest.param("exit 1", Misconfigured, "it said nothing", id="fails without a word"),
        pytest.param("seq 9 >&2; exit 1", Misconfigured, "7 / 8 / 9$", id="fails with many words"),
        pytest.param(
            "printf 'a\\033[2Jb' >&2; exit 1", Misconfigured, r"1: a\?\[2Jb$", id="terminal codes"
        ),
        pytest.param("echo hello", Misconfigured, "no ExecCredential", id="prints no JSON"),
        pytest.param("echo '[]'", Misconfigured, "no ExecCredential", id="prints a list"),
        pytest.param("echo '{}'", Misconfigured, "no ExecCredential", id="prints no version"),
        pytest.param(
            says({"token": "t"}, "client.authentication.k8s.io/v1beta1"),
            Misconfigured,
            "speaks another apiVersion",
            id="another version",
        ),
        pytest.param(says({}), Denied, "neither a token nor a certificate", id="gives nothing"),
        pytest.param(says(None), Denied, "neither a token nor a certificate", id="no status"),
        pytest.param(says({"token": "a\nb"}), Misconfigured, "no token can", id="a broken token"),
    ],
)
async def test_a_plugin_that_fails_is_named_with_what_it_said(
    tmp_path: Path, script: str, kind: type[PortError], message: str
) -> None:
    with pytest.raises(PortError, match=f"plugin .*/login.* {message}") as caught:
        await login(plugin(tmp_path, script))
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo password=hunter2 >&2; exit 1", id="a password"),
        pytest.param("echo https://u:hunter2@login.test >&2; exit 1", id="a URL"),
        pytest.param("echo hunter2; exit 1", id="what it printed"),
        pytest.param(says({"token": "hunter2"}, "v2"), id="a credential of another version"),
    ],
)
async def test_a_secret_that_a_plugin_says_is_not_repeated(tmp_path: Path, script: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        await login(plugin(tmp_path, script))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        pytest.param({"command": ""}, "names no command", id="no command"),
        pytest.param({"command": 5}, "command must be text", id="a number"),
        pytest.param({"args": "a"}, "args must be a list", id="args in one word"),
        pytest.param({"env": ["A=b"]}, "its env is no list of name, value", id="env as words"),
        pytest.param({"apiVersion": "v1"}, "must have an apiVersion of", id="another version"),
        pytest.param({"interactiveMode": "Always"}, "wants a person", id="asks questions"),
    ],
)
def test_an_entry_that_cannot_be_run_is_told_at_once(
    tmp_path: Path, entry: dict[str, Any], message: str
) -> None:
    file = plugin(tmp_path, says({"token": "t"}), **entry)
    with pytest.raises(Misconfigured, match=message):
        connect(ConnectionFlags(kubeconfig=str(file)), {})


async def test_a_plugin_that_is_not_installed_is_named_with_its_hint(tmp_path: Path) -> None:
    file = plugin(tmp_path, "", command="no-such-login", installHint="get it at login.test")
    with pytest.raises(Misconfigured, match=r"no-such-login cannot be run .* get it at login.test"):
        await login(file)


def of(file: Path, run_seconds: float = 10.0) -> Plugin:
    """Return the plugin of a file, without the credentials that would keep what it gave."""
    entry = json.loads(file.read_text())["users"][0]["user"]["exec"]
    chosen = Chosen({}, {"exec": {**entry, "command": str(file.parent / "login")}}, str(file))
    return Plugin(chosen, None, run_seconds)


async def test_a_plugin_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    file = plugin(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(Unavailable, match="did not end within"):
        await of(file, run_seconds=0.5)()
    await _ends(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("", id="and holds its output"),
        pytest.param(">/dev/null 2>&1", id="and holds nothing"),
    ],
)
async def test_what_a_plugin_leaves_behind_is_not_waited_for_and_ended(
    tmp_path: Path, output: str
) -> None:
    file = plugin(
        tmp_path, f"sleep 60 {output} & echo $! > {tmp_path}/child; {says({'token': 't'})}"
    )
    async with asyncio.timeout(30):
        proof = await of(file)()
    assert proof.headers == {"Authorization": "Bearer t"}
    await _ends(int((tmp_path / "child").read_text()))


async def _ends(pid: int) -> None:
    deadline = time.monotonic() + 30
    while _runs(pid):
        assert time.monotonic() < deadline, "the child of the plugin lives on"
        await asyncio.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def test_a_plugin_that_says_much_does_not_stand_in_its_own_way(tmp_path: Path) -> None:
    file = plugin(tmp_path, f"head -c 300000 /dev/zero >&2; {says({'token': 't'})}")
    assert await login(file) == "Bearer t"


async def test_a_plugin_that_has_worked_and_fails_now_may_work_again(tmp_path: Path) -> None:
    flag = tmp_path / "down"
    run = of(plugin(tmp_path, f"[ ! -e {flag} ] || exit 1; {says({'token': 't'})}"))
    await run()
    flag.touch()
    with pytest.raises(Unavailable, match="exit code 1"):
        await run()


@pytest.mark.parametrize(
    ("ends_in_seconds", "least", "most"),
    [
        pytest.param(3600, 3500, 3541, id="an hour: a minute before its end"),
        pytest.param(60, 25, 31, id="a minute: at half time"),
        pytest.param(-60, 1, 1, id="over already"),
        pytest.param(None, float("inf"), float("inf"), id="no end: until it is refused"),
    ],
)
async def test_a_credential_is_renewed_before_it_ends(
    tmp_path: Path, ends_in_seconds: int | None, least: float, most: float
) -> None:
    status = {"token": "t"}
    if ends_in_seconds is not None:
        ends = datetime.now(UTC) + timedelta(seconds=ends_in_seconds)
        status["expirationTimestamp"] = ends.strftime("%Y-%m-%dT%H:%M:%SZ")
    proof = await of(plugin(tmp_path, says(status)))()
    assert least <= proof.good_for_seconds <= most


async def test_a_token_goes_before_a_plugin_as_for_kubectl(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    file = plugin(tmp_path, f"touch {ran}")
    connection = connect(ConnectionFlags(kubeconfig=str(file), token="t"), {})
    assert await authorization(connection) == "Bearer t"
    with pytest.raises(FileNotFoundError):
        ran.stat()


async def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path).read_text()
    script = says({"clientCertificateData": certificate})
    with pytest.raises(Misconfigured, match="one of them is missing"):
        await login(plugin(tmp_path, script, {"server": "https://one.test"}))


async def test_what_stands_around_a_certificate_may_be_in_any_words(tmp_path: Path) -> None:
    """As `openssl s_client -showcerts` prints it, before each of a chain."""
    pem = make_certificate(tmp_path)
    certificate, key = pem.read_text(), pem.with_suffix(".key").read_text()
    named = f" 0 s:O = Müller\n{certificate}"
    script = says({"token": "t", "clientCertificateData": named * 2, "clientKeyData": key})
    assert await login(plugin(tmp_path, script, {"server": "https://one.test"})) == "Bearer t"


@pytest.mark.parametrize("spoilt", ["ü", "\ud800"], ids=["a letter", "half a character"])
async def test_a_certificate_with_a_letter_in_it_that_is_none_of_its_own_is_refused(
    tmp_path: Path, spoilt: str
) -> None:
    pem = make_certificate(tmp_path)
    certificate, key = pem.read_text(), pem.with_suffix(".key").read_text()
    broken = certificate[:80] + spoilt + certificate[80:]
    script = says({"clientCertificateData": broken, "clientKeyData": key})
    with pytest.raises(Misconfigured, match="its client certificate"):
        await login(plugin(tmp_path, script, {"server": "https://one.test"}))
