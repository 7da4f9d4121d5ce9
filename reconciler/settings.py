"""Every setting of the process, once: flags, environment names and help are made from this table.

A repository cannot set any of these (DESIGN §2 rule 7). To add a setting, add a field: its type
is its default's, its flag `--its-name`, its environment name `GAMEKEEPER_ITS_NAME`.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Self

from reconciler.model.specs import LOOSEST
from reconciler.setting_rows import Row, value_of


def _setting(default: Any, group: str, text: str, **shape: Any) -> Any:
    secret = shape.get("secret", False)
    metadata = {"group": group, "text": text, **shape}
    return dataclasses.field(default=default, repr=not secret, metadata=metadata)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the person who runs the process decided."""

    repo: str = _setting("", "git", "the repository: a URL (https, ssh, file) or a local path")
    branch: str = _setting("main", "git", "the branch that says what is wanted")
    path: str = _setting(
        "", "git", "the folder of the repository that is read and written (none: all of it)"
    )
    values: tuple[str, ...] = _setting(
        (), "git", "file of the repository with values of this environment; may be repeated"
    )
    git_ssh_key_file: str = _setting("", "git", "private key for ssh URLs")
    git_certificate_authority_file: str = _setting(
        "", "git", "file with the CA of an https host that no public authority vouches for"
    )
    git_known_hosts_file: str = _setting("", "git", "host keys to accept for ssh URLs")
    git_token_file: str = _setting("", "git", "file with the https token; read at each fetch")
    git_username: str = _setting("git", "git", "user name that goes with the token")
    git_plain_http: bool = _setting(
        False, "git", "allow http:// to other hosts than this one; nothing is encrypted"
    )
    git_timeout_seconds: float = _setting(60.0, "git", "longest fetch", unit="s", least=1)
    cache_dir: str = _setting(
        "", "git", "where the mirror is kept (default: a folder for each repository and instance)"
    )

    instance: str = _setting(
        "", "identity", "this installation's name; objects of other instances are left alone"
    )
    namespace: str = _setting("gamekeeper", "identity", "namespace of our own records", short="-n")
    cluster_name: str = _setting(
        "local",
        "identity",
        "the cluster's name in records, change hashes, rooms' codes and metrics: never change it"
        " while there are rooms",
    )

    kubeconfig: str = _setting("", "cluster", "path of the kubeconfig file")
    context: str = _setting("", "cluster", "the kubeconfig context to use")
    cluster: str = _setting("", "cluster", "the kubeconfig cluster to use")
    user: str = _setting("", "cluster", "the kubeconfig user to use")
    server: str = _setting("", "cluster", "address of the API server", short="-s")
    token: str = _setting(
        "", "cluster", "bearer token; prefer the environment to the flag", secret=True
    )
    username: str = _setting("", "cluster", "user name for basic authentication")
    password: str = _setting(
        "", "cluster", "password that goes with it; prefer the environment", secret=True
    )
    as_user: str = _setting("", "cluster", "user to be seen as by the API server", named="as")
    as_groups: tuple[str, ...] = _setting(
        (), "cluster", "group of that user; may be repeated", named="as_group"
    )
    as_uid: str = _setting("", "cluster", "uid of that user")
    as_user_extra: tuple[str, ...] = _setting(
        (), "cluster", "extra of that user, as KEY=VALUE; may be repeated"
    )
    certificate_authority: str = _setting("", "cluster", "file with the API server's CA")
    client_certificate: str = _setting("", "cluster", "file with our client certificate")
    client_key: str = _setting("", "cluster", "file with the key of the client certificate")
    insecure_skip_tls_verify: bool = _setting(
        False, "cluster", "do not check the API server's certificate"
    )
    tls_server_name: str = _setting(
        "", "cluster", "name to look for in the API server's certificate (default: its address)"
    )
    proxy_url: str = _setting(
        "", "cluster", "http or https proxy that leads to the API server", secret=True
    )
    request_timeout_seconds: float = _setting(
        30.0,
        "cluster",
        "longest single request, as 45s, 2m or plain seconds",
        named="request_timeout",
        unit="s",
        least=1,
        is_duration=True,
    )
    qps: float = _setting(
        500.0, "cluster", "requests a second to the API server", unit="1/s", least=1
    )
    burst: int = _setting(1000, "cluster", "requests at once above --qps", least=1)
    creates_in_flight: int = _setting(32, "cluster", "rooms being made or deleted at once", least=1)

    lease: bool = _setting(
        True,
        "loop",
        "take the Lease, so that one process decides",
        off_text="take no Lease: nothing keeps two processes from deciding at once",
    )
    poll_seconds: int = _setting(
        0, "loop", "time between looks at Git (0: as gamekeeper.yaml says)", unit="s", least=0
    )
    resync_seconds: int = _setting(
        0, "loop", "time between full passes (0: as gamekeeper.yaml says)", unit="s", least=0
    )

    pod_security: str = _setting(
        "baseline",
        "safety",
        "Pod Security level that templates must keep",
        choices=("baseline", "restricted", "privileged"),
    )
    allow_kinds: tuple[str, ...] = _setting(
        (),
        "safety",
        "kinds that a repository may add beside its rooms, of ConfigMap, LimitRange, "
        "NetworkPolicy, ResourceQuota, Role, RoleBinding, Service (none: no other objects); and "
        "kinds of ours that it may add to, of Namespace, PodDisruptionBudget, ServiceAccount",
    )
    copy_from_namespaces: tuple[str, ...] = _setting(
        (),
        "safety",
        "namespaces of whose Secrets and ConfigMaps a repository may ask for copies beside its "
        "rooms; NAMESPACE/NAME for one object alone (none: no copies)",
    )
    allow_namespaces: tuple[str, ...] = _setting(
        ("*",), "safety", "namespaces that a repository may use, as names or globs: games-*"
    )
    ceiling_workload_rooms: int = _setting(
        LOOSEST.workload_rooms,
        "safety",
        "most rooms of a workload that a repository may remove without approval (none: its own)",
        least=0,
    )
    ceiling_workload_percent: float = _setting(
        LOOSEST.workload_percent,
        "safety",
        "the same in per cent of its rooms; the larger of both counts",
        least=0,
    )
    ceiling_total_rooms: int = _setting(
        LOOSEST.total_rooms,
        "safety",
        "most rooms of all workloads that a repository may remove without approval (none: its own)",
        least=0,
    )
    ceiling_total_percent: float = _setting(
        LOOSEST.total_percent,
        "safety",
        "the same in per cent of all rooms; the larger of both counts",
        least=0,
    )
    reserved_namespaces: tuple[str, ...] = _setting(
        ("default",), "safety", "namespaces that no workload may use, beside kube-* and ours"
    )
    egress_hosts: tuple[str, ...] = _setting(
        (),
        "safety",
        "whom webhooks of policies may ask: host, host:port or *.domain by https, or http://host "
        "(none: nobody)",
    )
    approval_signers: str = _setting(
        "",
        "safety",
        "allowed_signers file of OpenSSH: who may approve by a signed trailer (none: nobody)",
    )
    verify_commits: str = _setting(
        "none",
        "safety",
        "which commits of the branch allowed keys must have signed before anything of them acts: "
        "the head, or strict: every one since the last accepted",
        choices=("none", "head", "strict"),
    )
    commit_signers: str = _setting(
        "", "safety", "allowed_signers file of OpenSSH with those keys; read at each check"
    )
    commit_keys: str = _setting(
        "", "safety", "file with those keys of OpenPGP, armored; read at each check (needs gpg)"
    )
    namespace_content_kinds: tuple[str, ...] = _setting(
        (), "safety", "kinds that keep a namespace from being removed (none: the built-in list)"
    )

    autoscaling: bool = _setting(
        True,
        "scaling",
        "let policies change counts",
        off_text="let no policy change a count: every one is as Git says",
    )
    commit_author: str = _setting(
        "Gamekeeper <gamekeeper@localhost>", "scaling", "whose name commits of counts carry"
    )
    commit_signing: str = _setting(
        "none", "scaling", "how those commits are signed", choices=("none", "ssh", "gpg")
    )
    commit_signing_key: str = _setting(
        "",
        "scaling",
        "what signs them: the file of an SSH private key, or the fingerprint of a GPG key; "
        "without a passphrase",
    )

    prometheus_url: str = _setting(
        "", "scaling", "address of the Prometheus that metric policies ask (none: they hold)"
    )
    prometheus_token_file: str = _setting(
        "", "scaling", "file with the bearer token for it; read at each query"
    )
    egress_certificate_authority_file: str = _setting(
        "", "scaling", "file with CAs of such hosts that no public authority vouches for"
    )

    listen: str = _setting(
        "127.0.0.1:8080", "serving", "address of /metrics, /healthz, /readyz and /webhook"
    )
    webhook_secret_file: str = _setting(
        "", "serving", "file with the webhook's secret (none: no webhook)"
    )

    notifications_file: str = _setting(
        "", "telling", "file of those who are told of commits and holds (none: nobody)"
    )
    commit_status: str = _setting(
        "off",
        "telling",
        "show at the code host what became of the newest commit; auto knows the host by its name",
        choices=("off", "auto", "github", "gitlab", "gitea"),
    )
    commit_status_url: str = _setting(
        "", "telling", "address of the code host's API (none: the usual one of the repository's)"
    )
    commit_status_token_file: str = _setting(
        "", "telling", "file with the token for statuses; read at each (none: --git-token-file)"
    )
    commit_status_target_url: str = _setting(
        "", "telling", "where a click on a status leads, as a dashboard of yours (none: nowhere)"
    )

    rooms_listen: str = _setting(
        "", "rooms", "address where rooms report, as 0.0.0.0:8090 (none: no room is heard)"
    )
    rooms_without_token: str = _setting(
        "refuse",
        "rooms",
        "who may speak for a room without its token: refuse, pod-address, or networks as CIDR,...",
    )
    rooms_list_needs_code: bool = _setting(
        False, "rooms", "show /running and the list at / only to who has a code or a token"
    )
    rooms_admin_tokens_file: str = _setting(
        "",
        "rooms",
        "file of those who may read and drain rooms, and have Fleets committed: a list of name, "
        "sha256, schedulers, verbs (read, drain, commit); with a mistake in it nothing starts "
        "(none: only whom the cluster's RBAC allows)",
    )
    rooms_url: str = _setting(
        "",
        "rooms",
        "address that rooms report to (none: that of the Service gamekeeper-rooms of our "
        "namespace)",
    )
    rooms_connections: int = _setting(
        16_384, "rooms", "most connections of rooms at once; the longest idle goes first", least=16
    )
    rooms_connections_per_peer: int = _setting(256, "rooms", "the same of one address", least=1)

    log_level: str = _setting(
        "info", "log", "least level that is logged", choices=("debug", "info", "warning", "error")
    )
    log_format: str = _setting(
        "text", "log", "one line of text or of JSON an event", choices=("text", "json")
    )

    @classmethod
    def read(cls, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Self:
        """Make settings from flags, else the environment, else defaults. Raises BadSetting."""
        return cls(**{row.name: value_of(row, environment, flags) for row in rows()})


def rows() -> Iterator[Row]:
    """List all settings in the table's order."""
    for field in dataclasses.fields(Settings):
        yield Row(field.name, type(field.default), field.default, **field.metadata)
