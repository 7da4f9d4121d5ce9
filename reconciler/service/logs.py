"""Structured logs: one event a line, as text for people or as JSON for machines, secrets masked.

A record's fields come in `extra={"fields": {...}}`.
"""

import json
import logging
import re
import time
from collections.abc import Mapping
from textwrap import indent
from typing import Any, TextIO

from reconciler.model.masks import redact
from reconciler.model.printable import harmless

_LEVELS = {"WARNING": "warn"}


def configure(level: str, style: str, stream: TextIO) -> None:
    """Send all logs of this process to `stream`, `style` being `text` or `json`."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if style == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Their lines at `info` are about connections, not about fleets.
    for name in ("asyncio", "aiohttp", "git", "urllib3", "watchfiles"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


class TextLines(logging.Formatter):
    """`2026-11-21T06:00:00.123Z info message key=value`, always one line but for tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        words = [_time(record), _level(record), _one_line(redact(record.getMessage()))]
        words += [
            f"{name}={_shown(value)}" for name, value in _fields(record).items() if value != ""
        ]
        # What an exception says is a stranger's, too: it stands behind a margin.
        trace = indent(harmless(_trace(self, record)), "  ") if record.exc_info else ""
        return "\n".join([" ".join(words), *([trace] if trace else ())])


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the record's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry = {name: _masked(value) for name, value in _fields(record).items()}
        entry |= {
            "time": _time(record),
            "level": _level(record),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if record.exc_info:
            entry["trace"] = _trace(self, record)
        # People read these lines in terminals, too; the escapes are JSON's own.
        return harmless(json.dumps(entry, ensure_ascii=False, default=lambda v: redact(str(v))))


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = getattr(record, "fields", {})
    return fields


def _time(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"


def _level(record: logging.LogRecord) -> str:
    return _LEVELS.get(record.levelname, record.levelname.lower())


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return redact(formatter.formatException(record.exc_info)) if record.exc_info else ""


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _masked(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return redact(value) if isinstance(value, str) else value


def _shown(value: Any) -> str:
    text = _one_line(redact(str(value)))
    return json.dumps(text, ensure_ascii=False) if re.search(r'[\s"=]', text) else text


def _one_line(text: str) -> str:
    # A message may repeat what strangers wrote: no line of it may pass for one of ours.
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
