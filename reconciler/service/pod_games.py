"""Which containers of a pod players may be in: those with host ports, where there are any.

A sidecar among the init containers (`restartPolicy: Always`) runs as long as the pod does, and may
be the game as any other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reconciler.model.refs import Json


@dataclass(frozen=True, slots=True)
class Games:
    """The containers that players may be in, `candidates`, and what is known of them.

    `public` are the names of those with host ports, none where nobody can tell: in its node's
    network a game may be reached by a port that it does not declare. `sure` are these and who else
    declares a port, for it may be the game: when all of them are over, the game is.
    """

    candidates: Sequence[Json]
    public: frozenset[str]
    sure: frozenset[str]

    def told(self, status: Json) -> list[Json]:
        """Return what a pod's status tells of each candidate that it tells of."""
        told = list(status.get("containerStatuses") or ())
        names = {each["name"] for each in self.candidates}
        inits = status.get("initContainerStatuses") or ()
        return told + [one for one in inits if one.get("name") in names]

    def told_of_game(self, status: Json) -> list[Json]:
        """Return the same of the game alone, of all of them where nobody can tell."""
        told = self.told(status)
        return [one for one in told if one.get("name") in self.sure] if self.sure else told

    def told_beside(self, status: Json) -> list[Json]:
        """Return the same of who runs beside the game and declares no port."""
        told = self.told(status) if self.sure else []
        return [one for one in told if one.get("name") not in self.sure]


def games_of(spec: Json) -> Games:
    """Return what a pod's spec tells."""
    containers: Sequence[Json] = spec.get("containers") or ()
    inits = spec.get("initContainers") or ()
    sidecars = [each for each in inits if each.get("restartPolicy") == "Always"]
    known = () if spec.get("hostNetwork") else _public((*containers, *sidecars))
    public = frozenset(each["name"] for each in known)
    # A helper among the init containers is none, whatever it does.
    may_be = [each for each in sidecars if not public or each["name"] in public]
    candidates = (*containers, *may_be)
    ports = (each["name"] for each in candidates if each.get("ports"))
    return Games(candidates, public, frozenset(ports) if public else public)


def _public(containers: Iterable[Json]) -> list[Json]:
    return [
        each for each in containers if any(port.get("hostPort") for port in each.get("ports") or ())
    ]
