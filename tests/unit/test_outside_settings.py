"""What the operator says of whom policies may ask is read at the start, or refused with its fix."""

import re
from pathlib import Path
from typing import Any

import pytest

from reconciler.model.errors import Misconfigured
from reconciler.settings import Settings
from reconciler.wiring.outside import make_outside
from reconciler.wiring.permits import permissions_of


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, id="nobody"),
        pytest.param({"egress_hosts": ("a.example.com", "*.b.example.com:8443")}, id="hosts"),
        pytest.param({"egress_hosts": ("http://127.0.0.1:80",)}, id="a sidecar"),
        pytest.param({"prometheus_url": "http://prometheus.monitoring.svc:9090/"}, id="plain http"),
        pytest.param({"prometheus_url": "https://p.example.com/prefix"}, id="a path"),
        pytest.param({"prometheus_url": "http://127.0.0.1:9090", "prometheus_token_file": "t"},
                     id="a token within this machine"),
    ],
)  # fmt: skip
async def test_what_is_taken(given: dict[str, Any]) -> None:
    await make_outside(Settings(**given)).close()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param({"egress_hosts": ("*",)}, "'\\*' is no host: write", id="everybody"),
        pytest.param({"egress_hosts": ("a/b",)}, "'a/b' is no host", id="a path"),
        pytest.param({"egress_hosts": ("http://169.254.169.254",)}, "asked for nobody: take it out",
                     id="the metadata of a cloud"),
        pytest.param({"egress_hosts": ("[fd00:ec2::254]",)}, "a cloud's metadata, which is asked",
                     id="that of another one"),
        pytest.param({"prometheus_url": "prometheus:9090"}, "is no address", id="no scheme"),
        pytest.param({"prometheus_url": "https://a/?x=1"}, "without a user, a query", id="a query"),
        pytest.param({"prometheus_url": "https://p/?token=hunter2"}, "'https://p/' is no address",
                     id="a token"),
        pytest.param({"egress_hosts": ("me:hunter2@p",)}, "'p' is no host", id="a host's user"),
        pytest.param({"prometheus_url": "https://me:hunter2@p"}, "'p' is no address", id="a user"),
        pytest.param({"prometheus_url": "http://p.example.com", "prometheus_token_file": "t"},
                     "over https only", id="a token for everyone to see"),
        pytest.param({"egress_certificate_authority_file": "/nowhere"}, "cannot be read",
                     id="no authority"),
    ],
)  # fmt: skip
def test_what_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(Misconfigured, match=why) as refused:
        make_outside(Settings(**given))

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "entry", ["Games", "!arena", "../x", "-*", "*-", "games.eu", "a b", "x[", "a" * 64 + "*"]
)
def test_namespaces_that_can_match_none_are_refused(entry: str) -> None:
    with pytest.raises(Misconfigured, match=r"can match no namespace: (a|must) "):
        permissions_of(Settings(allow_namespaces=("arena", entry)))


def test_names_of_namespaces_and_globs_are_taken() -> None:
    taken = ("*", "arena", "games-*", "*-eu", "g?", "[a-f]*", "[!x]y", "a" * 63 + "*", "a-**")
    assert permissions_of(Settings(allow_namespaces=taken)).namespaces == taken


async def test_a_token_is_read_anew_at_each_query(tmp_path: Path) -> None:
    path = tmp_path / "token"
    made = make_outside(
        Settings(prometheus_url="https://127.0.0.1:9", prometheus_token_file=str(path))
    )
    assert "cannot be read" in (await made.query("up", 0.0)).trouble
    path.write_text("two words", encoding="ascii")
    assert "holds no token" in (await made.query("up", 0.0)).trouble
    path.write_text("s3cret\n", encoding="ascii")
    assert "cannot be connected to" in (await made.query("up", 0.0)).trouble
    await made.close()


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("gamekeeper", "nothing of gamekeeper may be copied, for keys stand there"),
        ("gamekeeper/pull", "nothing of gamekeeper may be copied"),
        ("kube-system", "nothing of kube-system may be copied"),
        ("Shared", "--copy-from-namespaces Shared: "),
        ("shared/", "--copy-from-namespaces shared/: "),
        ("*", "--copy-from-namespaces"),
    ],
)
def test_what_nobody_may_have_copied(entry: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=re.escape(why)):
        permissions_of(Settings(copy_from_namespaces=(entry,)))


def test_what_may_be_copied() -> None:
    given = ("shared", "shared/pull.secret")
    assert permissions_of(Settings(copy_from_namespaces=given)).copy_from == given
