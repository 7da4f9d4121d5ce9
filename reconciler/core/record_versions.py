"""Versions of our records: what every version reads, and what it keeps for a newer one (ADR 28).

The schema's number tells who may write a record. A field that another version may miss without
harm is added under the same number: who does not know it keeps it as it stands. A field that
everybody has to heed raises the number: who does not read that leaves the record alone.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from reconciler import __version__
from reconciler.core.mistakes import shown
from reconciler.model.refs import Json

Texts = dict[str, str]
"""The `data` of a ConfigMap."""

SCHEMA_VERSION = "1"
"""What is written."""

READABLE = frozenset({"1"})
"""What is read: every number that a release has ever written."""

DEEPEST = 64
"""Deeper nests no version: what is kept can be written again, however deep in calls we are."""

WRITER = "writer"
"""Which program wrote a record last: told where another cannot read it, and nothing else."""

NEWER = "run the version that wrote it, or newer, and nothing is lost"
"""What to do about a record of a newer version, as no other reason says it: nobody deletes it."""

_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")


class UnreadableRecord(ValueError):
    """A record that this version cannot read; whoever wrote it must not be overwritten."""


def texts_of(value: Json) -> Texts:
    """Return the text of a record: its fields as JSON, under the schema's number."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return {"schema": SCHEMA_VERSION, "record": text}


def fields_of(data: Mapping[str, str], what: str) -> Json:
    """Return the fields of a record; `what` names it in errors. Raises UnreadableRecord."""
    schema = data.get("schema")
    if _is_newer(schema):
        raise UnreadableRecord(
            f"{what} has schema version {schema!r}{_written_by(data)}; this is gamekeeper "
            f"{__version__}, which reads {', '.join(map(repr, sorted(READABLE)))}. Its rooms run "
            f"on: {NEWER}"
        )
    if schema not in READABLE:
        raise UnreadableRecord(f"{what} cannot be read: no version writes schema {shown(schema)}")
    try:
        value = json.loads(data["record"])
    except (KeyError, ValueError, RecursionError) as error:
        raise UnreadableRecord(f"{what} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise UnreadableRecord(f"{what} cannot be read: it holds no JSON object")
    return value


def waits_until(reason: str, after_deletion: str) -> str:
    """Say until when nothing is done for a record that cannot be read, for `reason`.

    A damaged one may be deleted, and `after_deletion` says what that does; a newer one may not.
    """
    if NEWER in reason:
        return "until then: delete no record"
    return f"until somebody restores the record, or deletes it: then {after_deletion}"


def beyond(data: Mapping[str, str], known: frozenset[str], what: str) -> Json:
    """Return the fields that are none of `known`: a newer version's, kept for it.

    Raises UnreadableRecord.
    """
    newer = {name: value for name, value in fields_of(data, what).items() if name not in known}
    if not _is_shallow(newer, DEEPEST):
        raise UnreadableRecord(f"{what} cannot be read: it is nested deeper than any version's")
    return newer


def with_beyond(texts: Texts, kept: Json) -> Texts:
    """Return the text of a record with what was kept of a newer version's fields."""
    return texts_of({**kept, **json.loads(texts["record"])}) if kept else texts


def signed(texts: Texts) -> Texts:
    """Return the text of a record with the name of this program on it."""
    return {**texts, WRITER: __version__}


def _is_newer(schema: str | None) -> bool:
    """Whether a schema's number is above all that is read; no number is a damaged record's."""
    number = _NUMBER.fullmatch(schema or "")
    return number is not None and int(number[0]) > max(map(int, READABLE))


def _is_shallow(value: Any, left: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return left > 0 and all(_is_shallow(each, left - 1) for each in inner)


def _written_by(data: Mapping[str, Any]) -> str:
    writer = str(data.get(WRITER, ""))
    return f", written by gamekeeper {writer}" if _VERSION.fullmatch(writer) else ""
