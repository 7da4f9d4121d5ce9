"""One request of a run, written once for both servers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

# What a server alone knows stands in a request as `${uid}`, `${rv}` or `${continue}` of a path.
_PLACEHOLDER = re.compile(r"\$\{(uid|rv|continue):([^}]+)\}")


def uid(path: str) -> str:
    """Name the uid that a server gave to the object at a path."""
    return f"${{uid:{path}}}"


def revision(path: str) -> str:
    """Name the resourceVersion that a server last told of the object at a path."""
    return f"${{rv:{path}}}"


def continuation(path: str) -> str:
    """Name the continue token that a server last gave with the list at a path."""
    return f"${{continue:{path}}}"


@dataclass(frozen=True, slots=True)
class Step:
    """One request; a body of bytes is sent as it is, `claim` is what it alone can prove."""

    method: str
    path: str
    body: Any = None
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    claim: str = ""

    @property
    def label(self) -> str:
        """Say in short what is asked, without names: `PATCH pods/status merge`."""
        place, _, query = self.path.partition("?")
        parts = place.strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("status", "finalize"):
            rest = rest[2:]
        words = [self.method, "/".join(rest[:1] + rest[2:]) or place]
        if self.method == "PATCH":
            words.append(self.media.removeprefix("application/").split("+")[0])
        if "dryRun" in query:
            words.append("dry")
        return " ".join(words)

    @property
    def changes(self) -> bool:
        """Tell whether this request may leave something behind."""
        return self.method != "GET" and "dryRun=" not in self.path

    @property
    def generated(self) -> str:
        """Give the generateName that is sent, if any."""
        metadata = self.body.get("metadata") if isinstance(self.body, dict) else None
        named = metadata.get("generateName") if isinstance(metadata, dict) else None
        return named if isinstance(named, str) else ""

    def sent_body(self, known: Mapping[str, str]) -> bytes | None:
        """Write the body for one server, which has told what is `known`."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return filled(json.dumps(self.body), known).encode()


@dataclass(frozen=True, slots=True)
class Together:
    """Watches that are open at the same time, and what is written while they are."""

    watches: tuple[Step, ...]
    meanwhile: tuple[Step, ...]


def filled(text: str, known: Mapping[str, str]) -> str:
    """Put in what one server knows; what it never told stands there as 0."""
    return _PLACEHOLDER.sub(lambda found: known.get(f"{found[1]}:{found[2]}", "0"), text)
