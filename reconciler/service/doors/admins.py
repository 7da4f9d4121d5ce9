"""The file of those who may administer rooms: a name, the hash of a token, what it is good for.

    - name: match-director
      sha256: 3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855e
      schedulers: [arena]
      verbs: [read, drain]

The hash is that of the token's text (`printf %s "$TOKEN" | sha256sum`). `schedulers: "*"` is all;
a workload in a namespace of another name is written `Fleet/servers/arena`.
"""

import hashlib
import hmac
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.core.places import place_of_key
from reconciler.core.yaml_strict import parse_file
from reconciler.model.errors import Misconfigured

log = logging.getLogger(__name__)

FIELDS = frozenset({"name", "sha256", "schedulers", "verbs"})
VERBS = frozenset({"read", "drain", "commit"})
_SHAPE = "an entry has name, sha256, schedulers and verbs, and nothing else"
_HASH = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Admin:
    """Somebody of the file. `workloads` None is all of them."""

    name: str
    workloads: frozenset[str] | None
    verbs: frozenset[str]


class Admins:
    """Who stands in the file, read again whenever it changed; "" is no file and nobody."""

    def __init__(self, path: str) -> None:
        self._path = Path(path) if path else None
        self._seen: tuple[int, int, int] | None = None
        self._admins: Mapping[str, Admin] = {}
        self._problem = ""

    def find(self, token: str) -> Admin | None:
        """Find whose token this is.

        A file with a mistake names nobody: whom its last change took out must not stay.
        """
        try:
            self.load()
        except Misconfigured as error:
            if str(error) != self._problem:
                log.error("nobody is let in by their tokens: %s", error)
            self._problem, self._admins = str(error), {}
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        for known, admin in self._admins.items():
            if hmac.compare_digest(known, digest):
                found = admin
        return found

    def load(self) -> None:
        """Read the file if it changed. Raises Misconfigured, naming file and line."""
        if self._path is None:
            return
        try:
            now = self._path.stat()
            seen = (now.st_mtime_ns, now.st_size, now.st_ino)
            if seen == self._seen:
                return
            data = self._path.read_bytes()
        except OSError as error:
            self._seen = None
            raise Misconfigured(
                f"{self._path} (--rooms-admin-tokens-file) cannot be read: {error.strerror}"
            ) from error
        self._seen = None  # a mistake is told again at each use until the file is right
        self._admins = admins_of(str(self._path), data)
        self._seen, self._problem = seen, ""


def admins_of(file: str, data: bytes) -> dict[str, Admin]:
    """Read the file's text into admins by the hash of their token. Raises Misconfigured."""
    parsed = parse_file(file, data)
    findings = [finding for each in parsed.documents for finding in each.findings]
    findings += [parsed.unreadable] if parsed.unreadable else []
    if findings:
        first = findings[0]
        raise Misconfigured(f"{file}:{first.line}: {first.message}; {first.fix}".rstrip("; "))
    if not parsed.documents:
        return {}
    document = parsed.documents[0]
    if len(parsed.documents) > 1 or not isinstance(document.value, list):
        raise Misconfigured(f"{file}:1: this is no list of name, sha256, schedulers and verbs")
    admins: dict[str, Admin] = {}
    for index, entry in enumerate(document.value):
        wrong = _problem_of(entry)
        if not wrong and entry["sha256"].lower() in admins:
            twice = "this sha256 stands in the file twice: give everybody a token of their own"
            wrong = "sha256", twice
        if wrong:
            line, _ = place_of_key(document.places, (index, wrong[0]))
            raise Misconfigured(f"{file}:{line}: {wrong[1]}")
        named = entry["schedulers"]
        workloads = None if named == "*" else frozenset(named)
        admin = Admin(entry["name"], workloads, frozenset(entry["verbs"]))
        admins[entry["sha256"].lower()] = admin
    return admins


def _problem_of(entry: Any) -> tuple[str, str] | None:
    """Say what is wrong with an entry and at which key, "" for the entry itself.

    The hash is never repeated.
    """
    if not isinstance(entry, dict):
        return "", _SHAPE
    if set(entry) != FIELDS:
        return next((key for key in entry if key not in FIELDS), ""), _SHAPE
    if not isinstance(entry["name"], str) or not entry["name"]:
        return "name", "name: write who this is"
    if not isinstance(entry["sha256"], str) or not _HASH.fullmatch(entry["sha256"]):
        wanted = "write the 64 hex digits that sha256sum prints of the token, in quotes"
        return "sha256", f"sha256: {wanted}"
    schedulers, verbs = entry["schedulers"], entry["verbs"]
    listed = _is_list_of_text(schedulers) and "*" not in schedulers
    if schedulers != "*" and not listed:
        return "schedulers", 'schedulers: write a list of their names, or "*" alone, in no list'
    if not _is_list_of_text(verbs) or not set(verbs) <= VERBS:
        return "verbs", "verbs: write a list of read, drain and commit"
    return None


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)
