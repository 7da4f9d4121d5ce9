"""The state of a fleet for programs: what `status --output json` promises."""

from typing import Any

from reconciler.cli import scaling_status
from reconciler.cli.changes import holds_as_json
from reconciler.cli.live_changes import counts_as_json
from reconciler.cli.room_faces import RoomsFace
from reconciler.cli.scaling_status import ScalingFace
from reconciler.cli.statuses import Status, WorkloadStatus
from reconciler.service.lookout import Sighting, written


def as_json(status: Status, now: float) -> dict[str, Any]:
    """Return the status as a JSON object."""
    record, face = status.repository, status.scaling(now)
    return {
        "repository": record.repository,
        "branch": record.branch,
        "path": record.path,
        "commit": record.commit,
        "verified": record.verified or None,
        **(_seen_json(status.seen, now) if status.seen else {"leader": None, "git": None}),
        "freezes": [
            {
                "name": each.name,
                "since": _time(each.since),
                "until": _time(each.until),
                "reason": each.reason,
                "source": each.place,
            }
            for each in record.freezes
        ],
        "holds": holds_as_json(status.notices),
        "approvals": [
            {"line": item.line, "by": item.by, "until": item.until} for item in record.approved
        ],
        "trailers": [
            {"commit": item.commit, "changeHash": item.change_hash, "by": item.by, "at": item.at}
            for item in record.endorsements
        ],
        "writeBack": scaling_status.face_json(face, now),
        "workloads": [_workload_json(each, face, now) for each in status.workloads],
    }


def _seen_json(seen: Sighting, now: float) -> dict[str, Any]:
    return {
        "leader": seen.holder,
        "leaderRenewedAt": _time(seen.renewed_at),
        "leaderIsSilent": seen.is_over(now),
        "leaderClockAheadSeconds": seen.ahead_seconds,
        "git": {
            "lookedAt": _time(seen.looked_at),
            "failingSince": _time(seen.blind_since),
            "error": seen.error,
        },
        "notTold": [
            {
                "target": each.name,
                "since": _time(each.since),
                "error": each.error,
                "givenUp": each.gave_up,
            }
            for each in seen.untold_at(now)
        ],
    }


def _time(at: float) -> str | None:
    return written(at) if at else None


def _workload_json(each: WorkloadStatus, face: ScalingFace, now: float) -> dict[str, Any]:
    return {
        "kind": each.key.kind,
        "namespace": each.key.namespace,
        "name": each.key.name,
        "state": each.state,
        "rooms": counts_as_json(each.counts),
        **_face_json(each.rooms),
        "kept": each.counts.kept,
        "scaling": scaling_status.workload_json(face, each.key, each.record, now),
        "commit": each.commit,
        "source": each.source,
        "holds": holds_as_json(each.holds),
        "conditions": [
            {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message}
            for c in each.conditions
        ],
    }


def _face_json(face: RoomsFace) -> dict[str, Any]:
    return {
        "states": {state.value: number for state, number in face.states.items() if number},
        "available": face.rollup.available,
        "health": face.rollup.health.value,
        "podsState": face.rollup.pods.value,
        "players": face.players,
        "staying": {why.value: number for why, number in face.staying.items()},
    }
