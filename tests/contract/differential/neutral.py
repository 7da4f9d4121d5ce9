"""Answers without what two servers cannot share: uids, revisions, times, random names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from tests.contract.differential.servers import Reply
from tests.contract.differential.steps import Json

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# The run writes no time of this century's thirties or of its late twenties: those are "now".
_NOW = re.compile(r"20(?:2[5-9]|3\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")
_AGE = re.compile(r"(?:\d+m)?\d+s|\d+m")
_RECORD = re.compile(r"(in (?:record|the precondition|precondition) \()\d+\)")
_META = re.compile(r"(ResourceVersion in (?:precondition|object meta): )\d+")
# The server walks the amounts of a container in whatever order its map has that time.
_AMOUNT = re.compile(
    r"spec\.(?:initC|c)ontainers\[\d+\]\.resources\.requests(?:\[[^]]*\])?: "
    r"(?:(?!, spec\.|\]$).)*"
)
_AMOUNTS = re.compile(rf"{_AMOUNT.pattern}(?:, {_AMOUNT.pattern})+")
_TOO_LARGE = re.compile(r"(resource version: )\d+(?:, current: \d+| \(\d+\))?")


class Neutral:
    """Makes the answers of one server comparable; equal identities keep equal names."""

    def __init__(self) -> None:
        self._uids: dict[str, str] = {}
        self._revisions: dict[str, str] = {}
        self._told = 0

    def reply(self, reply: Reply, begun: str = "") -> Json:
        """Give an answer as comparable JSON; `begun` is the generateName that was sent."""
        if begun:
            made = re.compile(rf"\b{re.escape(begun)}[a-z0-9]{{5}}\b")
            reply = replace(
                reply, body=json.loads(made.sub(f"{begun}<random>", json.dumps(reply.body)))
            )
        return {
            "status": reply.status,
            "media": reply.media.split(";")[0],
            "warnings": [self._text(text) for text in reply.warnings],
            "body": self._value(reply.body),
        }

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _object(self, value: Json) -> Json:
        value = _without_random(value)
        if value.get("type") == "BOOKMARK":
            value = json.loads(json.dumps(value))
            self._bookmark(value["object"])
        if isinstance(value.get("watch"), list):
            value = {**value, "watch": _without_chance(value["watch"])}
        result = {name: self._value(part) for name, part in value.items()}
        if value.get("kind") == "Table":
            result["rows"] = [_ageless(row) for row in result["rows"]]
        metadata = result.get("metadata")
        if isinstance(metadata, dict):
            self._metadata(metadata, is_list=self._is_list(value))
        return result

    @staticmethod
    def _is_list(value: Json) -> bool:
        return "items" in value or "rows" in value or "continue" in value["metadata"]

    def _bookmark(self, value: Json) -> None:
        # How far a reader has come the two servers count differently; that it rises they share.
        told = int(value["metadata"]["resourceVersion"])
        value["metadata"]["resourceVersion"] = "<late>" if told >= self._told else "<early>"

    def _metadata(self, metadata: Json, *, is_list: bool) -> None:
        revision = metadata.get("resourceVersion")
        if is_list and revision is not None:
            metadata["resourceVersion"] = "<latest>"
        elif isinstance(revision, str) and revision.isdigit():
            self._told = max(self._told, int(revision))
            known = self._revisions.setdefault(revision, f"<revision {len(self._revisions)}>")
            metadata["resourceVersion"] = known
        if "continue" in metadata:
            metadata["continue"] = "<token>"

    def _text(self, text: str) -> str:
        text = _AMOUNTS.sub(_in_order, text)
        text = _UID.sub(lambda found: self._uid(found[0]), text)
        text = _NOW.sub("<now>", text)
        text = _TOKEN_VOLUME.sub("kube-api-access-<random>", text)
        text = _RECORD.sub(r"\1<revision>)", text)
        text = _META.sub(r"\1<revision>", text)
        return _TOO_LARGE.sub(r"\1<revision>", text)

    def _uid(self, uid: str) -> str:
        return self._uids.setdefault(uid, f"<uid {len(self._uids)}>")


def _without_chance(events: list[Json]) -> list[Json]:
    """Leave out the bookmarks that come when the server's timer comes round.

    Whoever was told where the present begins gets some of them, though the watch be short; others
    get the one before the end, or two in a row.
    """
    begins = any(_is_mark(one, ordinary=False) for one in events)
    kept: list[Json] = []
    for one in events:
        if not _is_mark(one) or not (begins or (kept and _is_mark(kept[-1]))):
            kept.append(one)
    return kept


def _is_mark(event: Json, *, ordinary: bool = True) -> bool:
    if event["type"] != "BOOKMARK":
        return False
    return ("annotations" in event["object"]["metadata"]) != ordinary


def _in_order(found: re.Match[str]) -> str:
    return ", ".join(sorted(_AMOUNT.findall(found[0])))


def _ageless(row: Json) -> Json:
    told = [
        "<age>" if isinstance(cell, str) and _AGE.fullmatch(cell) else cell for cell in row["cells"]
    ]
    return {**row, "cells": told}


def _without_random(value: Json) -> Json:
    metadata = value.get("metadata")
    begun = metadata.get("generateName") if isinstance(metadata, dict) else None
    if not begun:
        return value
    made = str(value["metadata"].get("name", ""))
    result: Json = json.loads(json.dumps(value).replace(made, f"{begun}<random>"))
    return result
