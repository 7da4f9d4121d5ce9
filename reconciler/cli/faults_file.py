"""The faults file of a sandbox: rules that a person adds and takes away under a running loop."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.core import schema_check
from reconciler.core.documents import Document
from reconciler.core.mistakes import Mistake, likely, shown
from reconciler.core.schemas import validator_of
from reconciler.core.yaml_strict import parse_file
from reconciler.model.findings import Finding
from reconciler.model.refs import Json

if TYPE_CHECKING:
    from reconciler.sandbox.faults import Fault, Faults

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_VERBS_OF: Mapping[str, tuple[str, ...]] = {"stale": ("get", "list"), "cut": ("watch",)}
_BELONGS: Mapping[str, tuple[str, ...]] = {
    "retryAfterSeconds": ("code",),
    "applied": ("code", "drop"),
    "revisions": ("stale",),
    "afterEvents": ("cut",),
}
_TEXT = {"type": "string", "minLength": 1, "maxLength": 253}
_COUNT = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_SECONDS = {"type": "number", "minimum": 0, "maximum": 3600}
_CODE = {"type": "integer", "minimum": 400, "maximum": 599}
_RULE: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "verb": {"type": "string", "enum": list(VERBS)},
        "kind": _TEXT,
        "namespace": _TEXT,
        "name": _TEXT,
        "answer": {
            "oneOf": [_CODE, {"type": "string", "enum": ["drop", "stale", "cut"]}],
            "x-plain": "an HTTP code from 400 to 599, or drop, stale or cut",
        },
        "retryAfterSeconds": {"type": "integer", "minimum": 0, "maximum": 3600},
        "delaySeconds": _SECONDS,
        "applied": {"type": "boolean"},
        "revisions": _COUNT,
        "afterEvents": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
        "after": _COUNT,
        "every": _COUNT,
        "times": _COUNT,
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "seed": {"type": "integer", "minimum": 0},
    },
}
_VALIDATOR = validator_of({"type": "array", "maxItems": 200, "items": _RULE})
_LOOK_AGAIN_MILLISECONDS = 1000
_REVISIONS = 10
"""How far back a stale read looks, unless the rule says so."""


def read_faults(path: str, written: bytes) -> "list[Fault]":
    """Return the faults of a file's text. Raises Failure with every mistake and its line."""
    parsed = parse_file(path, written)
    documents = [one for one in parsed.documents if one.value is not None]
    findings = [parsed.unreadable] if parsed.unreadable is not None else []
    for document in documents:
        findings += [*document.findings, *map(document.finding, _mistakes(document))]
    if findings:
        told = "; ".join(_told(finding) for finding in sorted(findings))
        raise Failure(f"the faults cannot be read: {told}")
    return [_fault(rule) for document in documents for rule in document.value]


@dataclass(slots=True)
class FaultsFile:
    """The file at `path`, whose `text` is what was planted last."""

    path: str
    text: bytes
    faults: "Faults"
    console: Console

    @classmethod
    def open(cls, path: str, faults: "Faults", console: Console) -> "FaultsFile":
        """Plant what a file says. Raises Failure, and OSError where it cannot be read."""
        opened = cls(path, Path(path).read_bytes(), faults, console)
        opened._plant()
        return opened

    async def follow(self) -> None:
        """Plant what the file says each time that it changes; what has mistakes changes nothing."""
        from watchfiles import awatch

        # The directory, not the file: editors put another file in its place. Looked at now and then
        # too, for what changed before the watch began.
        looks = awatch(
            os.path.dirname(self.path) or ".",
            recursive=False,
            watch_filter=None,
            rust_timeout=_LOOK_AGAIN_MILLISECONDS,
            yield_on_timeout=True,
        )
        async for _ in looks:
            now = _text(self.path)
            if now is None or now == self.text:
                continue
            self.text = now
            try:
                self._plant()
            except Failure as failure:
                self.console.note(f"error: {failure} The rules from before still hold.")

    def _plant(self) -> None:
        rules = read_faults(self.path, self.text)
        before = f"; those before struck {self.faults.struck}" if self.faults.planted else ""
        self.faults.clear()
        self.faults.struck = 0
        for rule in rules:
            self.faults.plant(rule)
        count = f"{len(rules)} rule{'' if len(rules) == 1 else 's'} for faults"
        self.console.note(f"{self.path}: {count if rules else 'fair weather'}{before}.")


def _text(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None  # somebody is just replacing it


def _told(finding: Finding) -> str:
    place = ":".join(str(one) for one in (finding.file, finding.line, finding.column) if one)
    path = f" {finding.path}:" if finding.path else ""
    fix = f" ({finding.fix})" if finding.fix else ""
    return f"{place}:{path} {finding.message}{fix}"


def _mistakes(document: Document) -> list[Mistake]:
    found = schema_check.check(_VALIDATOR, document.value)
    if found:
        return found
    return [one for at, rule in enumerate(document.value) for one in _of_rule(at, rule)]


def _of_rule(at: int, rule: Json) -> Iterator[Mistake]:
    answer = rule.get("answer", "")
    if not answer and not rule.get("delaySeconds"):
        fix = "add an answer (a code, drop, stale, cut) or delaySeconds"
        yield Mistake((at,), "this rule does nothing", fix, "no-fault")
    sort = "code" if isinstance(answer, int) else answer
    for name, sorts in _BELONGS.items():
        if name in rule and sort not in sorts:
            meant = " or ".join("a code" if one == "code" else one for one in sorts)
            message = f"{name} is for an answer of {meant}"
            yield Mistake((at, name), message, "take it out", "no-fault", at_key=True)
    verbs = _VERBS_OF.get(sort, VERBS)
    if rule.get("verb", verbs[0]) not in verbs:
        message = f"{sort} is for the verb {' or '.join(verbs)}, not {rule['verb']}"
        yield Mistake((at, "verb"), message, "take it out", "no-fault")
    yield from _of_kind(at, rule.get("kind", "*"))


def _of_kind(at: int, kind: str) -> Iterator[Mistake]:
    from reconciler.sandbox.kinds import KINDS

    named = kind.partition("/")[0]
    known = sorted({one.kind for one in KINDS})
    if not any(fnmatchcase(one, named) for one in known):
        near = likely(named, known)
        fix = f"did you mean {shown(near)}?" if near else f"known here: {', '.join(known)}"
        yield Mistake((at, "kind"), f"the sandbox has no kind {shown(named)}", fix, "no-fault")


def _fault(rule: Json) -> "Fault":
    from reconciler.sandbox.faults import Fault

    answer: Any = rule.get("answer", "")
    verbs = (rule["verb"],) if "verb" in rule else _VERBS_OF.get(str(answer), ())
    return Fault(
        verbs=verbs,
        kind=rule.get("kind", "*"),
        namespace=rule.get("namespace", "*"),
        name=rule.get("name", "*"),
        times=rule.get("times"),
        after=rule.get("after", 0),
        every=rule.get("every", 1),
        share=rule.get("share", 1.0),
        seed=rule.get("seed", 0),
        status=answer if isinstance(answer, int) else 0,
        dropped=answer == "drop",
        executed=rule.get("applied", False),
        delay_seconds=rule.get("delaySeconds", 0.0),
        stale_revisions=rule.get("revisions", _REVISIONS) if answer == "stale" else 0,
        cut_after=rule.get("afterEvents", 0) if answer == "cut" else None,
        retry_after_seconds=rule.get("retryAfterSeconds", 0),
    )
