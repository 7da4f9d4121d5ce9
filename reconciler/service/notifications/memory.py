"""What was told to whom, kept on the Lease: whoever leads next says nothing twice.

Small on purpose: of each place the last identity as a digest, of so many places. What is lost is
told once more, at most.
"""

import json
import re
from collections.abc import Collection
from functools import lru_cache

from reconciler.core import news

MOST_WRITTEN = 500
"""Of all targets together, the newest of each. An annotation is small."""
ENDED_SECONDS = 600.0
"""A state that is away for less is the same one: what flaps is told once."""
_OF_HEAD = "h"
"""No digest begins with it: what is held of a commit does not flap, and is forgotten at once."""
_TARGET = re.compile("[a-z0-9 -]{1,40}")
_SHORT = re.compile("h?[0-9a-f]{12} [0-9a-f]{12}")
"""A place and its identity, as they are written."""


class Told:
    """Which identity each target was told of each place. Times are the event loop's seconds.

    It has no bound of its own but that of what is held: `sweep` drops the rest. One that dropped
    what still lasts would tell it again, and again.
    """

    def __init__(self) -> None:
        self._told: dict[str, dict[str, str]] = {}
        self._away_since: dict[tuple[str, str], float] = {}

    def knows(self, target: str, place: str, identity: str) -> bool:
        """Whether a target was told this."""
        return self._told.get(target, {}).get(_short(place)) == _digest(identity)

    def has(self, target: str, place: str) -> bool:
        """Whether a target was told anything of a place."""
        return _short(place) in self._told.get(target, {})

    def tell(self, target: str, place: str, identity: str) -> None:
        """Note what a target was told, or that it could not be."""
        told = self._told.setdefault(target, {})
        told.pop(_short(place), None)  # the newest stands last
        told[_short(place)] = _digest(identity)

    def forget(self, target: str, place: str) -> None:
        """Let the same be told of a place again."""
        self._told.get(target, {}).pop(_short(place), None)

    def keep(self, targets: Collection[str]) -> None:
        """Forget the targets that are gone."""
        for target in self._told.keys() - targets:
            for place in self._told.pop(target):
                self._away_since.pop((target, place), None)

    def sweep(self, target: str, places: Collection[str], now: float) -> None:
        """Forget what ended a while ago; `places` are those that a target is told of now."""
        told = self._told.get(target, {})
        # A commit stays applied while the next one is on its way.
        present = {_short(news.APPLIED), *map(_short, places)}
        for place in [place for place in told if place not in present]:
            away = now - self._away_since.setdefault((target, place), now)
            if place.startswith(_OF_HEAD) or away > ENDED_SECONDS:
                del told[place]
                del self._away_since[target, place]
        for place in present & told.keys():
            self._away_since.pop((target, place), None)

    def written(self) -> str:
        """Return it as text: targets, and of each its places with their identities."""
        each = max(1, MOST_WRITTEN // max(1, len(self._told)))
        newest = {target: dict(list(told.items())[-each:]) for target, told in self._told.items()}
        return json.dumps(newest, separators=(",", ":"))

    def load(self, text: str) -> None:
        """Go on from what was written; what cannot be read, or is not ours, was never told.

        Somebody else may have written it, and of what is taken as much is written again.
        """
        self._told, self._away_since = {}, {}
        try:
            rows = [
                (target, place, identity)
                for target, places in json.loads(text).items()
                for place, identity in places.items()
                if _TARGET.fullmatch(target) and _SHORT.fullmatch(f"{place} {identity}")
            ]
        except (ValueError, AttributeError, RecursionError):
            return
        for target, place, identity in rows[-MOST_WRITTEN:]:
            self._told.setdefault(target, {})[place] = identity


@lru_cache(maxsize=16_384)
def _short(place: str) -> str:
    return f"{_OF_HEAD if place.startswith(news.HEAD) else ''}{news.digest(place)}"


@lru_cache(maxsize=16_384)
def _digest(identity: str) -> str:
    return news.digest(identity)
