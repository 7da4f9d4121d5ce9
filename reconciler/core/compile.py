"""Valid documents to what the engine knows: Workload and Config."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reconciler.core.autoscaling_spec import autoscaling_of, share_of
from reconciler.core.copying import copies_of
from reconciler.core.documents import Document
from reconciler.core.freeze_windows import windows_of
from reconciler.core.ignoring import ignored_of
from reconciler.core.instants import instant_of_text
from reconciler.core.places import file_of, place_of_value
from reconciler.core.revision import revision_of
from reconciler.model.masks import redact
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import (
    Budgets,
    Config,
    Departure,
    Disruption,
    FailurePolicy,
    PortRange,
    Rollout,
    Scheduling,
    Source,
    Suspension,
    Timeouts,
    Workload,
    WriteBack,
)

OBJECTS = "objects"
"""Where the accepted spec of a workload has its additional objects, beside `spec`."""
FLEET_PORTS = {"start": 20000, "end": 30000}
"""The `portRange` of a Fleet that names none."""


def workload_key(kind: str, name: str, namespace: str | None = None) -> WorkloadKey:
    """Return the key of a workload; without another namespace, its own has its name."""
    return WorkloadKey(kind, namespace or name, name)


def compile_workload(document: Document) -> Workload:
    """Return the workload of a valid Scheduler or Fleet document, with the lines it stands on."""
    workload = _workload(
        document.value,
        canonical(document.value),
        _source(document, ()),
        _source(document, ("spec", "replicas")),
    )
    if not workload.suspend:
        return workload
    place = _source(document, ("spec", "suspend"))
    return replace(workload, suspension=replace(workload.suspension, source=place))


def workload_from_json(spec_json: str, source: Source) -> Workload:
    """Return the workload of an accepted spec: the `spec_json` of a Workload read before."""
    return _workload(json.loads(spec_json), spec_json, source, source)


def with_objects(workload: Workload, bodies: Iterable[Json]) -> Workload:
    """Return a workload with its additional objects, which are kept with its accepted spec.

    What was rendered is kept, not what it was rendered from: an accepted spec is whole without
    the repository, and another version of Gamekeeper renders nothing of it anew.
    """
    value = json.loads(workload.spec_json)
    value[OBJECTS] = {f"{body['kind']}/{body['metadata']['name']}": body for body in bodies}
    text = canonical(value)
    return replace(workload, spec_json=text, objects=_objects(json.loads(text)))


def _objects(value: Json) -> tuple[str, ...]:
    return tuple(map(canonical, (value.get(OBJECTS) or {}).values()))


def compile_config(value: Json) -> Config:
    """Return the Config of a valid Config document."""
    spec = value.get("spec") or {}
    budgets = spec.get("budgets") or {}
    own, total = budgets.get("workload") or {}, budgets.get("total") or {}
    plain = Budgets()
    back, plain_back = spec.get("writeBack") or {}, WriteBack()
    default = Config()
    return Config(
        paths=tuple(spec.get("paths", default.paths)),
        kubernetes_version=spec.get("kubernetesVersion", default.kubernetes_version),
        budgets=Budgets(
            workload_rooms=own.get("rooms", plain.workload_rooms),
            workload_percent=float(own.get("percent", plain.workload_percent)),
            total_rooms=total.get("rooms", plain.total_rooms),
            total_percent=float(total.get("percent", plain.total_percent)),
            window_seconds=budgets.get("windowSeconds", plain.window_seconds),
        ),
        resync_seconds=spec.get("resyncSeconds", default.resync_seconds),
        poll_seconds=spec.get("pollSeconds", default.poll_seconds),
        write_back=WriteBack(
            mode=back.get("mode", plain_back.mode),
            quiet_seconds=back.get("quietSeconds", plain_back.quiet_seconds),
            human_hold_seconds=back.get("humanHoldSeconds", plain_back.human_hold_seconds),
            message=back.get("message", plain_back.message),
            to=back.get("to", plain_back.to),
            branch=back.get("branch", plain_back.branch),
        ),
        freeze=windows_of(spec.get("freeze") or ()),
        spec_json=canonical(value),
    )


def config_from_json(spec_json: str) -> Config:
    """Return an accepted Config: the `spec_json` of a Config read before."""
    return compile_config(json.loads(spec_json))


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _source(document: Document, path: tuple[str | int, ...]) -> Source:
    line, column = place_of_value(document.places, path)
    return Source(file_of(document.places, path) or document.file, line, column)


def _workload(value: Json, spec_json: str, source: Source, replicas_source: Source) -> Workload:
    spec: Json = value["spec"]
    kind, name = value["kind"], value["metadata"]["name"]
    ports = spec.get("portRange", FLEET_PORTS if kind == "Fleet" else None)
    exposed = spec.get("portsToExpose")
    return Workload(
        key=workload_key(kind, name, spec.get("namespace")),
        game=spec.get("game") or name,
        replicas=spec["replicas"],
        reports=spec["reports"],
        rollout=_rollout(spec.get("rollout") or {}),
        port_range=PortRange(ports["start"], ports["end"]) if ports else None,
        disruption=_disruption(spec),
        scheduling=Scheduling(spec.get("scheduling", Scheduling.PACKED)),
        suspend=spec.get("suspend", False) is not False,
        template=spec["template"],
        revision=revision_of(spec["template"], spec["reports"] == "required"),
        spec_json=spec_json,
        source=source,
        replicas_source=replicas_source,
        matches_max=(spec.get("matches") or {}).get("max", 1),
        timeouts=_timeouts(spec.get("timeouts") or {}),
        departure=_departure(spec.get("removal") or {}),
        failure=_failure(spec.get("failure") or {}),
        ports_to_expose=None if exposed is None else tuple(exposed),
        suspension=_suspension(spec.get("suspend")),
        autoscaling=autoscaling_of(spec),
        templates=spec.get("objects") or "",
        objects=_objects(value),
        ignore=ignored_of(spec),
        copy_from=copies_of(spec),
        drift=(spec.get("drift") or {}).get("mode", "heal"),
    )


def _suspension(suspend: Any) -> Suspension:
    if not isinstance(suspend, dict):
        return Suspension()
    until = suspend.get("until")
    # Told in holds and conditions, and kept in the records of those: a secret in it would stand in
    # all of them. What a record keeps of the spec itself is what Git has, with the secret.
    return Suspension(
        redact(suspend.get("reason") or ""), instant_of_text(until) if until else None
    )


def _disruption(spec: Json) -> Disruption:
    disruption, plain = spec.get("disruption") or {}, Disruption()
    usual = "occupied" if spec["reports"] == "required" else "count"
    mode = disruption.get("mode") or usual
    return Disruption(
        "occupied" if mode == "occupied" else "count",
        float(disruption.get("safetyPercentage", plain.safety_percentage)),
        disruption.get("intervalSeconds", plain.interval_seconds),
    )


def _timeouts(timeouts: Json) -> Timeouts:
    plain = Timeouts()
    return Timeouts(
        initialize_seconds=timeouts.get("initializeSeconds", plain.initialize_seconds),
        ping_seconds=timeouts.get("pingSeconds", plain.ping_seconds),
        terminate_seconds=timeouts.get("terminateSeconds", plain.terminate_seconds),
        silent_busy_seconds=timeouts.get("silentBusySeconds"),
    )


def _departure(removal: Json) -> Departure:
    return Departure(
        quiet_seconds=removal.get("quietSeconds", Departure().quiet_seconds),
        drain_deadline_seconds=removal.get("drainDeadlineSeconds"),
    )


def _failure(failure: Json) -> FailurePolicy:
    plain = FailurePolicy()
    return FailurePolicy(
        action="remove" if failure.get("action") == "Remove" else "delete",
        max_failures=failure.get("maxFailures"),
        window_seconds=failure.get("windowSeconds", plain.window_seconds),
    )


def _rollout(rollout: Json) -> Rollout:
    plain = Rollout()
    return Rollout(
        max_surge=share_of(rollout.get("maxSurge")) or plain.max_surge,
        max_unavailable=share_of(rollout.get("maxUnavailable")) or plain.max_unavailable,
    )
