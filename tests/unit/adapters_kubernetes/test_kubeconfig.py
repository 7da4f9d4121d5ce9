import base64
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.model.errors import Misconfigured
from tests.canaries.places import canary
from tests.gitservers.certificates import make_certificate
from tests.unit.adapters_kubernetes.kubeconfigs import authorization, write


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        pytest.param({}, r"no cluster is named: pass --kubeconfig", id="nothing at all"),
        pytest.param(
            {"KUBECONFIG": "/gone/kubeconfig"},
            r"no cluster is named \(KUBECONFIG is /gone/kubeconfig, and no such file is there\): ",
            id="a file that went",
        ),
    ],
)
def test_who_names_no_cluster_is_told_what_was_looked_at(
    tmp_path: Path, environ: dict[str, str], told: str
) -> None:
    with pytest.raises(Misconfigured, match=told):
        connect(ConnectionFlags(), {"HOME": str(tmp_path), **environ})


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
        pytest.param(
            {"username": "u", "password": "p"},
            "http://one.test:8080",
            f"Basic {base64.b64encode(b'u:p').decode()}",
            id="a name and a password instead of the token",
        ),
    ],
)
async def test_flags_choose_as_those_of_kubectl(
    tmp_path: Path, flags: dict[str, Any], url: str, header: str
) -> None:
    file = write(tmp_path / "config", {"token": "of-one"})
    connection = connect(ConnectionFlags(kubeconfig=str(file), **flags), {})
    assert connection.url == url
    assert await authorization(connection) == header


async def test_of_several_files_the_first_wins_and_the_others_add(tmp_path: Path) -> None:
    contextless: dict[str, Any] = {"current-context": ""}
    first = write(tmp_path / "first", {"token": "first"}, **contextless)
    three = [{"name": "three", "context": {"cluster": "two", "user": "one"}}]
    chosen: dict[str, Any] = {"contexts": three, "current-context": "three"}
    second = write(tmp_path / "second", {"token": "second"}, **chosen)
    (tmp_path / "empty").touch()
    listed = f"{tmp_path}/none:{tmp_path}/empty:{first}:{second}"
    connection = connect(ConnectionFlags(), {"KUBECONFIG": listed})
    assert connection.url == "http://two.test:8080"
    assert await authorization(connection) == "Bearer first"


async def test_without_flag_and_variable_the_file_at_home_is_read(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", {"username": "u", "password": "p"})
    connection = connect(ConnectionFlags(), {"HOME": str(tmp_path)})
    assert await authorization(connection) == f"Basic {base64.b64encode(b'u:p').decode()}"


@pytest.mark.parametrize(
    ("user", "flags", "headers"),
    [
        pytest.param({"as": "ann"}, {}, [("User", "ann")], id="of the file"),
        pytest.param({"as": "ann"}, {"as_user": "bob"}, [("User", "bob")], id="the flag wins"),
        pytest.param(
            {"as": "ann", "as-groups": ["a", "b"], "as-uid": "7"},
            {},
            [("User", "ann"), ("Uid", "7"), ("Group", "a"), ("Group", "b")],
            id="with groups and uid",
        ),
        pytest.param(
            {"as-groups": ["a"]},
            {"as_user": "bob", "as_groups": ("c", "d"), "as_uid": "8"},
            [("User", "bob"), ("Uid", "8"), ("Group", "c"), ("Group", "d")],
            id="all by flags",
        ),
        pytest.param(
            {"as": "ann", "as-user-extra": {"example.com/Scope": ["x", "y"]}},
            {},
            [
                ("User", "ann"),
                ("Extra-example.com%2FScope", "x"),
                ("Extra-example.com%2FScope", "y"),
            ],
            id="extras of the file",
        ),
        pytest.param(
            {"as": "ann"},
            {"as_user_extra": ("k=a", "k=b=c")},
            [("User", "ann"), ("Extra-k", "a"), ("Extra-k", "b=c")],
            id="extras by flags",
        ),
    ],
)
@pytest.mark.parametrize("login", [{"token": "t"}, {"tokenFile": "t"}, {"username": "u"}, {}])
def test_who_is_to_be_seen_is_said_whatever_the_way_to_log_in(
    tmp_path: Path,
    login: dict[str, str],
    user: dict[str, Any],
    flags: dict[str, Any],
    headers: list[tuple[str, str]],
) -> None:
    file = write(tmp_path / "config", {**login, **user})
    connection = connect(ConnectionFlags(kubeconfig=str(file), **flags), {})
    said = [(f"Impersonate-{name}", value) for name, value in headers]
    assert list(connection.impersonation) == said


@pytest.mark.parametrize(
    ("cluster", "flags", "name", "checks"),
    [
        pytest.param({"tls-server-name": "a"}, {}, "a", True, id="a name of the file"),
        pytest.param(
            {"tls-server-name": "a"}, {"tls_server_name": "b"}, "b", True, id="a name by flag"
        ),
        pytest.param(
            {"tls-server-name": "a"},
            {"server": "https://other"},
            None,
            True,
            id="another server is known by another name",
        ),
        pytest.param({"insecure-skip-tls-verify": True}, {}, None, False, id="of the file"),
        pytest.param(
            {"certificate-authority": "/none"},
            {"insecure_skip_tls_verify": True},
            None,
            False,
            id="a flag that checks nothing takes the file's authority away",
        ),
        pytest.param(
            {"insecure-skip-tls-verify": True},
            {"certificate_authority": "AUTHORITY"},
            None,
            True,
            id="an authority by flag is checked though the file would not",
        ),
        pytest.param(
            {"certificate-authority-data": "never read"},
            {"certificate_authority": "AUTHORITY"},
            None,
            True,
            id="an authority by flag goes before the file's",
        ),
    ],
)
def test_whom_to_trust_is_chosen_as_by_kubectl(
    tmp_path: Path,
    certificate: Path,
    cluster: dict[str, Any],
    flags: dict[str, Any],
    name: str | None,
    checks: bool,
) -> None:
    file = write(tmp_path / "config", {"token": "t"}, {"server": "https://one", **cluster})
    if "certificate_authority" in flags:
        flags = {**flags, "certificate_authority": str(certificate)}
    connection = connect(ConnectionFlags(kubeconfig=str(file), **flags), {})
    assert connection.server_hostname == name
    assert connection.ssl is not None
    assert (connection.ssl.verify_mode == ssl.CERT_REQUIRED) == checks


def test_a_client_certificate_is_read_from_files_and_from_the_kubeconfig_itself(
    tmp_path: Path, certificate: Path
) -> None:
    key = certificate.with_suffix(".key")
    inline = {
        "client-certificate-data": base64.b64encode(certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(key.read_bytes()).decode(),
    }
    named = {"client-certificate": str(certificate), "client-key": str(key)}
    for user in (inline, named, {**inline, "client-key": "/data goes first"}):
        file = write(tmp_path / "config", user, {"server": "https://one"})
        assert connect(ConnectionFlags(kubeconfig=str(file)), {}).ssl is not None
    file = write(tmp_path / "config", {"client-key-data": "bad"}, {"server": "https://one"})
    flags = ConnectionFlags(str(file), client_certificate=str(certificate), client_key=str(key))
    assert connect(flags, {}).ssl is not None


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked(
    tmp_path: Path, certificate: Path
) -> None:
    locked = tmp_path / "locked.key"
    argv = ["openssl", "pkey", "-in", str(certificate.with_suffix(".key")), "-out", str(locked)]
    subprocess.run([*argv, "-aes256", "-passout", "pass:hunter2"], check=True)
    user = {"client-certificate": str(certificate), "client-key": str(locked)}
    file = write(tmp_path / "config", user, {"server": "https://one"})
    with pytest.raises(Misconfigured, match="has a passphrase"):
        connect(ConnectionFlags(kubeconfig=str(file)), {})


HTTPS = {"server": "https://one"}
TOKEN, PASSWORD = canary("cluster token"), canary("cluster password")
KEY = canary("certificate key")
LEGACY = {"name": "gcp"}


@pytest.mark.parametrize(
    ("user", "cluster", "flags", "message"),
    [
        pytest.param({}, {}, {"context": "three"}, "named three: .* one, two", id="context"),
        pytest.param({}, {}, {"cluster": "three"}, "no cluster named three", id="cluster"),
        pytest.param({}, {}, {"user": "three"}, "no user named three", id="user"),
        pytest.param({}, {}, {"server": "one.test"}, "http:// or https://", id="no scheme"),
        pytest.param({}, {"server": "https://"}, {}, "its address", id="no host"),
        pytest.param({}, {"server": "https://h:99999"}, {}, "its address", id="no such port"),
        pytest.param({}, {"server": 5}, {}, "cluster one: server must be text", id="a number"),
        pytest.param({"token": 5}, {}, {}, "user one: token must be text", id="a token unquoted"),
        pytest.param({"exec": "x"}, {}, {}, "exec must be a mapping", id="exec that is a word"),
        pytest.param({"token": "a\nb"}, {}, {}, "holds what no token can", id="token of two lines"),
        pytest.param(
            {"token": TOKEN, "username": "u", "password": PASSWORD},
            {},
            {},
            "both a token and a username",
            id="two ways",
        ),
        pytest.param(
            {},
            {},
            {"token": TOKEN, "username": "u", "password": PASSWORD},
            "two ways to log in",
            id="two ways by flags",
        ),
        pytest.param({"auth-provider": LEGACY}, {}, {}, "use an exec plugin", id="auth-provider"),
        pytest.param({"as-groups": ["a"]}, {}, {}, "pass --as", id="a group of nobody"),
        pytest.param({"as": "a\nX: y"}, {}, {}, "Impersonate-User holds", id="a header in a name"),
        pytest.param({"as": "a"}, {}, {"as_user_extra": ("k",)}, "KEY=VALUE", id="half an extra"),
        pytest.param({}, HTTPS, {"certificate_authority": "/none"}, "/none", id="no such file"),
        pytest.param(
            {},
            {**HTTPS, "certificate-authority-data": "AUTHORITY", "insecure-skip-tls-verify": True},
            {},
            "both a certificate-authority and insecure-skip-tls-verify",
            id="an authority, not to be checked",
        ),
        pytest.param(
            {"client-certificate-data": "AUTHORITY"}, HTTPS, {}, "one of them is", id="no key"
        ),
        pytest.param(
            {"client-key-data": base64.b64encode(KEY.encode()).decode()},
            HTTPS,
            {},
            "one of them is",
            id="only a key",
        ),
        pytest.param(
            {"client-key-data": "AUTHORITY", "client-certificate-data": "AUTHORITY"},
            HTTPS,
            {},
            "do not go together",
            id="no pair",
        ),
        pytest.param(
            {}, {"proxy-url": "socks5://u:hunter2@p:1"}, {}, "write it as http://", id="socks"
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    tmp_path: Path,
    certificate: Path,
    user: dict[str, Any],
    cluster: dict[str, Any],
    flags: dict[str, Any],
    message: str,
) -> None:
    data = base64.b64encode(certificate.read_bytes()).decode()
    user = {key: data if value == "AUTHORITY" else value for key, value in user.items()}
    cluster = {key: data if value == "AUTHORITY" else value for key, value in cluster.items()}
    file = write(tmp_path / "config", user, cluster)
    with pytest.raises(Misconfigured, match=message) as caught:
        connect(ConnectionFlags(kubeconfig=str(file), **flags), {})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"current-context": ""}, "choose one with --context", id="no context"),
        pytest.param({"clusters": []}, "no cluster named one: .* none", id="no clusters"),
        pytest.param({"clusters": None}, "no cluster named one: .* none", id="empty clusters"),
        pytest.param({"clusters": {"one": {}}}, "clusters must be a list", id="a mapping"),
        pytest.param({"clusters": [{"name": "one"}]}, "names no server", id="an empty cluster"),
        pytest.param({"users": [{"name": "one", "user": "u"}]}, "user one must be", id="a word"),
        pytest.param({"contexts": [{"name": "one", "context": 3}]}, "must be a map", id="a number"),
        pytest.param({"contexts": ["one", {"name": 3}]}, "no context named one", id="no entries"),
    ],
)
def test_a_file_of_another_shape_is_told_where(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "config", {"token": "t"}, **changes)
    with pytest.raises(Misconfigured, match=message):
        connect(ConnectionFlags(kubeconfig=str(file)), {})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"a: [", "is not YAML", id="not YAML"),
        pytest.param(b"\xff\xfe", "is not YAML", id="no text"),
        pytest.param(b"- a", "is no mapping", id="a list"),
        pytest.param(b"", "choose one with --context", id="empty"),
    ],
)
def test_a_kubeconfig_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes, message: str
) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(content)
    with pytest.raises(Misconfigured, match=f"broken .*{message}"):
        connect(ConnectionFlags(kubeconfig=str(broken)), {})


def test_a_named_kubeconfig_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="check --kubeconfig"):
        connect(ConnectionFlags(kubeconfig=str(tmp_path / "none")), {})


def test_outside_a_cluster_and_without_a_kubeconfig_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="pass --kubeconfig"):
        connect(ConnectionFlags(), {"HOME": str(tmp_path)})
