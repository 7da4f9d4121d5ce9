"""When to look again: waits in seconds, None where nothing is waited for."""


def soonest(*waits: float | None) -> float | None:
    """Return the shortest of the waits, None where there is none."""
    return min((wait for wait in waits if wait is not None), default=None)
