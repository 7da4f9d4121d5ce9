"""What a check finds, before it is known in which file and on which line it stands."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice

from reconciler.core.places import Path
from reconciler.kube import names
from reconciler.model.findings import Severity
from reconciler.model.masks import redact

MOST_MISTAKES = 200
"""How many mistakes of a document are told: nobody reads more, and a hostile file makes many."""
_LONGEST_WORD = 80
_MOST_COMPARED = 500
_MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake at a path of a document; `at_key` points at the property name, not its value."""

    path: Path
    message: str
    fix: str = ""
    rule: str = ""
    at_key: bool = False
    severity: Severity = Severity.ERROR


def below(prefix: Path, mistake: Mistake) -> Mistake:
    """Return the mistake of a part as a mistake of the whole that holds the part at `prefix`."""
    return replace(mistake, path=(*prefix, *mistake.path))


def shown(value: object) -> str:
    """Return a value as it may stand in a message: short, quoted, nothing secret or unprintable."""
    if isinstance(value, str):
        # Cut before, too: it may be of any length.
        plain = redact(value[:500])
        kept = plain if len(plain) <= 60 else f"{plain[:57]}..."
        return '"' + "".join(c if c.isprintable() else "?" for c in kept) + '"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def word(value: str) -> str:
    """Return a name as it may stand in a list, or in a line to type: as `shown`, without quotes."""
    return shown(value)[1:-1]


def listed(values: Collection[str]) -> str:
    """Return the first of many names, each as a `word`."""
    first = ", ".join(map(word, islice(values, _MOST_LISTED)))
    more = len(values) - _MOST_LISTED
    return f"{first} and {more} more" if more > 0 else first


def likely(word: object, known: Collection[str]) -> str | None:
    """Return the known word that was most likely meant; None for what is hostile, not meant."""
    if not isinstance(word, str) or len(word) > _LONGEST_WORD or len(known) > _MOST_COMPARED:
        return None
    return names.nearest(word, known)
