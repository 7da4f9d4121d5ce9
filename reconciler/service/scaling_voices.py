"""Several who hear of scaling as one: what is said once is heard by logs, metrics and the Lease.

One who fails to hear ends nothing that is told of, and the others hear it all the same.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from reconciler.loop.landing import Landed
from reconciler.model.decisions import Decision
from reconciler.model.errors import PortError
from reconciler.model.pauses import Pause
from reconciler.model.refs import WorkloadKey
from reconciler.service.committer import CommitObserver
from reconciler.service.reactions import Stage
from reconciler.service.scalers import ScalingObserver

Voice = TypeVar("Voice")

log = logging.getLogger("gamekeeper")


class Observer(CommitObserver, ScalingObserver, Protocol):
    """Who hears of decisions and of commits."""


class ScalingVoices:
    """Passes everything on, in order; commits also to those who hear of nothing else."""

    def __init__(
        self, voices: Sequence[Observer], committing: Sequence[CommitObserver] = ()
    ) -> None:
        self._voices = tuple(voices)
        self._committing: tuple[CommitObserver, ...] = (*voices, *committing)

    def decided(self, key: WorkloadKey, decision: Decision) -> None:
        """A policy moved a count: it is on record, and acts."""
        _tell(self._voices, lambda voice: voice.decided(key, decision))

    def undecided(self, key: WorkloadKey, error: PortError) -> None:
        """A count could not be put on record, so it does not act yet."""
        _tell(self._voices, lambda voice: voice.undecided(key, error))

    def paused(self, key: WorkloadKey, pause: Pause | None) -> None:
        """A policy stands still, or goes on."""
        _tell(self._voices, lambda voice: voice.paused(key, pause))

    def reacted(self, stage: Stage, seconds: float) -> None:
        """A count that moves has come so far."""
        _tell(self._voices, lambda voice: voice.reacted(stage, seconds))

    def landed(self, landed: Landed) -> None:
        """A commit of ours stands there, edits were refused, or nothing is to be written."""
        _tell(self._committing, lambda voice: voice.landed(landed))

    def raced(self) -> None:
        """Somebody else's commit came first."""
        _tell(self._committing, lambda voice: voice.raced())

    def unrecorded(self, error: PortError) -> None:
        """A record of ours did not take what became of a commit."""
        _tell(self._committing, lambda voice: voice.unrecorded(error))

    def unlanded(self, error: PortError) -> None:
        """The host took no commit; what was decided acts all the same."""
        _tell(self._committing, lambda voice: voice.unlanded(error))


def _tell(voices: Iterable[Voice], say: Callable[[Voice], None]) -> None:
    for voice in voices:
        try:
            say(voice)
        except Exception:
            log.exception("a defect in telling of scaling: it goes on")
