"""One room with all that is known of it."""

from collections.abc import Iterator
from typing import Any

from reconciler.cli.ages import age
from reconciler.cli.deadlines import end_text, ends_in_seconds
from reconciler.cli.room_reading import Around, SeenRoom
from reconciler.cli.room_text import NONE, as_json
from reconciler.model.printable import escaped
from reconciler.model.records import Accepted
from reconciler.model.rooms import Heard, Why

WIDTH = 11


def detail_lines(room: SeenRoom, around: Around, now: float) -> Iterator[str]:
    """Write a room as people read it; `now` is Unix seconds."""
    pod, accepted = room.pod, accepted_of(room, around)
    yield escaped(room.name)
    rows = (
        ("workload", str(room.key)),
        ("asked by", f"commit {accepted.commit}, {source_of(accepted)}" if accepted else NONE),
        ("state", f"{room.judged.state}: {room.judged.reason}"),
        ("protected", room.judged.protected or "no"),
        ("report", report_of(room, now) or NONE),
        ("leaving", leaving_of(room, around, now) or NONE),
        ("node", pod.node or NONE),
        ("address", room.address or NONE),
        ("ports", _ports(room) or NONE),
        ("revision", _revision(room)),
        ("age", age(now - pod.created_at) if pod.created_at else NONE),
        ("restarts", str(pod.restarts)),
        ("uid", pod.uid),
    )
    for head, text in rows:
        if text:
            yield f"  {head:<{WIDTH}}{escaped(text)}"


def detail_json(room: SeenRoom, around: Around, now: float) -> dict[str, Any]:
    """Return a room as a JSON object: what `room --output json` promises."""
    accepted = accepted_of(room, around)
    left = ends_in_seconds(room.pod, around.specs.get(room.key), now)
    return {
        **as_json(room, now),
        "keptReport": room.pod.kept_report or None,
        "commit": accepted.commit if accepted else None,
        "source": source_of(accepted) if accepted else None,
        "podIP": room.pod.pod_ip or None,
        "endsAt": None if left is None else now + left,
    }


def accepted_of(room: SeenRoom, around: Around) -> Accepted | None:
    """Return the spec that asks for a room, where its record can be read."""
    record = around.states.get(room.key)
    return record.accepted if record else None


def source_of(accepted: Accepted) -> str:
    """Return the place in Git that asks."""
    return f"{accepted.file}:{accepted.line}"


def report_of(room: SeenRoom, now: float) -> str:
    """Say what the room reported last, "" where nothing here knows."""
    heard = room.heard
    if heard is None:
        return ""
    words = (("says", heard.said), ("health", heard.health), ("state", heard.game_state))
    told = heard.told_players
    said = [f"players {'not known' if told is None else told}", f"matches {heard.matches}"]
    said += [f"{word} {value}" for word, value in words if value]
    silent = "silent since" if heard.silent else ""
    return ", ".join([*said, *filter(None, (*_ages(room, heard, now), silent))])


def _ages(room: SeenRoom, heard: Heard, now: float) -> Iterator[str]:
    """Say how old its last news is, and for how long it has said nothing at all."""
    if room.told is None:
        yield "as kept on its pod"
        return
    yield f"the last news {age(now - heard.at)} ago"
    if room.told.spoke_at is not None:
        yield f"heard {age(now - room.told.spoke_at)} ago"


def leaving_of(room: SeenRoom, around: Around, now: float) -> str:
    """Say why a room leaves, since when and by when at the latest, "" where it stays."""
    pod = room.pod
    if pod.leaving is Why.STAYS:
        return ""
    since = f"since {age(now - pod.leaving_since)}: " if pod.leaving_since else ""
    left = ends_in_seconds(pod, around.specs.get(room.key), now)
    end = "" if left is None else f"; {end_text(left)}"
    return f"{since}{WHY[pod.leaving]}{end}"


WHY = {
    Why.SCALE_IN: "its workload is to have fewer rooms",
    Why.ROLLOUT: "it is of an old revision",
    Why.LEFT_GIT: "its spec left Git",
    Why.REQUEST: "somebody asked for it",
    Why.FAILED: "it failed",
}
"""What each reason to leave means."""


def _ports(room: SeenRoom) -> str:
    return ", ".join(
        f"{port.name or 'port'} {port.port}/{port.protocol} to {port.container_port}"
        for port in room.pod.host_ports
    )


def _revision(room: SeenRoom) -> str:
    stands = {True: " (as wanted)", False: " (old)", None: ""}[room.current]
    return f"{room.pod.revision or NONE}{stands}"
