"""How long ago something was, as roughly as one wants to know it."""


def age(seconds: float) -> str:
    """Write how long something is ago, in the largest unit of which there are two."""
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"
