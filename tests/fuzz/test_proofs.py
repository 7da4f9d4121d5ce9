"""Who somebody is: the signatures of webhooks, and kubeconfig files."""

import base64
import hashlib
import hmac
import json
import random
import tempfile
from pathlib import Path

from multidict import CIMultiDict

from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags, choose
from reconciler.core.hook_signatures import is_signed
from reconciler.model.errors import Misconfigured
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search

NOW = 1_790_000_000.0
KEY = bytes(range(32))
SECRETS = (b"a secret of the studio", b"whsec_" + base64.b64encode(KEY), b"whsec_not base64", b"")
BODY = b'{"ref": "refs/heads/main"'
SIGNATURE = base64.b64encode(hmac.new(KEY, b"m.1790000000." + BODY, hashlib.sha256).digest())
DIGEST = hmac.new(SECRETS[0], BODY, hashlib.sha256).hexdigest().encode()
HOOKS = Forge(
    [
        b"X-Hub-Signature-256: sha256=" + DIGEST,
        b"X-Gamekeeper-Signature: sha256=" + DIGEST,
        b"webhook-id: m\nwebhook-timestamp: 1790000000\nwebhook-signature: v1,x v1," + SIGNATURE,
        b"X-Gitlab-Token: " + SECRETS[0],
    ],
    (b"sha256=", b"v1,", b"webhook-signature: ", b"X-Gitlab-Token: ", b"\xed\xa0\x80", b"=="),
    10_000,
)
CONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "clusters": [
        {"name": "one", "cluster": {"server": "https://one:6443", "proxy-url": "http://p"}}
    ],
    "users": [
        {
            "name": "one",
            "user": {
                "token": "t",
                "exec": {"command": "./get", "args": ["a"], "env": [{"name": "A", "value": "b"}]},
                "as-groups": ["g"],
                "as-user-extra": {"a": ["b"]},
            },
        }
    ],
    "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
}
YAML = b"""\
current-context: one
clusters:
- name: one
  cluster: {server: 'https://one:6443', insecure-skip-tls-verify: true}
users:
- name: one
  user: {client-key-data: aGk=, username: u}
contexts:
- name: one
  context: {cluster: one, user: one}
"""
MOST_BYTES = 20_000
"""The operator's own file is read by the parser in Python, in a second each 100 KB."""
IN_YAML = Forge(
    [YAML], (b"2001-01-01", b"!!binary x", b"? [a]", b"0o17", b"1:2", b"<<: {a: b}"), 8_000
)


def headers_of(data: bytes) -> CIMultiDict[str]:
    """Return headers as aiohttp reads them: what is no UTF-8 comes as halves of surrogates."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    pairs = (line.partition(":") for line in lines)
    return CIMultiDict((name.strip(), value.strip()) for name, _, value in pairs)


def believed(data: bytes) -> None:
    """Only who knows the secret is believed."""
    headers = headers_of(data)
    # Whoever repeats what was signed with the secret knows it, as far as can be told.
    shown = data.replace(b" ", b"")
    known = [DIGEST in shown, SIGNATURE in shown, SECRETS[0].replace(b" ", b"") in shown]
    for secret in SECRETS:
        if is_signed(BODY, headers, secret, NOW):
            assert any(known)
            assert secret in SECRETS[:2]
        assert not is_signed(BODY + b"x", headers, b"another secret", NOW)


def kubeconfig_of(chance: random.Random) -> bytes:
    """Return a kubeconfig, in JSON or YAML."""
    if chance.random() < 0.4:
        return IN_YAML(chance)
    text = written(altered(CONFIG, chance, ("one", "two", ["one"], {"name": "one"})), chance)
    return text[:MOST_BYTES]


def chosen(data: bytes) -> None:
    """A kubeconfig names a cluster and a user with entries of the right types, or a mistake."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config")
        file.write_bytes(data)
        for flags in (ConnectionFlags(), ConnectionFlags(context="one", token="t")):
            try:
                found = choose([file], flags)
            except Misconfigured as error:
                str(error).encode("utf-8", "surrogatepass")
                continue
            assert isinstance(found.cluster.get("server", ""), str)
            assert isinstance(found.user.get("token", ""), str)
            json.dumps(found.origin)


def test_no_signature_is_believed_that_nobody_made() -> None:
    search(Target("webhook", 420_000, HOOKS, believed))


def test_no_kubeconfig_is_too_much() -> None:
    search(Target("kubeconfig", 12_600, kubeconfig_of, chosen))
