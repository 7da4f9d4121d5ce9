"""A past for etcd: revisions before the first object, which a compaction then forgets.

So the API server's caches begin late, and what asks for the first revisions hears 410.
"""

from __future__ import annotations

import json
import urllib.request
from typing import Any

_TIMEOUT_SECONDS = 10.0
_KEY = "cGFzdA=="  # "past"


def write_past(etcd_url: str, revisions: int) -> None:
    """Write so many revisions that nobody reads."""
    for _ in range(revisions):
        _ask(etcd_url, "put", {"key": _KEY, "value": _KEY})


def forget_past(etcd_url: str, revisions: int) -> None:
    """Compact away the first revisions."""
    _ask(etcd_url, "compaction", {"revision": revisions, "physical": True})


def _ask(etcd_url: str, what: str, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    request = urllib.request.Request(f"{etcd_url}/v3/kv/{what}", data, method="POST")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
        answer.read()
