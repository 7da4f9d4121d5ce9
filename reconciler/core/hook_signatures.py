"""Who sent a webhook: the ways in which code hosts show that they know the secret.

* GitHub and Gitea: `X-Hub-Signature-256: sha256=<hex>`, the HMAC-SHA256 of the body; anybody else
  may send the same as `X-Gamekeeper-Signature`.
* GitLab, with a signing token: the scheme of Standard Webhooks (standardwebhooks.com). The secret
  is `whsec_` and a key in base64; `webhook-signature` holds `v1,<base64>`, of which there may be
  several, each the HMAC-SHA256 of `id.timestamp.body`. One that is too old is not believed.
* GitLab, with a secret token: `X-Gitlab-Token` is the secret itself.

The body is never parsed. How long a comparison takes tells nothing of the secret.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

BODY_SIGNATURES = ("X-Gamekeeper-Signature", "X-Hub-Signature-256")
GITLAB = "X-Gitlab-Token"
OLDEST_SECONDS = 300.0
"""How far the time of a signature may be from ours, as Standard Webhooks has it."""
_ID, _TIMESTAMP, _SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
_MOST_SIGNATURES = 8
"""Whoever rotates a key signs with two."""
_LONGEST = 256


def is_signed(body: bytes, headers: Mapping[str, str], secret: bytes, now: float) -> bool:
    """Whether a request of this body and these headers comes from who knows the secret.

    `headers` are looked up without regard to case; `now` is in Unix seconds. An empty secret is
    known by nobody.
    """
    if not secret:
        return False
    if _SIGNATURE in headers:
        return _is_standard(body, headers, secret, now)
    name = next((name for name in BODY_SIGNATURES if name in headers), "")
    if name:
        digest = hmac.new(secret, body, hashlib.sha256).hexdigest()
        return _same(headers[name], f"sha256={digest}".encode())
    return GITLAB in headers and _same(headers[GITLAB], secret)


def _is_standard(body: bytes, headers: Mapping[str, str], secret: bytes, now: float) -> bool:
    key = _key(secret)
    message, written = headers.get(_ID, ""), headers.get(_TIMESTAMP, "")
    if not key or not message or len(message) > _LONGEST or not _is_recent(written, now):
        return False
    signed = f"{message}.{written}.".encode("utf-8", "surrogatepass") + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers[_SIGNATURE][: _LONGEST * _MOST_SIGNATURES].split(" ")[:_MOST_SIGNATURES]
    # Every one is compared: which of them fits must not show in the time.
    fits = [_same(each, b"v1," + digest) for each in given]
    return any(fits)


def _key(secret: bytes) -> bytes:
    """Return the key of a signing token, empty where the secret is none."""
    if not secret.startswith(b"whsec_"):
        return b""
    try:
        return base64.b64decode(secret.removeprefix(b"whsec_"), validate=True)
    except binascii.Error:
        return b""


def _is_recent(written: str, now: float) -> bool:
    digits = written.isascii() and written.isdigit() and len(written) < 16
    return digits and abs(now - int(written)) <= OLDEST_SECONDS


def _same(given: str, wanted: bytes) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted)
