"""API servers for the contract of `Cluster`: the sandbox over HTTP, and the real control plane."""

import contextlib
import itertools
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.adapters.kubernetes.calls import Limits
from reconciler.adapters.kubernetes.client import KubernetesCluster, open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.assets import kubernetes_definitions
from reconciler.model.refs import Json
from reconciler.sandbox.access import ADMIN, User
from reconciler.sandbox.behaviour import Behaviour, nodes
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.http import SandboxServer
from tests.canaries.places import canary
from tests.controlplane.cluster import ControlPlane

ADMIN_TOKEN = canary("cluster token")
STRANGER_TOKEN = canary("cluster token", "stranger")
_NUMBERS = itertools.count(1)


@dataclass(slots=True)
class ApiServer:
    """One API server and clients of it."""

    admin: Path
    stranger: Path
    sandbox: Sandbox | None = None
    opened: list[KubernetesCluster] = field(default_factory=list)

    def client(self, instance: str = "contract", **options: Any) -> KubernetesCluster:
        """Open a client of the administrator."""
        return self._open(ConnectionFlags(kubeconfig=str(self.admin)), instance, **options)

    def strangers_client(self) -> KubernetesCluster:
        """Open a client of somebody who may do nothing."""
        return self._open(ConnectionFlags(kubeconfig=str(self.stranger)), "stranger")

    def client_with_token(self, token: str) -> KubernetesCluster:
        """Open a client with a token of the caller's choice."""
        return self._open(ConnectionFlags(kubeconfig=str(self.admin), token=token), "tokens")

    def _open(self, flags: ConnectionFlags, instance: str, **options: Any) -> KubernetesCluster:
        limits = options.pop("limits", Limits(qps=0, request_timeout_seconds=20))
        cluster = open_cluster(connect(flags), instance, limits=limits, **options)
        self.opened.append(cluster)
        return cluster

    async def close(self) -> None:
        """Close every client."""
        for each in self.opened:
            await each.close()


@contextlib.asynccontextmanager
async def sandbox_server(folder: Path) -> AsyncIterator[ApiServer]:
    """Serve a sandbox over HTTP."""
    sandbox = Sandbox(
        kubernetes_definitions("1.36"),
        nodes=nodes(3),
        behaviour=Behaviour(start_seconds=0.2, stop_seconds=0.2, namespace_seconds=0.2),
        tokens={ADMIN_TOKEN: ADMIN, STRANGER_TOKEN: User("stranger", rules=())},
    )
    async with SandboxServer(sandbox) as server:
        admin, stranger = folder / "admin.kubeconfig", folder / "stranger.kubeconfig"
        server.write_kubeconfig(admin, ADMIN_TOKEN)
        server.write_kubeconfig(stranger, STRANGER_TOKEN)
        api = ApiServer(admin, stranger, sandbox)
        try:
            yield api
        finally:
            await api.close()


@contextlib.asynccontextmanager
async def real_server(plane: ControlPlane) -> AsyncIterator[ApiServer]:
    """Speak to the real control plane."""
    api = ApiServer(plane.kubeconfig, plane.kubeconfig_for("default/default"))
    try:
        yield api
    finally:
        await api.close()


async def make_namespace(cluster: KubernetesCluster) -> str:
    """Make a namespace of its own for a test, with the service account that its pods run as."""
    name = f"contract-{os.getpid()}-{next(_NUMBERS)}"
    await cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    account = {"name": "rooms", "namespace": name}
    await cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    return name


def pod(namespace: str, name: str, **metadata: Any) -> Json:
    """Return a pod that runs as the service account of `make_namespace`."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {
            "serviceAccountName": "rooms",
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "game", "image": "game:1"}],
        },
    }


def config_map(namespace: str, name: str, data: dict[str, str], **metadata: Any) -> Json:
    """Return a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "data": data,
    }
