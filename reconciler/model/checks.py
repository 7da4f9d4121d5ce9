"""A last look: what is asked right before a write is sent, since it may have waited for its turn.

What a check raises keeps the write back.
"""

from collections.abc import Callable

Check = Callable[[], None]


def unchecked() -> None:
    """Keep nothing back."""
