"""Somebody writes against us on a pod: it is left as they made it for a while, ever longer.

Two processes of which each believes that it leads hear half of what a room says each, and would
write against each other as fast as the cluster takes it. What a room says anew is written at once.
"""

from reconciler.service.rooms.lines import Line

CALM_SECONDS = 30.0
"""A pod that stood as we left it for so long is nobody's matter; shorter than the minute after
which a count that is told again is written again."""
FIRST_SECONDS = 0.1
LONGEST_SECONDS = 15.0
LONGEST_BUSY_SECONDS = 0.5
"""Who knows of players yields for a moment only: whoever hears none waits for longer, and so the
pod protects them almost all the time."""
TELLING = 3
MOST = 10


def wrote(line: Line, now: float) -> bool:
    """Note that we wrote on a pod; whether it is a contest by now, once for each.

    It is one where nothing else is heard of its room than when we wrote on it shortly before. Who
    sets a label back once, or twice, makes none.
    """
    again = not _has_news(line) and now - line.wrote_at < CALM_SECONDS
    line.rewrites = min(MOST, line.rewrites + 1) if again else 0
    line.wrote_at = now
    return again and line.rewrites == TELLING


def rest_seconds(line: Line, now: float) -> float:
    """Return for how long a pod is to be left as somebody else made it, 0 where it is not."""
    if not line.rewrites or line.heard is None or _has_news(line):
        return 0.0
    longest = LONGEST_BUSY_SECONDS if line.heard.busy else LONGEST_SECONDS
    pause = min(longest, FIRST_SECONDS * 2.0**line.rewrites)
    return max(0.0, line.wrote_at + pause - now)


def _has_news(line: Line) -> bool:
    return line.heard is None or line.heard.at > line.wrote_at
