"""All ways to connect, each to the real API server, which tells as whom it sees us."""

import asyncio
import base64
import json
import os
import shlex
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call, Limits
from reconciler.adapters.kubernetes.connect import Connection, connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.adapters.kubernetes.transport import Transport
from reconciler.model.errors import Denied, Misconfigured, Unavailable
from reconciler.model.refs import Json
from tests.controlplane import certificates
from tests.controlplane.cluster import ControlPlane
from tests.unit.adapters_kubernetes.connect_proxy import connect_proxy

pytestmark = pytest.mark.real

V1 = "client.authentication.k8s.io/v1"
REVIEW = "authentication.k8s.io/v1"
ACCOUNT = "system:serviceaccount:connections:caller"


class Caller:
    """One connection, held open over many questions."""

    def __init__(self, connection: Connection) -> None:
        limits = Limits(qps=0, request_timeout_seconds=20)
        self.transport = Transport(connection, limits, "connections")

    async def seen_as(self) -> Json:
        """Ask the server as whom it sees us."""
        body = {"apiVersion": REVIEW, "kind": "SelfSubjectReview"}
        path = f"/apis/{REVIEW}/selfsubjectreviews"
        call = Call("create", "POST", "SelfSubjectReview", path, "ask who we are", body)
        _, answer = await self.transport.send(call)
        found: Json = answer["status"]["userInfo"]
        return found

    async def name(self) -> str:
        """Ask the server for the name it knows us by."""
        return str((await self.seen_as())["username"])


@asynccontextmanager
async def calling(
    flags: ConnectionFlags, environ: dict[str, str] | None = None, *where: Path
) -> AsyncIterator[Caller]:
    caller = Caller(connect(flags, environ or {}, *where))
    try:
        yield caller
    finally:
        await caller.transport.close()


@pytest.fixture(scope="module")
def plane(real_cluster: ControlPlane) -> Iterator[ControlPlane]:
    real_cluster.add_namespace("connections")
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "caller"}}
    path = "/api/v1/namespaces/connections/serviceaccounts"
    real_cluster.api.demand("POST", path, account)
    yield real_cluster
    real_cluster.api.demand("DELETE", "/api/v1/namespaces/connections")


def kubeconfig(
    plane: ControlPlane, folder: Path, user: Json, cluster: Json | None = None
) -> ConnectionFlags:
    """Write a kubeconfig for the control plane and return the flag that names it."""
    entry = {"server": plane.url, "certificate-authority": str(plane.authority_file)}
    document = {
        "clusters": [{"name": "c", "cluster": {**entry, **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document), encoding="utf-8")
    return ConnectionFlags(kubeconfig=str(path))


def in_pod(plane: ControlPlane, folder: Path, token: str) -> dict[str, str]:
    """Lay out what a pod finds of its service account; return its environment."""
    (folder / "ca.crt").write_bytes(plane.authority_file.read_bytes())
    (folder / "token").write_text(token, encoding="utf-8")
    host, _, port = plane.url.removeprefix("https://").rpartition(":")
    return {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "HOME": str(folder),
        "HTTPS_PROXY": "http://127.0.0.1:1",
    }


def ending_token(plane: ControlPlane, ends_at: float) -> str:
    """Sign a token of the service account that ends then: the server itself gives no short ones."""
    path = "/api/v1/namespaces/connections/serviceaccounts/caller"
    uid = plane.api.demand("GET", path)["metadata"]["uid"]
    claims = {
        "iss": "https://kubernetes.default.svc.cluster.local",
        "aud": ["https://kubernetes.default.svc.cluster.local"],
        "sub": ACCOUNT,
        "exp": int(ends_at),
        "iat": int(ends_at) - 600,
        "nbf": int(ends_at) - 600,
        "kubernetes.io": {
            "namespace": "connections",
            "serviceaccount": {"name": "caller", "uid": uid},
        },
    }
    signed = ".".join(_base64url(json.dumps(each).encode()) for each in ({"alg": "RS256"}, claims))
    argv = ["openssl", "dgst", "-sha256", "-sign", str(plane.layout.signing_key)]
    made = subprocess.run(argv, input=signed.encode(), check=True, capture_output=True)
    return f"{signed}.{_base64url(made.stdout)}"


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


async def test_in_a_pod_we_are_its_service_account_and_follow_its_token(
    plane: ControlPlane, tmp_path: Path
) -> None:
    environ = in_pod(plane, tmp_path, "not a token of this cluster")
    async with calling(ConnectionFlags(), environ, tmp_path) as caller:
        with pytest.raises(Denied, match="401"):
            await caller.name()
        # The kubelet puts the new token in place by a rename.
        fresh = tmp_path / "fresh"
        fresh.write_text(plane.token("connections/caller"), encoding="utf-8")
        os.replace(fresh, tmp_path / "token")
        assert await caller.name() == ACCOUNT


async def test_a_token_that_runs_out_is_read_anew_and_nobody_notices(
    plane: ControlPlane, tmp_path: Path
) -> None:
    # The server forgives a minute of a wrong clock, and remembers tokens for ten seconds.
    environ = in_pod(plane, tmp_path, ending_token(plane, time.time() - 60 + 12))
    old = (tmp_path / "token").read_text()
    async with calling(ConnectionFlags(), environ, tmp_path) as caller:
        assert await caller.name() == ACCOUNT
        (tmp_path / "token").write_text(plane.token("connections/caller"), encoding="utf-8")
        alone = kubeconfig(plane, tmp_path, {"token": old})
        deadline = time.monotonic() + 120
        async with calling(alone) as other:
            while await _is_known(other):
                assert time.monotonic() < deadline, "the old token never ran out"
                assert await caller.name() == ACCOUNT
                await asyncio.sleep(0.5)
        assert await caller.name() == ACCOUNT


async def _is_known(caller: Caller) -> bool:
    try:
        return await caller.name() == ACCOUNT
    except Denied:
        return False


async def test_a_client_certificate_says_who_we_are(plane: ControlPlane, tmp_path: Path) -> None:
    made = plane.client_certificate(tmp_path, "ann", "builders", "testers")
    inline = {
        "client-certificate-data": base64.b64encode(made.certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(made.key.read_bytes()).decode(),
    }
    named = {"client-certificate": "ann.crt", "client-key": "ann.key"}
    for user in (inline, named):
        async with calling(kubeconfig(plane, tmp_path, user)) as caller:
            seen = await caller.seen_as()
            assert seen["username"] == "ann"
            assert {"builders", "testers"} <= set(seen["groups"])
    flags = ConnectionFlags(
        server=plane.url,
        certificate_authority=str(plane.authority_file),
        client_certificate=str(made.certificate),
        client_key=str(made.key),
    )
    async with calling(flags) as caller:
        assert await caller.name() == "ann"


async def test_a_certificate_of_a_stranger_is_refused(plane: ControlPlane, tmp_path: Path) -> None:
    certificates.write_authority(tmp_path / "stranger.crt")
    made = certificates.issue(tmp_path / "stranger.crt", tmp_path, "ann", [])
    user = {"client-certificate": str(made.certificate), "client-key": str(made.key)}
    async with calling(kubeconfig(plane, tmp_path, user)) as caller:
        with pytest.raises(Denied, match="renew the token or the client certificate"):
            await caller.name()


async def test_the_server_sees_whom_we_ask_it_to_see(plane: ControlPlane, tmp_path: Path) -> None:
    user = {"token": plane.admin_token, "as": "nobody", "as-groups": ["lost"]}
    named = kubeconfig(plane, tmp_path, user)
    flags = ConnectionFlags(
        kubeconfig=named.kubeconfig,
        as_user="ann",
        as_groups=("builders", "testers"),
        as_uid="7",
        as_user_extra=("example.com/scope=a", "example.com/scope=b"),
    )
    async with calling(flags) as caller:
        seen = await caller.seen_as()
    assert (seen["username"], seen["uid"]) == ("ann", "7")
    assert seen["groups"] == ["builders", "testers", "system:authenticated"]
    assert seen["extra"] == {"example.com/scope": ["a", "b"]}
    async with calling(named) as caller:
        assert (await caller.seen_as())["groups"] == ["lost", "system:authenticated"]


async def test_who_may_not_ask_to_be_another_is_told(plane: ControlPlane, tmp_path: Path) -> None:
    user = {"token": plane.token("connections/caller"), "as": "ann"}
    async with calling(kubeconfig(plane, tmp_path, user)) as caller:
        with pytest.raises(Denied, match="cannot impersonate"):
            await caller.name()


async def test_a_server_is_checked_by_the_name_that_was_given(
    plane: ControlPlane, tmp_path: Path
) -> None:
    user = {"token": plane.admin_token}
    for name in ("kubernetes.default.svc", "kubernetes"):
        named = kubeconfig(plane, tmp_path, user, {"tls-server-name": name})
        async with calling(named) as caller:
            assert await caller.name() == "controlplane-admin"
    wrong = kubeconfig(plane, tmp_path, user, {"tls-server-name": "wrong.test"})
    async with calling(wrong) as caller:
        with pytest.raises(Misconfigured, match="tls-server-name"):
            await caller.name()


async def test_a_proxy_leads_to_the_server_with_its_user_and_password(
    plane: ControlPlane, tmp_path: Path
) -> None:
    user = {"token": plane.admin_token}
    async with connect_proxy(login="proxy:hunter2") as proxy:
        with_login = proxy.url.replace("://", "://proxy:hunter2@")
        named = kubeconfig(plane, tmp_path, user, {"proxy-url": with_login})
        async with calling(named) as caller:
            assert await caller.name() == "controlplane-admin"
            assert await caller.name() == "controlplane-admin"
        assert proxy.asked == [f"CONNECT {plane.url.removeprefix('https://')}"]
        unnamed = kubeconfig(plane, tmp_path, user, {"proxy-url": proxy.url})
        async with calling(unnamed) as caller:
            with pytest.raises(Denied, match=r"the proxy does not let us through .*\(407\)"):
                await caller.name()


async def test_the_proxy_of_the_environment_is_used_but_for_those_it_is_not_for(
    plane: ControlPlane, tmp_path: Path
) -> None:
    # Only the proxy knows this name, so who does not go through it finds nobody.
    port = plane.url.rpartition(":")[2]
    cluster = {"server": f"https://fleet.test:{port}", "tls-server-name": "kubernetes"}
    flags = kubeconfig(plane, tmp_path, {"token": plane.admin_token}, cluster)
    async with connect_proxy(hosts={"fleet.test": "127.0.0.1"}) as proxy:
        environ = {"HTTPS_PROXY": proxy.url}
        async with calling(flags, environ) as caller:
            assert await caller.name() == "controlplane-admin"
        assert proxy.asked == [f"CONNECT fleet.test:{port}"]
        async with calling(flags, {**environ, "NO_PROXY": ".test"}) as caller:
            with pytest.raises(Unavailable, match="leads nowhere"):
                await caller.name()
        assert len(proxy.asked) == 1


def plugin(folder: Path, script: str) -> Json:
    """Write a credentials program that counts its runs, and the user entry that names it."""
    program = folder / "login"
    program.write_text(f"#!/bin/sh\necho ran >> {folder}/runs\n{script}\n", encoding="utf-8")
    program.chmod(0o700)
    return {"exec": {"apiVersion": V1, "command": "./login", "interactiveMode": "Never"}}


def printing(**status: Any) -> str:
    credential = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    return f"printf '%s' {shlex.quote(json.dumps(credential))}"


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


async def test_a_plugin_is_run_once_and_again_when_its_token_is_refused(
    plane: ControlPlane, tmp_path: Path
) -> None:
    stale, good = printing(token="stale"), printing(token=plane.token("connections/caller"))
    user = plugin(tmp_path, f"[ $(wc -l < {tmp_path}/runs) = 1 ] && {stale} || {good}")
    async with calling(kubeconfig(plane, tmp_path, user)) as caller:
        assert [await caller.name() for _ in range(3)] == [ACCOUNT] * 3
    assert runs(tmp_path) == 2


async def test_a_plugin_whose_token_ends_soon_is_run_again_before(
    plane: ControlPlane, tmp_path: Path
) -> None:
    token = plane.token("connections/caller")
    at = '"$(date -u -d "+16 seconds" +%Y-%m-%dT%H:%M:%SZ)"'
    ends = f'"expirationTimestamp":"%s","token":"{token}"'
    script = f'printf \'{{"apiVersion":"{V1}","kind":"ExecCredential","status":{{{ends}}}}}\''
    user = plugin(tmp_path, f"{script} {at}")
    async with calling(kubeconfig(plane, tmp_path, user)) as caller:
        assert [await caller.name() for _ in range(5)] == [ACCOUNT] * 5
        assert runs(tmp_path) == 1
        await asyncio.sleep(9)  # it is renewed at half time
        assert await caller.name() == ACCOUNT
    assert runs(tmp_path) == 2


async def test_a_plugin_may_give_a_certificate_and_the_next_one_is_shown_at_once(
    plane: ControlPlane, tmp_path: Path
) -> None:
    certificates.write_authority(tmp_path / "stranger.crt")
    stranger = certificates.issue(tmp_path / "stranger.crt", tmp_path, "eve", [])
    ann = plane.client_certificate(tmp_path, "ann")
    gives = [
        printing(
            clientCertificateData=made.certificate.read_text(), clientKeyData=made.key.read_text()
        )
        for made in (stranger, ann)
    ]
    user = plugin(tmp_path, f"[ $(wc -l < {tmp_path}/runs) = 1 ] && {gives[0]} || {gives[1]}")
    async with calling(kubeconfig(plane, tmp_path, user)) as caller:
        assert await caller.name() == "ann"
    assert runs(tmp_path) == 2


async def test_a_plugin_that_fails_is_named_with_what_it_said(
    plane: ControlPlane, tmp_path: Path
) -> None:
    user = plugin(tmp_path, "echo 'session expired: run `login` again' >&2; exit 7")
    async with calling(kubeconfig(plane, tmp_path, user)) as caller:
        with pytest.raises(Misconfigured, match=r"/login failed .* 7: session expired: run"):
            await caller.name()


def test_a_plugin_is_run_only_for_a_kubeconfig_that_was_named(
    plane: ControlPlane, tmp_path: Path
) -> None:
    flags = kubeconfig(plane, tmp_path, plugin(tmp_path, printing(token="t")))
    with pytest.raises(Misconfigured, match="name that kubeconfig with --kubeconfig"):
        connect(ConnectionFlags(), {"KUBECONFIG": flags.kubeconfig})
    assert not (tmp_path / "runs").exists()
