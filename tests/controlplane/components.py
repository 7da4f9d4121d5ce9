"""The command line of each program of the control plane."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane.programs import find

LOOPBACK = "127.0.0.1"
# The programs' own limits (20 to 50 requests/s) would measure themselves, not what is tested.
REQUESTS_PER_SECOND, REQUESTS_BURST = 500, 1000
NODE_LEASE_SECONDS = 40
NODE_GRACE_SECONDS = 300
"""How long a node's lease may seem old until the node counts as lost.

Behind an API server that died, kwok and the controller manager come back by back-offs of up to a
minute. With the default of 50 s the nodes were lost then, and all pods on them not ready for good:
a kubelet says "ready" again, kwok does not. (In a cluster this controller manager would have lost
its own lease and begun anew.) A test that wants a lost node writes it, see `stages`.
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one control plane keeps its files, and on which ports it listens."""

    folder: Path
    etcd_port: int
    peer_port: int
    api_port: int

    @property
    def signing_key(self) -> Path:
        """Return the private key of service account tokens."""
        return self.folder / "service-accounts.key"

    @property
    def tokens(self) -> Path:
        """Return the API server's static token file."""
        return self.folder / "tokens.csv"

    @property
    def client_authority(self) -> Path:
        """Return the certificate that signs those of clients; its key is beside it."""
        return self.folder / "clients.crt"

    @property
    def certificates(self) -> Path:
        """Return the folder where the API server writes its own certificate."""
        return self.folder / "certificates"

    @property
    def authority(self) -> Path:
        """Return the certificate that clients trust."""
        return self.certificates / "apiserver.crt"

    @property
    def kubeconfig(self) -> Path:
        """Return the administrator's kubeconfig."""
        return self.folder / "admin.kubeconfig"

    @property
    def audit_policy(self) -> Path:
        """Return the file that says what the API server writes down."""
        return self.folder / "audit-policy.json"

    @property
    def audit_log(self) -> Path:
        """Return what it wrote down, a JSON object a line."""
        return self.folder / "audit.log"

    @property
    def stages(self) -> Path:
        """Return the file of kwok's Stage documents."""
        return self.folder / "stages.yaml"

    @property
    def etcd_url(self) -> str:
        """Return etcd's address."""
        return f"http://{LOOPBACK}:{self.etcd_port}"

    @property
    def url(self) -> str:
        """Return the API server's address."""
        return f"https://{LOOPBACK}:{self.api_port}"


def etcd(layout: Layout) -> list[str]:
    """Return etcd's command line: nothing is synced to disk, the data dies with the test."""
    client = layout.etcd_url
    peer = f"http://{LOOPBACK}:{layout.peer_port}"
    return [
        str(find("etcd")),
        f"--data-dir={layout.folder / 'etcd'}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]


def api_server(layout: Layout, *, taints_nodes: bool, audited: bool) -> list[str]:
    """Return the API server's command line: RBAC, ServiceAccount admission, loopback only."""
    argv = [
        str(find("kube-apiserver")),
        f"--etcd-servers={layout.etcd_url}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={layout.api_port}",
        f"--cert-dir={layout.certificates}",
        f"--token-auth-file={layout.tokens}",
        f"--client-ca-file={layout.client_authority}",
        "--authorization-mode=RBAC",
        "--enable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={layout.signing_key}",
        f"--service-account-signing-key-file={layout.signing_key}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--allow-privileged=true",
        # Endpoints may not hold a loopback address, so the server must not publish its own.
        "--endpoint-reconciler-type=none",
        "--profiling=false",
    ]
    if audited:
        policy = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata"}],
        }
        layout.audit_policy.write_text(json.dumps(policy), encoding="utf-8")
        argv += [
            f"--audit-policy-file={layout.audit_policy}",
            f"--audit-log-path={layout.audit_log}",
            # After the default of 100 MB it would begin anew, in a file that we read alone.
            "--audit-log-maxsize=10000",
        ]
    if not taints_nodes:
        # The taint of a new node is taken off by a controller, and there may be none.
        argv.append("--disable-admission-plugins=TaintNodesByCondition")
    return argv


def controller_manager(layout: Layout) -> list[str]:
    """Return the controller manager's command line."""
    return [
        str(find("kube-controller-manager")),
        f"--kubeconfig={layout.kubeconfig}",
        f"--service-account-private-key-file={layout.signing_key}",
        f"--root-ca-file={layout.authority}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--node-monitor-grace-period={NODE_GRACE_SECONDS}s",
        f"--kube-api-qps={REQUESTS_PER_SECOND}",
        f"--kube-api-burst={REQUESTS_BURST}",
    ]


def scheduler(layout: Layout) -> list[str]:
    """Write the scheduler's configuration and return its command line."""
    config = layout.folder / "scheduler.json"
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(layout.kubeconfig),
            "qps": REQUESTS_PER_SECOND,
            "burst": REQUESTS_BURST,
        },
    }
    config.write_text(json.dumps(document), encoding="utf-8")
    return [str(find("kube-scheduler")), f"--config={config}", "--secure-port=0"]


def kwok(layout: Layout) -> list[str]:
    """Return kwok's command line: it plays the kubelet of every node by the Stage documents."""
    return [
        str(find("kwok")),
        f"--kubeconfig={layout.kubeconfig}",
        f"--config={layout.stages}",
        "--manage-all-nodes=true",
        f"--node-lease-duration-seconds={NODE_LEASE_SECONDS}",
        "--cidr=10.64.0.0/10",
    ]
