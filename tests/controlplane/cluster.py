"""A real control plane for the length of a block: etcd, API server, controllers, scheduler, kwok.

It listens on the loopback address only, keeps everything in one temporary folder, and ends with
the test run, however that ends (see `processes.ServerGroup`). Clients of the API server stop
before it, and etcd last: an API server that has lost its etcd hangs.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.controlplane import audit, certificates, components, credentials, history, nodes, stages
from tests.controlplane.api import Api, Refused
from tests.controlplane.certificates import ClientCertificate
from tests.controlplane.components import Layout
from tests.controlplane.nodes import NodeShape
from tests.controlplane.processes import Server, ServerGroup, free_ports
from tests.controlplane.programs import PROGRAMS, find

START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts run beside etcd and the API server, and how fast kwok's pods come and go.

    Without controllers a namespace gets no `default` service account, and so no pods without one.
    An audited API server writes down who asked for what (see `ControlPlane.audit`).
    New nodes are tainted where controllers take the taint off, or where `taints_nodes` says so.
    The first `past_revisions` of etcd are forgotten: who asks for them hears 410.
    `pod_stop_seconds=None` lets a deleted pod use the whole of its grace period.
    """

    with_controllers: bool = True
    with_scheduler: bool = True
    with_kwok: bool = True
    audited: bool = False
    taints_nodes: bool = False
    past_revisions: int = 0
    pod_start_seconds: float = 0.5
    pod_stop_seconds: float | None = 0.5


class ControlPlane:
    """A running control plane; use it as a context manager."""

    def __init__(self, parts: Parts | None = None) -> None:
        self.parts = parts or Parts()
        self._group: ServerGroup | None = None
        self._layout: Layout | None = None
        self._api: Api | None = None
        self._nodes_made = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything and wait until it answers.

        Raises:
            ControlPlaneAbsent: a program is not built.
            StartFailed: something did not come up; with the ends of the logs.
        """
        for program in PROGRAMS:
            find(program.name)
        self._group = ServerGroup("controlplane")
        try:
            self._start_servers(self._group)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything and remove its files; nothing happens when it has been stopped."""
        group, self._group, self._api = self._group, None, None
        if group is None:
            return
        # The clients do not need each other, so they leave at the same time.
        for server in group.servers[2:]:
            server.ask_to_stop()
        group.close()

    @property
    def layout(self) -> Layout:
        """Return where the files are and which ports are used.

        Raises:
            RuntimeError: it does not run.
        """
        if self._group is None or self._layout is None:
            raise RuntimeError("this control plane does not run")
        return self._layout

    @property
    def api(self) -> Api:
        """Return the administrator's client.

        Raises:
            RuntimeError: it does not run.
        """
        if self._api is None:
            raise RuntimeError("this control plane does not run")
        return self._api

    @property
    def url(self) -> str:
        """Return the API server's address."""
        return self.layout.url

    @property
    def kubeconfig(self) -> Path:
        """Return the administrator's kubeconfig file."""
        return self.layout.kubeconfig

    @property
    def admin_token(self) -> str:
        """Return the token of the administrator, a member of system:masters."""
        return self.api.token

    @property
    def authority_file(self) -> Path:
        """Return the file of the certificate that clients of `url` must trust."""
        return self.layout.authority

    def pids(self) -> dict[str, int]:
        """Return the process id of each running program by its name."""
        servers = self._group.servers if self._group is not None else ()
        return {server.name: server.pid for server in servers}

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Freeze the API server for a block: it takes connections and answers nothing."""
        server = self._api_server()
        server.freeze()
        try:
            yield
        finally:
            server.thaw()

    @contextmanager
    def down(self) -> Iterator[None]:
        """Kill the API server for a block; it is ready again when the block has ended.

        Its clients find it again by themselves, as late as their back-off says (a minute at most).
        """
        server = self._api_server()
        server.kill()
        try:
            yield
        finally:
            if self._group is not None:
                self._group.start_again(server)
                self._wait_for("/readyz", what="the API server to be ready again")

    def _api_server(self) -> Server:
        servers = self._group.servers if self._group is not None else ()
        return next(each for each in servers if each.name == "kube-apiserver")

    def log(self, name: str) -> str:
        """Return the log of one program."""
        return (self.layout.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def audit(self, service_account: str) -> list[dict[str, Any]]:
        """Return what the service account `namespace/name` asked for, oldest first."""
        user = "system:serviceaccount:" + service_account.replace("/", ":")
        return [event for event in self.audited() if event["user"]["username"] == user]

    def audited(self, *parts: str) -> Iterator[dict[str, Any]]:
        """Yield what anybody asked for, oldest first, of lines that have all of this in them."""
        return audit.events(self.layout.audit_log, *parts)

    def token(self, service_account: str) -> str:
        """Return a token of the service account `namespace/name`, good for an hour."""
        return credentials.token_for(self.api, service_account)

    def kubeconfig_for(self, service_account: str) -> Path:
        """Write a kubeconfig for the service account `namespace/name` and return its path."""
        name = service_account.replace("/", "-")
        path = self.layout.folder / f"{name}.kubeconfig"
        credentials.write_kubeconfig(
            path,
            url=self.url,
            authority=self.authority_file.read_bytes(),
            token=self.token(service_account),
        )
        return path

    def client_certificate(self, folder: Path, user: str, *groups: str) -> ClientCertificate:
        """Write a certificate into `folder` that the API server takes for this user."""
        return certificates.issue(self.layout.client_authority, folder, user, groups)

    def add_namespace(self, name: str) -> str:
        """Create a namespace, wait until pods can be made in it, and return its name."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.api.demand("POST", "/api/v1/namespaces", body)
        if self.parts.with_controllers:
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            self._wait_for(account, what=f"the default service account of namespace {name}")
        return name

    def add_nodes(
        self,
        count: int,
        *,
        cpu: str = "32",
        memory: str = "128Gi",
        pods: int = 500,
        labels: dict[str, str] | None = None,
    ) -> list[str]:
        """Add simulated nodes, wait until they take pods, and return their names.

        Without kwok nobody makes them ready, and they are only created.
        """
        shape = NodeShape(cpu, memory, pods, labels or {})
        numbers = range(self._nodes_made, self._nodes_made + count)
        self._nodes_made += count
        names = [f"node-{number}" for number in numbers]
        for name, number in zip(names, numbers, strict=True):
            self.api.demand("POST", "/api/v1/nodes", nodes.node(name, number, shape))
        if self.parts.with_kwok:
            self._wait_for_nodes(set(names))
        return names

    def _start_servers(self, group: ServerGroup) -> None:
        layout = Layout(group.folder, *free_ports(3))
        self._layout = layout
        credentials.write_signing_key(layout.signing_key)
        certificates.write_authority(layout.client_authority)
        token = credentials.write_admin_token(layout.tokens)
        group.start("etcd", components.etcd(layout))
        self._wait(lambda: _accepts(layout.etcd_port), "etcd to listen")
        history.write_past(layout.etcd_url, self.parts.past_revisions)
        argv = components.api_server(
            layout,
            taints_nodes=self.parts.with_controllers or self.parts.taints_nodes,
            audited=self.parts.audited,
        )
        group.start("kube-apiserver", argv)
        self._wait(lambda: _accepts(layout.api_port), "the API server to listen")
        credentials.write_kubeconfig(
            layout.kubeconfig,
            url=layout.url,
            authority=layout.authority.read_bytes(),
            token=token,
        )
        self._api = Api.from_kubeconfig(layout.kubeconfig)
        self._wait_for("/readyz", what="the API server to be ready")
        if self.parts.past_revisions:
            history.forget_past(layout.etcd_url, self.parts.past_revisions)
        self._start_clients(group, layout)

    def _start_clients(self, group: ServerGroup, layout: Layout) -> None:
        if self.parts.with_controllers:
            group.start("kube-controller-manager", components.controller_manager(layout))
        if self.parts.with_scheduler:
            group.start("kube-scheduler", components.scheduler(layout))
        if self.parts.with_kwok:
            layout.stages.write_text(
                stages.documents(
                    start_seconds=self.parts.pod_start_seconds,
                    stop_seconds=self.parts.pod_stop_seconds,
                ),
                encoding="utf-8",
            )
            group.start("kwok", components.kwok(layout))
        if self.parts.with_controllers:
            self._wait_for(
                "/api/v1/namespaces/default/serviceaccounts/default",
                what="the default service account of namespace default",
            )

    def _wait_for(self, path: str, *, what: str) -> None:
        def is_there() -> bool:
            with suppress(OSError):
                return self.api.ask("GET", path, timeout_seconds=5).status == 200
            return False

        self._wait(is_there, what)

    def _wait_for_nodes(self, names: set[str]) -> None:
        def are_usable() -> bool:
            try:
                live = self.api.demand("GET", "/api/v1/nodes")["items"]
            except (OSError, Refused):
                return False  # a server that has just begun
            usable = {each["metadata"]["name"] for each in live if nodes.is_usable(each)}
            return names <= usable

        self._wait(are_usable, f"{len(names)} nodes to take pods")

    def _wait(self, is_ready: Callable[[], bool], what: str) -> None:
        if self._group is None:
            raise RuntimeError("this control plane does not run")
        self._group.wait_until(is_ready, what=what, deadline_seconds=START_SECONDS)


def _accepts(port: int) -> bool:
    with suppress(OSError), socket.create_connection((components.LOOPBACK, port), timeout=1):
        return True
    return False
