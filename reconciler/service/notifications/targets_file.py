"""The file of the targets: read again when it changes; one with a mistake changes nothing."""

from collections.abc import Sequence
from pathlib import Path

from jsonschema.protocols import Validator

from reconciler.core.messages import as_text
from reconciler.core.notification_targets import targets_of
from reconciler.model.errors import Misconfigured, Mistaken
from reconciler.model.notifications import Target


class TargetsFile:
    """Who stands in the file; "" is no file and nobody."""

    def __init__(self, path: str, schema: Validator) -> None:
        self._path = Path(path) if path else None
        self._schema = schema
        self._seen: tuple[int, int, int] | None = None
        self.targets: Sequence[Target] = ()

    @property
    def name(self) -> str:
        """Its path, "" where there is none."""
        return str(self._path) if self._path else ""

    def load(self) -> bool:
        """Read the file if it changed; return whether it did.

        Raises Misconfigured, with every mistake at its place; the targets stay as they were.
        """
        if self._path is None:
            return False
        try:
            now = self._path.stat()
            seen = (now.st_mtime_ns, now.st_size, now.st_ino)
            if seen == self._seen:
                return False
            data = self._path.read_bytes()
        except OSError as error:
            self._seen = None
            why = f"{self._path} (--notifications-file) cannot be read: {error.strerror}"
            raise Misconfigured(why) from error
        targets, findings = targets_of(str(self._path), data, self._schema)
        if findings:
            self._seen = None  # told again until it is right
            raise Mistaken("\n".join(as_text(finding) for finding in findings))
        self._seen, self.targets = seen, targets
        return True
