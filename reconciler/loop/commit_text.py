"""The message of a commit of ours: every step since the last one, readable in `git log`.

Reasons are sentences that policies made of numbers. Nothing that a room, a player or who was asked
said stands here: what is committed is never taken back. A policy of others' packages writes what
it likes, so all are masked, escaped, cut, and give no orders to the host.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from string import Template

from reconciler.core.policies.policy import plural
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.core.step_keeping import count_of
from reconciler.model.intents import Intent, Step
from reconciler.model.masks import redact
from reconciler.model.printable import escaped
from reconciler.model.pushes import MESSAGE_LIMIT_BYTES
from reconciler.model.refs import WorkloadKey

SUBJECT_CHARACTERS = 72
REASON_CHARACTERS = 300
MOST_LINES = 2000
"""A host shows so many; a longer message says of each workload how many steps it leaves out."""
FRAME_BYTES = 4096
"""For the first line and the last ones."""
_MOST_GONE = 500
_MOST_NAMES = 2000
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
    taken = _taken_out(gone)
    space = _Space(MOST_LINES - len(taken), MESSAGE_LIMIT_BYTES - FRAME_BYTES - _size(taken))
    lines = [*_told(landed, space), *taken]
    first = _filled(subject, _summary(landed), len(landed), instance)
    return "\n".join([first, *lines, "", f"Gamekeeper-Instance: {escaped(instance)}", ""])


@dataclass(slots=True)
class _Space:
    """What is left of a message: no more than a log reads back and a host shows."""

    lines: int
    octets: int

    def takes(self, *lines: str) -> bool:
        """Take lines in where they fit, all of them or none."""
        size = _size(lines)
        if len(lines) > self.lines or size > self.octets:
            return False
        self.lines -= len(lines)
        self.octets -= size
        return True


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _told(landed: Mapping[WorkloadKey, Intent], space: _Space) -> Iterator[str]:
    """Yield the lines of each workload: its newest step before any has room for older ones."""
    heads, left_out = dict[WorkloadKey, str](), dict[WorkloadKey, int]()
    for key in sorted(landed):
        steps, head = landed[key].untold, f"{key}: {landed[key].base} -> {landed[key].value}"
        least = [_line(step) for step in steps[-1:]] + [_not_listed(steps)] * (len(steps) > 1)
        if space.takes("", head, *least):
            heads[key] = head
        else:
            left_out[key] = sum(map(count_of, steps))
    for key, head in heads.items():
        yield from ("", head)
        yield from _steps_of(landed[key].untold, space)
    if left_out:
        names = ", ".join(map(str, left_out))[:_MOST_NAMES]
        count = f"{sum(left_out.values())} more steps of {len(left_out)} workloads"
        yield from ("", f"(and {count}: {names})")


def _steps_of(steps: Sequence[Step], space: _Space) -> Sequence[str]:
    """Return the lines of as many steps as there is space for, the newest of which has its own."""
    lines = [_line(step) for step in steps[-1:]]
    for step in reversed(steps[:-1]):
        line = _line(step)
        if not space.takes(line):
            break
        lines.append(line)
    older = steps[: len(steps) - len(lines)]
    return [*([_not_listed(older)] if older else []), *reversed(lines)]


def _not_listed(steps: Sequence[Step]) -> str:
    count = sum(map(count_of, steps))
    return f"  ({plural(count, 'earlier step')} {'is' if count == 1 else 'are'} not listed)"


def _taken_out(gone: Collection[WorkloadKey]) -> list[str]:
    if not gone:
        return []
    lines = [f"{key}: taken out of {REPLICAS_FILE}" for key in sorted(gone)]
    more = [f"(and {len(lines) - _MOST_GONE} more lines)"] if len(lines) > _MOST_GONE else []
    return ["", *lines[:_MOST_GONE], *more]


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
