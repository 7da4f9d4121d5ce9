"""Credentials from the program that a kubeconfig names, by the Kubernetes client's own runner."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from reconciler.adapters.kubernetes import tls
from reconciler.adapters.kubernetes.credentials import Fetched, bearer
from reconciler.adapters.kubernetes.kubeconfig import Chosen
from reconciler.model.errors import Denied

RUN_SECONDS = 60.0
_EARLY_SECONDS = 60.0
_UNKNOWN_EXPIRY_SECONDS = 600.0


def source(chosen: Chosen, context: ssl.SSLContext | None) -> Callable[[], Awaitable[Fetched]]:
    """Return a source that runs the plugin of `chosen.user` whenever it is asked."""

    async def run() -> Fetched:
        status = await _run(chosen)
        if context is not None and status.get("clientCertificateData"):
            tls.load_client_certificate(
                context,
                status["clientCertificateData"],
                status.get("clientKeyData", ""),
                chosen.origin,
            )
        token = status.get("token")
        return Fetched(bearer(token) if token else {}, _good_for(status))

    return run


async def _run(chosen: Chosen) -> dict[str, Any]:
    # A third of a second: only for those who have a plugin.
    from kubernetes.aio.config.config_exception import ConfigException
    from kubernetes.aio.config.exec_provider import ExecProvider
    from kubernetes.aio.config.kube_config import ConfigNode

    command = chosen.user["exec"].get("command", "")
    advice = f"{chosen.origin}: the credentials plugin {command}"
    try:
        async with asyncio.timeout(RUN_SECONDS):
            status = await ExecProvider(ConfigNode("exec", dict(chosen.user["exec"]))).run()
    except (ConfigException, OSError) as error:
        # Not its text: that is what the plugin printed, and may hold the token.
        raise Denied(f"{advice} failed: run it by hand to see why") from error
    except TimeoutError as error:
        raise Denied(f"{advice} did not end within {RUN_SECONDS:.0f} s: run it by hand") from error
    if not status.get("token") and not status.get("clientCertificateData"):
        raise Denied(f"{advice} gave neither a token nor a certificate: log in with it again")
    return dict(status)


def _good_for(status: dict[str, Any]) -> float:
    try:
        until = datetime.fromisoformat(str(status["expirationTimestamp"]))
        left = (until - datetime.now(UTC)).total_seconds()
    except (KeyError, TypeError, ValueError):
        return _UNKNOWN_EXPIRY_SECONDS
    return max(left - _EARLY_SECONDS, left / 2, 1.0)
