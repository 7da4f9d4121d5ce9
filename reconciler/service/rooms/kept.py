"""What a line takes from its pod: the report that is kept there, and what makes one void.

Each says whether what is heard of the room is another thing by it.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from reconciler.core import fence, hearing, kept_reports
from reconciler.core.reporting import tells_by_silence
from reconciler.model.live import LivePod
from reconciler.model.rooms import Health, Heard, Mark
from reconciler.model.specs import Workload
from reconciler.service.rooms.lines import Line
from reconciler.service.shelves import is_older

TOLD_LATE_SECONDS = 10.0
"""So late a pod may tell of a restart: no clock is believed, then or later, that takes players who
were told of within it before the pod told."""
CLOCKS_APART_SECONDS = 60.0
"""So far ahead of ours a node's clock may be, by which the pod tells when its containers started.

What was told within it before a start may be the word of either process, and stands: a game that
tells its players on change, and crashed so soon after one, keeps its room until it tells of them
anew, or is `Creating`, or begins once more. What was told after it is taken for the new one's."""
START_SECONDS = 1.0
"""A pod tells its containers' starts in whole seconds, rounded down."""


def begin(line: Line, pod: LivePod, mute: bool) -> None:
    """Let a room begin with what its pod has kept; of a `mute` one that is no news.

    Nor is it of a room that is kept because it failed: that was decided after its last words.
    """
    if pod.mark is not Mark.FAILED and not mute:
        line.heard = kept_reports.heard_of(pod.kept_report, line.last_at)
    line.rests_on, line.rests_at = pod.kept_report, pod.resource_version


def is_recalled(before: LivePod | None, pod: LivePod) -> bool:
    """Whether the post-mortem of a room is over: what it said last counts again.

    A game that tells its players on change says it once, and a room that was never heard stays.
    """
    return before is not None and before.mark is Mark.FAILED and pod.mark is not Mark.FAILED


def unsay_silence(line: Line, pod: LivePod) -> bool:
    """Forget the silence of a room that never spoke to us, once nothing tells that it ever spoke.

    Somebody took away, or covered, the mark that told so: it is one of whom nobody knows.
    """
    if not line.silent or line.is_known or tells_by_silence(pod):
        return False
    line.heard, line.overdue = None, False
    return True


def renew(line: Line, pod: LivePod, now: float, unix_seconds: float) -> bool:
    """Take over what another process kept on a pod, until the room tells of its players.

    Never from an older pod than was seen: a list that lags must not bring back who has left, for
    a game that tells its players on change does not say that again. `now` is of the clock that
    never jumps, `unix_seconds` the same moment.
    """
    if line.rests_on is None or is_older(pod.resource_version, line.rests_at):
        return False
    line.rests_at = pod.resource_version
    if line.rests_on == pod.kept_report:
        return False
    line.rests_on, before = pod.kept_report, line.heard
    spoke, over_at = line.spoke_at >= 0, unix_seconds - (now - line.over_at)
    line.heard = kept_reports.renewed(before, pod.kept_report, now, spoke, over_at)
    if line.heard is before:
        return False
    line.report, line.empty_at = None, now
    return True


def tell_over(line: Line, pod: LivePod) -> None:
    """Note that the room tells of its players itself, over what is kept on its pod."""
    line.rests_on, line.told_over, line.rests_at = None, pod.kept_report, pod.resource_version


def stand(line: Line, note: str, pod: LivePod) -> None:
    """Note that what it told itself is kept on its pod by now."""
    if line.rests_on is None and pod.kept_report == note:
        line.told_over, line.rests_at = note, pod.resource_version


def give_way(line: Line, pod: LivePod, now: float, unix_seconds: float) -> bool:
    """Take over what a process that leads beside us kept on a pod since the room told us.

    Each writes only over what it has seen, and what it has seen it takes over before it writes: so
    the room told that process later. Players of whom it has just told us are written first.
    """
    if line.rests_on is not None or line.heard is None or pod.kept_report == line.told_over:
        return False
    pending = line.heard.players and kept_reports.kept_of(line.heard) != line.told_over
    if pending or not pod.kept_report:
        return False
    line.rests_on = line.told_over
    return renew(line, pod, now, unix_seconds)


def void(line: Line, pod: LivePod, now: float, unix_seconds: float) -> bool:
    """Forget the players of a room whose game began anew since it told of them.

    A pod tells of a restart late: what was not told surely before the start that the pod tells
    may be the new process's own word, and that stands. `now` is of the clock that never jumps,
    `unix_seconds` the same moment.
    """
    heard = line.heard
    if heard is None or not pod.game_started_at or not hearing.began_anew(heard, pod.runs):
        return False
    if line.counted_at > -math.inf:
        # The same count again is no news, and no older for it.
        told = math.ceil(unix_seconds - (now - line.counted_at))
        at = max(heard.at, line.counted_at)
        heard = replace(heard, at=at, counted=max(told, heard.counted))
    if now - line.counted_at < TOLD_LATE_SECONDS:
        line.unclear = pod.runs
    is_own = _is_of_start(line.health_at, pod, now, unix_seconds)
    health = heard.health if is_own else None
    if heard.players and heard.counted > pod.game_started_at + START_SECONDS:
        # That it is over was said after that count: when this process ran already.
        over_runs = None if heard.over_runs is None else pod.runs
        heard = replace(heard, runs=pod.runs, health=health, over_runs=over_runs)
    elif not heard.players or _is_surely_before(line, heard, pod, now):
        before, heard = heard, hearing.emptied(heard, pod.runs, now, health)
        if _is_of_start(before.untold_since, pod, now, unix_seconds):
            state, since = before.game_state, before.untold_since
            heard = replace(heard, game_state=state, untold_since=since)
        line.empty_at = now
    # The same words of the process that began are news: they end the doubt.
    line.report = None
    if line.heard == heard:
        return False
    line.heard = heard
    return True


def _is_of_start(at: float, pod: LivePod, now: float, unix_seconds: float) -> bool:
    """Whether a word that came `at` is of the process that the pod tells began last.

    It may tell how it is before its pod tells of it; a word of this moment is its own.
    """
    return at == now or (at > 0 and unix_seconds - (now - at) >= pod.game_started_at)


def _is_surely_before(line: Line, heard: Heard, pod: LivePod, now: float) -> bool:
    """Whether its players were told of before its containers started, by whatever clock.

    A process says that it is `Creating` before it has any; one that says so again, beside its
    count, may have been heard in another order, until its pod has told that it began.
    """
    creating = heard.health is Health.CREATING and line.health_at > line.counted_at
    if creating and (line.unclear != pod.runs or line.health_at == now):
        return True
    if line.unclear == pod.runs:
        return False
    if hearing.is_over_before(heard, pod.runs):
        return True
    if _is_perhaps_a_proxy(heard, pod):
        return False
    apart = CLOCKS_APART_SECONDS
    if line.counted_at == -math.inf:
        apart += (
            hearing.KEPT_BEHIND_SECONDS
        )  # another process may have heard more than stands there
    return 0 < heard.counted < pod.game_started_at - apart


def _is_perhaps_a_proxy(heard: Heard, pod: LivePod) -> bool:
    """Whether a container runs on beside what began anew since its players were told of.

    It may be the game, of which a proxy with the host port is seen: a container need not declare
    its ports. A helper is alike, so its game's dead players stay until it tells of itself.
    """
    return 0 < pod.beside_since - CLOCKS_APART_SECONDS <= heard.counted


def bury(line: Line, before: LivePod | None, pod: LivePod, now: float, unix_seconds: float) -> bool:
    """Forget who played in a game that is seen to have ended for good; words since then count.

    A pod tells of it late, and another process may have heard them. `now` and `unix_seconds` are
    as of `void`.
    """
    was_seen = before is not None and before.ended and before.running
    if line.heard is None or was_seen or not (pod.ended and pod.running):
        return False
    # The same words, told again, are news: of these it is known by order that they came since.
    line.report, heard = None, line.heard
    told_at = _told_at(line, heard, now, unix_seconds)
    if heard.after_end or 0 < pod.game_ended_at <= told_at - START_SECONDS:
        line.heard = replace(heard, at=max(heard.at, line.counted_at))
        return line.heard != heard
    line.heard = hearing.over(heard, now)
    line.empty_at = now
    return True


def _told_at(line: Line, heard: Heard, now: float, unix_seconds: float) -> float:
    """Return when a room told of its players last, in Unix seconds: a ping tells of them, too.

    What is kept on its pod is rounded up.
    """
    counts = heard.players > 0 and hearing.keeps(heard)
    at = line.counted_at if counts else line.spoke_at
    if at < 0:
        return heard.counted - 1.0
    return unix_seconds - (now - at)


def undrain(line: Line, pod: LivePod) -> bool:
    """Forget that a room is known empty, where it drains no more, or anew."""
    draining = pod.leaving_since if pod.mark is Mark.DRAINING else None
    if line.drain is None or line.drain == draining:
        return False
    line.report = line.drain = None
    if line.heard is None or not line.heard.confirmed_at:
        return False
    line.heard = replace(line.heard, confirmed_at=0.0)
    return True


def unconfirm(
    line: Line, pod: LivePod, workload: Workload, since_on: Callable[[str], float]
) -> bool:
    """Forget that a room is known empty by a word that was sent too early by now.

    `quietSeconds` was raised since, or nobody listened to its node for a while: what it says next,
    be it the same, is news.
    """
    heard = line.heard
    if heard is None or not heard.confirmed_at:
        return False
    if fence.is_known_empty(pod, workload, heard, since_on(pod.node)):
        return False
    line.heard, line.mark = replace(heard, confirmed_at=0.0), Mark.NONE
    return True
