"""What lost a race and is wanted no more goes off the record, and in no commit's way.

Until then the record says that such a number may still come into Git by us.
"""

from collections.abc import Callable

from reconciler.loop import landing, noting
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.tries import Tries
from reconciler.model.errors import PortError
from reconciler.service.retries import Retries


class Withdrawals:
    """Withdraws what is `raced` of some tries; a record that does not take it is `unrecorded`.

    It is asked ever more seldom by a time of its own: what is decided meanwhile is committed when
    it is due, and the host is not what fails.
    """

    def __init__(
        self,
        lane: HeadLane,
        tries: Tries,
        leading: Callable[[], bool],
        unrecorded: Callable[[PortError], None],
        retries: Retries,
    ) -> None:
        self._lane = lane
        self._tries = tries
        self._leading = leading
        self._unrecorded = unrecorded
        self._retries = retries
        self._next_at = 0.0
        """By the clock that never jumps."""

    async def look(self) -> None:
        """Withdraw what is owed, where that is due and the newest head was taken in."""
        is_owed = self._tries.raced and landing.is_judged(self._lane)
        if not is_owed or self._lane.home.view.elapsed() < self._next_at:
            return
        try:
            await noting.withdraw(self._lane, self._tries.raced)
        except PortError as error:
            if self._leading():  # else no record is ours to write, and none failed
                self._unrecorded(error)
                self._next_at = self._lane.home.view.elapsed() + self._retries.failed()
            return
        self._retries.succeeded()
        self._next_at = 0.0
