"""What probes and lifecycle hooks must be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reconciler.sandbox.refusals import (
    Cause,
    forbidden_value,
    invalid_value,
    required,
    unsupported,
)
from reconciler.sandbox.requests import Json

LARGEST_PORT = 65_535
PORT_TEXT = "must be between 1 and 65535, inclusive"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_AMOUNTS = (
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
    "failureThreshold",
)  # fmt: skip
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_PORT_NAME_LIMIT = 15


def check_run(container: Json, path: str, grace_seconds: int) -> Iterator[Cause]:
    """Check how a running container is looked after; `grace_seconds` is its pod's."""
    hooks = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if name in hooks:
            place = f"{path}.lifecycle.{name}"
            yield from _handler(hooks[name], _HOOKS, place, grace_seconds)
    for name in _PROBES:
        if container.get(name) is not None:
            yield from _probe(name, container[name], f"{path}.{name}", grace_seconds)


def check_run_once(container: Json, path: str) -> Iterator[Cause]:
    """Check that a container which ends is not looked after."""
    for name in ("lifecycle", *_PROBES):
        if name in container:
            detail = "may not be set for init containers without restartPolicy=Always"
            yield forbidden_value(f"{path}.{name}", detail)


def _probe(name: str, probe: Json, path: str, grace_seconds: int) -> Iterator[Cause]:
    yield from _handler(probe, _HANDLERS, path, grace_seconds)
    for amount in _AMOUNTS:
        if probe.get(amount, 0) < 0:
            detail = "must be greater than or equal to 0"
            yield invalid_value(f"{path}.{amount}", probe[amount], detail)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid_value(
            f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"
        )
    if name == "readinessProbe" and grace is not None:
        detail = "must not be set for readinessProbes"
        yield invalid_value(f"{path}.terminationGracePeriodSeconds", grace, detail)
    if name != "readinessProbe" and probe.get("successThreshold", 1) != 1:
        yield invalid_value(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def _handler(value: Json, known: Sequence[str], path: str, grace_seconds: int) -> Iterator[Cause]:
    found = [one for one in known if one in value]
    if not found:
        yield required(path, "must specify a handler type")
        return
    yield from _action(found[0], value[found[0]], f"{path}.{found[0]}", grace_seconds)
    for extra in found[1:]:
        yield forbidden_value(f"{path}.{extra}", "may not specify more than 1 handler type")


def _action(kind: str, value: Json, path: str, grace_seconds: int) -> Iterator[Cause]:
    if kind == "exec" and not value.get("command"):
        yield required(f"{path}.command")
    if kind in ("httpGet", "tcpSocket", "grpc"):
        yield from _port(value.get("port", 0), f"{path}.port")
    if kind == "httpGet" and value.get("scheme") not in ("HTTP", "HTTPS"):
        yield unsupported(f"{path}.scheme", value.get("scheme", ""), ("HTTP", "HTTPS"))
    if kind == "sleep" and not 0 <= value.get("seconds", 0) <= grace_seconds:
        detail = (
            f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
        )
        yield invalid_value(path, value["seconds"], detail)


def _port(port: int | str, path: str) -> Iterator[Cause]:
    if isinstance(port, int):
        if not 0 < port <= LARGEST_PORT:
            yield invalid_value(path, port, PORT_TEXT)
        return
    for problem in port_name_problems(port):
        yield invalid_value(path, port, problem)


def port_name_problems(name: str) -> Iterator[str]:
    """Say everything that keeps a text from naming a port."""
    if len(name) > _PORT_NAME_LIMIT:
        yield f"must be no more than {_PORT_NAME_LIMIT} characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"
