"""The peer that does nothing but send: an asyncio client with some requests in flight."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.controlplane.cluster import ControlPlane

IN_FLIGHT = 32


@dataclass(frozen=True, slots=True)
class Sent:
    """One request to send."""

    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"


def send_all(cluster: ControlPlane, requests: Sequence[Sent]) -> None:
    """Send requests, 32 at a time, and read their answers without looking at them.

    Raises:
        RuntimeError: some were not answered with success.
    """
    codes = asyncio.run(_send_all(cluster, requests))
    refused = {code: count for code, count in codes.items() if code >= 300}
    if refused:
        raise RuntimeError(f"{sum(refused.values())} of {len(requests)} refused: {refused}")


async def _send_all(cluster: ControlPlane, requests: Sequence[Sent]) -> Counter[int]:
    codes: Counter[int] = Counter()
    left = iter(requests)
    headers = {"Authorization": f"Bearer {cluster.admin_token}", "User-Agent": "raw"}
    connector = aiohttp.TCPConnector(ssl=cluster.api.trust, limit=IN_FLIGHT)

    async def sender(session: aiohttp.ClientSession) -> None:
        for each in left:
            data = None if each.body is None else json.dumps(each.body).encode()
            kind = {"Content-Type": each.content_type}
            url = cluster.url + each.path
            async with session.request(each.method, url, data=data, headers=kind) as answer:
                await answer.read()
                codes[answer.status] += 1

    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await asyncio.gather(*(sender(session) for _ in range(IN_FLIGHT)))
    return codes


def delete_pods(cluster: ControlPlane, namespace: str) -> None:
    """Delete every pod of a namespace, at once."""
    pods = cluster.api.demand("GET", f"/api/v1/namespaces/{namespace}/pods?resourceVersion=0")
    path = f"/api/v1/namespaces/{namespace}/pods/"
    at_once = "?gracePeriodSeconds=0"
    names = [pod["metadata"]["name"] for pod in pods["items"]]
    send_all(cluster, [Sent("DELETE", f"{path}{name}{at_once}") for name in names])
