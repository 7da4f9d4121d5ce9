"""What the API server wrote down of who asked for what."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def events(log: Path, *parts: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a log, oldest first, of the lines that have all of this in them.

    The server writes on meanwhile: a line that has no end yet is of a request not yet told.
    """
    content = log.read_bytes()
    for line in content[: content.rfind(b"\n") + 1].splitlines():
        if all(part.encode() in line for part in parts):
            yield json.loads(line)
