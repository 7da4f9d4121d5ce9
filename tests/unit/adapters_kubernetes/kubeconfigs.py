"""Kubeconfig files as tests need them."""

import json
from pathlib import Path
from typing import Any

from reconciler.adapters.kubernetes.connect import Connection


def write(
    path: Path, user: dict[str, Any], cluster: dict[str, Any] | None = None, **changes: Any
) -> Path:
    """Write a kubeconfig with the contexts `one` and `two` of clusters and users of these names.

    `user` and `cluster` are added to the entries named `one`.
    """
    names = ("one", "two")
    clusters = {name: {"server": f"http://{name}.test:8080/"} for name in names}
    clusters["one"].update(cluster or {})
    config = {
        "clusters": [{"name": name, "cluster": clusters[name]} for name in names],
        "users": [{"name": "one", "user": user}, {"name": "two", "user": {"token": "of-two"}}],
        "contexts": [{"name": n, "context": {"cluster": n, "user": n}} for n in names],
        "current-context": "one",
        **changes,
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


async def authorization(connection: Connection) -> str:
    """Return the header that a connection would send."""
    return (await connection.credentials.proof()).headers.get("Authorization", "")
