"""The same thing over and over while the head stays: then it is no chance, and no race."""


class Streak:
    """Counts how often something happened over one head, one after the other."""

    def __init__(self) -> None:
        self._head: tuple[str, str] | None = None
        """Over which it happened last."""
        self._length = 0

    def go_on(self, head: tuple[str, str]) -> int:
        """Count once more, and return how often it was over this head; another begins anew."""
        self._length = self._length + 1 if head == self._head else 1
        self._head = head
        return self._length

    def end(self) -> None:
        """Forget what was counted: the next one is the first."""
        self._length = 0
