"""The message of a commit of ours: every step since the last one, readable in `git log`.

Reasons are sentences that policies made of numbers; a webhook's is a stranger's text, so all of
them are masked, escaped, cut, and give no orders to the host: what is committed is never taken
back. Nothing a room or a player said stands here.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from string import Template

from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.model.intents import Intent, Step
from reconciler.model.masks import redact
from reconciler.model.printable import escaped
from reconciler.model.pushes import MESSAGE_LIMIT_BYTES
from reconciler.model.refs import WorkloadKey

SUBJECT_CHARACTERS = 72
REASON_CHARACTERS = 300
MOST_LINES = 2000
"""A host shows so many; a longer message says how many steps it leaves out."""
FRAME_BYTES = 4096
"""For the first line and the last ones."""
DEFAULT_SUBJECT = "$summary"
_ORDERS = (
    # An issue, a merge request or a person: they would be closed, or called.
    (re.compile(r"([#@!])(?=\w)"), r"\1 "),
    (re.compile(r"\b((?!GMT|UTC)[A-Z][A-Z0-9_]+-|gh-)(?=[0-9]+\b)"), r"\1 "),
    (re.compile("://"), ": //"),
    # What CI skips a commit for: only our operator's first line says that.
    (re.compile(r"\["), "("),
    (re.compile(r"\]"), ")"),
    (re.compile(r"\*{2,}"), "*"),
    (re.compile(r"\b(skip-checks)\s*:", re.IGNORECASE), r"\1 "),
)
"""What hosts and CI obey anywhere in a message, and how the same is only read."""


def message_of(
    landed: Mapping[WorkloadKey, Intent],
    instance: str,
    subject: str = DEFAULT_SUBJECT,
    gone: Collection[WorkloadKey] = (),
) -> str:
    """Return the message of a commit that lands these intents, and takes out lines of those `gone`.

    `subject` is the first line with `$summary`, `$count` and `$instance` filled in; the schema of
    `writeBack.message` lets no other through.
    """
    lines = []
    for key in sorted(landed):
        intent = landed[key]
        lines += ["", f"{key}: {intent.base} -> {intent.value}"]
        lines += [_line(step) for step in intent.untold]
    if gone:
        lines += ["", *(f"{key}: taken out of {REPLICAS_FILE}" for key in sorted(gone))]
    most = _most_of(lines)
    if len(lines) > most:
        lines = [*lines[:most], f"(and {len(lines) - most} more lines)"]
    first = _filled(subject, _summary(landed), len(landed), instance)
    return "\n".join([first, *lines, "", f"Gamekeeper-Instance: {escaped(instance)}", ""])


def _most_of(lines: Sequence[str]) -> int:
    """Return how many lines go into one message: no more than a log reads back."""
    left = MESSAGE_LIMIT_BYTES - FRAME_BYTES
    for at, line in enumerate(lines[:MOST_LINES]):
        left -= len(line.encode("utf-8", "replace")) + 1
        if left < 0:
            return at
    return MOST_LINES


def _filled(subject: str, summary: str, count: int, instance: str) -> str:
    # `str.format` would let a repository reach attributes and ask for a gigabyte of padding.
    return escaped(Template(subject).substitute(summary=summary, count=count, instance=instance))


def _summary(landed: Mapping[WorkloadKey, Intent]) -> str:
    parts = [f"{key.name} to {landed[key].value}" for key in sorted(landed)]
    whole = f"Scale {', '.join(parts)}"
    return whole if len(whole) <= SUBJECT_CHARACTERS else f"Scale {len(parts)} workloads"


def _line(step: Step) -> str:
    at = datetime.fromtimestamp(step.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    reason = powerless(escaped(redact(step.reason)))
    if len(reason) > REASON_CHARACTERS:
        reason = reason[: REASON_CHARACTERS - 1] + "…"
    return f"  {at} {step.before} -> {step.after} ({step.policy}): {reason}"


def powerless(text: str) -> str:
    """Return text that calls nobody, closes nothing and skips no CI, as a person still reads it."""
    for order, words in _ORDERS:
        text = order.sub(words, text)
    return text
