"""What a room has said until now: reports laid over each other.

Nothing a room says is trusted beyond itself: counts are clamped.
"""

import math
from dataclasses import replace
from itertools import zip_longest

from reconciler.model.live import LivePod
from reconciler.model.rooms import COMING, Health, Heard, Report, Said

MOST_PLAYERS = 1_000_000
"""So many players, or matches, a room may tell of; more is a slip of the game's."""
KEPT_BEHIND_SECONDS = 60.0
"""So much later than the count on its pod may be one that was answered and does not stand there."""
UNHEARD = Heard(at=0.0, tells=False, begun=False)
"""What is heard of a room that said nothing yet."""


def lay(
    known: Heard | None,
    report: Report,
    matches_max: int,
    now: float,
    confirms_at: float = 0.0,
    pod: LivePod | None = None,
) -> Heard:
    """Return what is heard after a report; `known` itself where nothing that counts changed.

    `now` is seconds on a clock that never jumps. `confirms_at` is when the report was sent by a
    draining room that had been left alone for its quiet time, 0 where it was not so; `pod` is how
    its pod was seen then, None where that counts for nothing.
    """
    before = _before(known, report, now, pod)
    tells = _tells(report)
    said = _said(before, report)
    spoke = before.tells or _said_anything(before)
    confirmed_at = before.confirmed_at or (confirms_at if tells else 0.0) if confirms_at else 0.0
    laid = Heard(
        at=before.at,
        # A game that repeats itself on one path may use another beside it: its silence tells.
        periodic=report.periodic or (spoke and before.periodic),
        said=said,
        matches=_matches(before, report, matches_max),
        players=_players(before, report),
        health=report.health if report.health is not None else before.health,
        game_state=report.game_state if report.game_state is not None else before.game_state,
        said_since=before.said_since if said is before.said else now,
        confirmed_at=confirmed_at,
        tells=tells or before.tells,
        untold_since=0.0 if tells else before.untold_since,
        mixed=before.mixed or (spoke and before.periodic is not report.periodic),
        runs=before.runs,
        counted=before.counted,
        after_end=before.after_end,
        over_runs=_over_runs(before, report, said, pod),
        long_ago=report.players is None and before.long_ago,
    )
    begun = before.begun or laid.busy or begins(laid)
    laid = replace(laid, defies=_defies(laid, pod), begun=begun)
    if not tells and not report.periodic and _is_new(laid, before):
        laid = replace(laid, untold_since=now)
    return known if laid == known else replace(laid, at=now)


def _said_anything(heard: Heard) -> bool:
    return any(word is not None for word in (heard.said, heard.health, heard.game_state))


def _defies(heard: Heard, pod: LivePod | None) -> tuple[int, ...] | None:
    return pod.runs if pod is not None and not pod.running and heard.busy else None


def recalled(
    known: Heard | None, players: int, over_runs: tuple[int, ...] | None, now: float
) -> Heard:
    """Return what is heard of a room that told of players when nothing was taken in.

    `over_runs` is under which restarts it said since that its game is over, None where it did not:
    that stands as it was heard.
    """
    laid = lay(known, Report(periodic=False, players=players), 0, now)
    if known is None or over_runs is None:
        return laid
    return replace(laid, said=known.said, said_since=known.said_since, over_runs=over_runs)


def _before(known: Heard | None, report: Report, now: float, pod: LivePod | None) -> Heard:
    """Return what was heard until now of the process that speaks."""
    if known is None:
        return replace(UNHEARD, at=now, periodic=report.periodic, said_since=now)
    if pod is None or not is_outlived(known, pod):
        return known
    anew = over(known, now)
    if not (known.players and keeps(known)):
        return anew
    # Whose players they are is told by clocks, beside its pod: that it is over may be an old word.
    runs, ended = known.over_runs, known.after_end
    return replace(anew, players=known.players, over_runs=runs, after_end=ended)


def _tells(report: Report) -> bool:
    """Whether a report tells who plays there: that it terminates a game may say in its match."""
    if report.matches is not None or report.players is not None:
        return True
    return report.said not in (None, Said.TERMINATING)


def _is_new(heard: Heard, before: Heard) -> bool:
    """Whether a word that tells of no players is new: a match may begin with the same as the last.

    One that is repeated with no count in between is not, or it would never be over.
    """
    if (heard.health, heard.game_state) != (before.health, before.game_state):
        return True
    return heard.game_state in COMING and not before.untold_since


def begins(heard: Heard) -> bool:
    """Whether what a room said tells that its game began: it is no more being created, nor over."""
    return heard.health is not Health.CREATING and heard.said is not Said.TERMINATED


def told_under(heard: Heard, before: Heard | None, pod: LivePod, unix_seconds: float) -> Heard:
    """Note with what is kept of a room when it was told, and how its pod stood then.

    A count that is told again is no news until it is to be renewed: a game that says two things by
    turns would else have its pod written at each word.
    """
    if not keeps(heard):
        return heard
    laid = replace(heard, runs=pod.runs, after_end=bool(pod.ended))
    same = before is not None and before.players == heard.players and laid == heard
    if same and not is_to_renew(heard, unix_seconds):
        return heard
    return replace(laid, counted=math.ceil(unix_seconds))


def is_to_renew(heard: Heard, unix_seconds: float) -> bool:
    """Whether players who are told of again are to stand on the pod with the time of now.

    It may be a new process that tells of them, before the pod tells of its restart: by the time
    that stands there the next leader would take them for those of the one before.
    """
    late = not 0 <= unix_seconds - heard.counted < KEPT_BEHIND_SECONDS
    return heard.players > 0 and keeps(heard) and late


def began_anew(heard: Heard, runs: tuple[int, ...]) -> bool:
    """Whether every container of a room's game was restarted since it told of its players.

    Where nobody can tell which is the game, all are counted: one that runs on may be played.
    """
    return keeps(heard) and _restarted(heard.runs, runs)


def is_outlived(heard: Heard, pod: LivePod) -> bool:
    """Whether another process runs than the one that said that its game is over."""
    return heard.said is Said.TERMINATED and is_over_before(heard, pod.runs)


def is_over_before(heard: Heard, runs: tuple[int, ...]) -> bool:
    """Whether a room told of its players, and then that its game is over, before it began anew."""
    return heard.over_runs is not None and _restarted(heard.over_runs, runs)


def _restarted(before: tuple[int, ...], runs: tuple[int, ...]) -> bool:
    pairs = zip_longest(runs, before, fillvalue=0)
    return bool(runs) and all(now > then for now, then in pairs)


def is_doubtful(heard: Heard, pod: LivePod) -> bool:
    """Whether nobody knows if players were told of by the process of now, or the one before.

    So it is with those who were told of right after a game ended for good, or right before, and
    with those after whom it said that it is over: its next process need not be seen as one. Where
    pings tell of a match, somebody plays there whoever told of the players.
    """
    pinged = heard.periodic and (heard.said is Said.OCCUPIED or heard.matches > 0)
    if not heard.players or pinged or not keeps(heard):
        return False
    if heard.long_ago or heard.over_runs is not None:
        return True
    return began_anew(heard, pod.runs) or (bool(pod.ended) and not heard.after_end)


def emptied(heard: Heard, runs: tuple[int, ...], now: float, health: Health | None = None) -> Heard:
    """Return what is heard of a room of which no process is left that told of players in it.

    Whoever played there is gone; of a game that repeats itself its next words tell the rest. That
    it was over is no word of the process that began since; `health` is, or None.
    """
    # The process that said that it is empty is gone.
    anew = replace(heard, players=0, confirmed_at=0.0, health=health, game_state=None, at=now)
    anew = replace(anew, runs=runs, counted=0, untold_since=0.0, over_runs=None, long_ago=False)
    if heard.periodic and heard.said not in (Said.TERMINATING, Said.TERMINATED):
        return anew
    if heard.periodic:
        return replace(anew, said=None, said_since=now)
    return replace(anew, said=None, matches=0, said_since=now, tells=True)


def over(heard: Heard, now: float) -> Heard:
    """Return what is heard of a room whose game is over: nobody plays there by its own word."""
    return replace(
        heard,
        players=0,
        matches=0,
        said=None,
        health=None,
        game_state=None,
        at=now,
        said_since=now,
        confirmed_at=0.0,
        untold_since=0.0,
        after_end=False,
        over_runs=None,
        long_ago=False,
    )


def keeps(heard: Heard) -> bool:
    """Whether its last report is kept on its pod: some of it is told on change only."""
    return heard.mixed or not heard.periodic


def _matches(before: Heard, report: Report, most: int) -> int:
    """Return the matches after a report: a room that says what it is and no number says 0."""
    if report.matches is not None:
        matches = min(max(0, report.matches), most)
    elif report.said is None or report.said is Said.TERMINATING:
        matches = before.matches
    else:
        matches = 0
    # Maestro reads an occupied room that names no match as one match.
    return max(1, matches) if report.said is Said.OCCUPIED else matches


def _said(before: Heard, report: Report) -> Said | None:
    """Return what a room says of itself after a report.

    Whoever tells of somebody who plays there takes back that it is over: its pod may tell late that
    it is another process which speaks.
    """
    plays = (report.players or 0) + (report.matches or 0) > 0
    if report.said is None and before.said is Said.TERMINATED and plays:
        return None
    return before.said if report.said is None else report.said


def _over_runs(
    before: Heard, report: Report, said: Said | None, pod: LivePod | None
) -> tuple[int, ...] | None:
    """Return under which restarts a room said that it is over, since it told of its players."""
    if report.said is Said.TERMINATED:
        return before.over_runs if pod is None else pod.runs
    return before.over_runs if report.players is None or said is Said.TERMINATED else None


def _players(before: Heard, report: Report) -> int:
    return before.players if report.players is None else min(max(0, report.players), MOST_PLAYERS)
