"""When to try again after a failure: exponential, with full jitter, never before it was asked."""

import random

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 300.0


class Retries:
    """Counts failures in a row of one thing and says how long to wait."""

    def __init__(
        self, first_seconds: float = FIRST_SECONDS, longest_seconds: float = LONGEST_SECONDS
    ) -> None:
        self._first_seconds = first_seconds
        self._longest_seconds = longest_seconds
        self._failures = 0

    def succeeded(self) -> None:
        """Start again from the shortest wait."""
        self._failures = 0

    def failed(self, at_least_seconds: float = 0.0) -> float:
        """Count one more failure and return the seconds to wait, at least what was asked for."""
        ceiling_seconds = min(self._longest_seconds, self._first_seconds * 2.0**self._failures)
        self._failures = min(self._failures + 1, 30)
        # Half fixed, half random: spread out, yet never at once.
        jittered_seconds = ceiling_seconds * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)
        return max(at_least_seconds, jittered_seconds)
