"""The documents of a spec file: values, where each stands, and what was wrong with the YAML."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reconciler.core.mistakes import Mistake
from reconciler.core.places import Place, file_of, place_of_key, place_of_value, written
from reconciler.model.findings import Finding

IDENTITY = frozenset({"kind", "metadata"})
"""Properties that say which workload a document is about."""


@dataclass(slots=True)
class Document:
    """One YAML document. `findings` are those of its YAML (duplicate keys, tags…).

    `identity_in_doubt` is true where they leave open which kind or name is meant.
    """

    file: str
    value: Any
    places: Place
    findings: list[Finding] = field(default_factory=list)
    identity_in_doubt: bool = False

    def judged(self, mistakes: Iterable[Mistake]) -> Iterator[Finding]:
        """Yield mistakes as findings, but of a number too large for YAML: that is told already.

        It is read as text, and what a schema says of text would be told beside it.
        """
        told = {finding.path for finding in self.findings if finding.rule == "number"}
        found = map(self.finding, mistakes)
        return (finding for finding in found if finding.path not in told)

    def finding(self, mistake: Mistake) -> Finding:
        """Return a mistake with its file, line and column."""
        locate = place_of_key if mistake.at_key else place_of_value
        line, column = locate(self.places, mistake.path)
        return Finding(
            file_of(self.places, mistake.path) or self.file,
            line,
            column,
            written(mistake.path),
            mistake.message,
            mistake.fix,
            mistake.rule,
            mistake.severity,
        )


@dataclass(slots=True)
class ParsedFile:
    """A whole file: its documents, and the Finding that made the rest of it unreadable."""

    documents: list[Document]
    unreadable: Finding | None = None
