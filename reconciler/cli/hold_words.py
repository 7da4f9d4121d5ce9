"""The words around a hold that are the same for people and for a pull request's page."""

from reconciler.model.holds import HoldKind

NOTE = "note"
_NOTES = (HoldKind.TRAILER, HoldKind.UNSIGNED_COUNTS)


def title_of(kind: str) -> str:
    """Return what stands before a hold: what only tells of something stops nothing."""
    return NOTE if kind in _NOTES else "held"


def way_through(kind: str, change_hash: str) -> str:
    """Return what lets a hold through, "" where no approval does.

    What waits for the end of a freeze needs none: an approval only lets it act before.
    """
    if not change_hash:
        return ""
    until = "to let it act before then" if kind == HoldKind.FROZEN else "none of it acts until"
    return f"{until}: gamekeeper approve {change_hash}"
