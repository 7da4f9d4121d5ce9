"""Credentials from the program that a kubeconfig names, by the contract of ExecCredential.

Nobody is there to answer questions: the program gets no terminal, and a deadline.
"""

import asyncio
import json
import math
import os
import signal
import ssl
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from reconciler.adapters.kubernetes import tls
from reconciler.adapters.kubernetes.credentials import Proof, bearer
from reconciler.adapters.kubernetes.kubeconfig import Chosen
from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.masks import redact

RUN_SECONDS = 60.0
_API_VERSIONS = tuple(f"client.authentication.k8s.io/{each}" for each in ("v1", "v1beta1"))
_EARLY_SECONDS = 60.0
_LONGEST_SAID = 300
_LOOK_SECONDS = 0.05
_LINGER_SECONDS = 1.0
"""What a program that has ended may still have to say, through what it started."""


class Plugin:
    """The program of one user entry.

    `context`, if there is one, is made to show the certificate that the program gives.
    """

    def __init__(
        self, chosen: Chosen, context: ssl.SSLContext | None, run_seconds: float = RUN_SECONDS
    ) -> None:
        self._entry: Mapping[str, Any] = chosen.user["exec"]
        self._origin = chosen.origin
        self._context = context
        self._run_seconds = run_seconds
        self._named = f"{chosen.origin}: the credentials plugin {self._entry.get('command', '')}"
        self._has_worked = False
        self._check()
        self._told = self._environment(chosen)

    async def __call__(self) -> Proof:
        """Run the program and return what it gave.

        Raises Misconfigured with what it said, Unavailable where it has worked before, and Denied
        when it gave no credentials.
        """
        status = self._status(await self._run())
        certificate = self._text(status, "clientCertificateData")
        key = self._text(status, "clientKeyData")
        token = self._text(status, "token")
        if not token and not certificate:
            raise Denied(f"{self._named} gave neither a token nor a certificate: log in with it")
        if certificate and self._context is not None:
            tls.load_client_certificate(self._context, certificate, key, self._named)
        self._has_worked = True
        headers = bearer(token, self._named) if token else {}
        return Proof(headers, certificate, _good_for_seconds(status))

    def _check(self) -> None:
        if not self._entry.get("command"):
            raise Misconfigured(f"{self._origin}: its exec names no command")
        if self._entry.get("apiVersion") not in _API_VERSIONS:
            raise Misconfigured(
                f"{self._named} must have an apiVersion of {' or '.join(_API_VERSIONS)}"
            )
        if self._entry.get("interactiveMode") == "Always":
            raise Misconfigured(
                f"{self._named} wants a person at a terminal (interactiveMode: Always): "
                "use another user entry"
            )

    def _environment(self, chosen: Chosen) -> dict[str, str]:
        spec: dict[str, Any] = {"interactive": False}
        if self._entry.get("provideClusterInfo"):
            spec["cluster"] = _cluster_of(chosen)
        credential = {
            "apiVersion": self._entry["apiVersion"],
            "kind": "ExecCredential",
            "spec": spec,
        }
        environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(credential)}
        for pair in self._entry.get("env", ()):
            try:
                environment[str(pair["name"])] = str(pair["value"])
            except (KeyError, TypeError) as error:
                raise Misconfigured(f"{self._named}: its env is no list of name, value") from error
        return environment

    async def _run(self) -> bytes:
        command = [self._entry["command"], *map(str, self._entry.get("args", ()))]
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=self._told,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            hint = _readable(str(self._entry.get("installHint", "")))
            reason = error.strerror if isinstance(error, OSError) else error
            raise Misconfigured(
                f"{self._named} cannot be run ({reason}). {hint}".strip()
            ) from error
        try:
            async with asyncio.timeout(self._run_seconds):
                printed, said = await _all_said(process)
        except TimeoutError as error:
            raise Unavailable(
                f"{self._named} did not end within {self._run_seconds:.0f} s: run it by hand"
            ) from error
        finally:
            await _end(process)
        if process.returncode:
            # Not what it printed: that may be a token.
            words = _readable(said.decode(errors="replace")) or "it said nothing"
            raise self._failure(f"failed with exit code {process.returncode}: {words}")
        return printed

    def _status(self, printed: bytes) -> dict[str, Any]:
        try:
            credential = json.loads(printed)
            version, status = credential["apiVersion"], credential.get("status")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._failure("printed no ExecCredential: run it by hand") from error
        if version != self._entry["apiVersion"]:
            raise self._failure(f"speaks another apiVersion than {self._entry['apiVersion']}")
        return status if isinstance(status, dict) else {}

    def _text(self, status: Mapping[str, Any], name: str) -> str:
        value = status.get(name) or ""
        if not isinstance(value, str):
            raise self._failure(f"gave a {name} that is no text: run it by hand")
        return value

    def _failure(self, what: str) -> PortError:
        # What has worked before is configured: a login server that is down passes by itself.
        kind = Unavailable if self._has_worked else Misconfigured
        return kind(f"{self._named} {what}")


async def _all_said(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """Return what a program says until it ends, though what it started may hold its output."""
    said = asyncio.ensure_future(process.communicate())
    try:
        # The exit is looked for: `wait` itself waits for the output in some releases of Python.
        while process.returncode is None and not said.done():
            await asyncio.wait({said}, timeout=_LOOK_SECONDS)
        await asyncio.wait({said}, timeout=_LINGER_SECONDS)
        if process.returncode is not None:
            _kill_group(process)
        return await said
    finally:
        said.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    # Also where it has ended: what it started goes with it.
    _kill_group(process)
    if process.returncode is None:
        await process.wait()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _readable(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = redact(" / ".join(lines[-3:]))[:_LONGEST_SAID]
    return "".join(letter if letter.isprintable() else "?" for letter in shown)


def _cluster_of(chosen: Chosen) -> dict[str, Any]:
    cluster = chosen.cluster
    told = {
        key: cluster[key] for key in ("server", "tls-server-name", "proxy-url") if key in cluster
    }
    if cluster.get("insecure-skip-tls-verify"):
        told["insecure-skip-tls-verify"] = True
    authority = tls.authority_data(cluster, chosen.origin)
    if authority:
        told["certificate-authority-data"] = authority
    for each in cluster.get("extensions") or ():
        if isinstance(each, dict) and each.get("name") == "client.authentication.k8s.io/exec":
            told["config"] = each.get("extension")
    return told


def _good_for_seconds(status: Mapping[str, Any]) -> float:
    try:
        until = datetime.fromisoformat(str(status["expirationTimestamp"]))
        left = (until - datetime.now(UTC)).total_seconds()
    except (KeyError, TypeError, ValueError):
        return math.inf  # until the server refuses it, as the contract of plugins has it
    return max(left - _EARLY_SECONDS, left / 2, 1.0)
