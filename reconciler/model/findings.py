"""User mistakes as values: collected, never the first only."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a Finding holds: an error holds its workload, a warning holds nothing."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One mistake in a repository: where it stands, what is wrong and what to write instead.

    `line` and `column` count from 1; 0 means the whole file. `path` is the place in the
    document as people write it (`spec.template.spec.containers[0].image`). `rule` is a short
    stable word for the kind of mistake (`unknown-property`).
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    fix: str = ""
    rule: str = ""
    severity: Severity = Severity.ERROR
