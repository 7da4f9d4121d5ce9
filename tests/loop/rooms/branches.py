"""An act is played once, and at each request of it as often to its end as there are ways to go on.

The process forks there: what came before is the same in all of them, and takes the most time.
"""

import asyncio
import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import NoReturn

from reconciler.adapters.kubernetes.calls import Call
from tests.canaries import outputs
from tests.loop.rooms.acts import Act, Ending, PromptedHouse, Prompter, play
from tests.loop.service import Service
from tests.loop.virtual_time import in_virtual_time
from tests.scorecard import FIGURES, take_in

Branch = tuple[int, str, Prompter]
"""The number of a request, what goes wrong there in words, and who lets it."""
Told = Callable[[Branch, Ending | None, str], bool]
"""Hears what a branch came to: its ending, or what is wrong. It says whether to play on."""
LONGEST_SECONDS = 600
"""Of real time, for one branch: then it hangs."""


def play_branches(
    act: Act,
    wanted: Ending,
    branches: Sequence[Branch],
    numbers: Callable[[Call], bool],
    told: Told,
) -> None:
    """Play each branch of an act to its end, which is to be the `wanted` one.

    Raises what an undisturbed act raises, and AssertionError where it asks for less than it did.
    """
    tree = _Tree(branches, numbers, told)
    try:
        ending = in_virtual_time(play(act, tree, wanted))
    except BaseException as error:
        if tree.way_out is None:
            raise
        tree.leave(None, _told_of(error))
    if tree.way_out is not None:
        tree.leave(ending, "")
    assert tree.is_over, "an undisturbed act asked for less than the last time"


def _told_of(error: BaseException) -> str:
    """Say what is wrong: in a sentence where something was expected, else with all about it."""
    if isinstance(error, AssertionError):
        return str(error) or repr(error)
    return "".join(traceback.format_exception(error))


class _Tree(Prompter):
    """Lets nothing go wrong in this process; in each child that it forks, what its branch says.

    `way_out` is where a child tells its parent what it came to, None in the parent.
    """

    def __init__(
        self, branches: Sequence[Branch], numbers: Callable[[Call], bool], told: Told
    ) -> None:
        super().__init__(numbers=numbers)
        self.way_out: int | None = None
        self._told = told
        self._due = deque(sorted(branches, key=itemgetter(0)))  # as they are met

    @property
    def is_over(self) -> bool:
        """Whether every branch was played that was to be."""
        return not self._due

    def asked(self, house: PromptedHouse, service: Service, call: Call) -> None:
        """Branch, if there is anything to play from here."""
        if self.begun and self.way_out is None and self._numbers(call):
            while self._due and self._due[0][0] == len(self.calls):
                if self._branch(self._due.popleft()):
                    break
        super().asked(house, service, call)

    def _branch(self, branch: Branch) -> bool:
        """Play a branch in a child; whether this is the child."""
        assert threading.active_count() == 1, "a child would have no other thread"
        loop = asyncio.get_running_loop()
        from_child, to_parent = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(from_child)
            self.way_out = to_parent
            signal.alarm(LONGEST_SECONDS)
            asyncio._set_running_loop(loop)  # that of another process is none
            FIGURES.clear()
            outputs.begin_anew()
            self.go_as(branch[2])
            return True
        os.close(to_parent)
        with open(from_child, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        if said:
            ending, problem, figures, heard = pickle.loads(said)
            take_in(figures)
            outputs.take_in(*heard)
        else:
            ending, problem = None, f"its process ended with {status}"
        if not self._told(branch, ending, problem):
            self._due.clear()
        return False

    def leave(self, ending: Ending | None, problem: str) -> NoReturn:
        """End this child, and tell its parent what the branch came to."""
        with suppress(BaseException):
            told = (ending, problem, FIGURES, outputs.given_out())
            assert self.way_out is not None
            with open(self.way_out, "wb") as pipe:
                pipe.write(pickle.dumps(told))
        os._exit(0)
