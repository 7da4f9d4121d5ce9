"""Options of a request, as the query carries them."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.sandbox import refusals
from reconciler.sandbox.refusals import Cause
from reconciler.sandbox.requests import Request, flag

_MANAGER_LIMIT = 128


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of a create, update or patch."""

    manager: str
    dry_run: bool
    validation: str
    force: bool

    @classmethod
    def read(cls, request: Request, kind: str) -> WriteOptions:
        """Read and check them; `kind` is what the errors call them. Raises Refused (422)."""
        query = request.query
        manager = query.get("fieldManager", "")
        dry_run = query.get("dryRun", "")
        validation = query.get("fieldValidation", "") or "Warn"
        causes = dry_run_causes(dry_run)
        if validation not in ("Ignore", "Warn", "Strict"):
            known = ("", "Ignore", "Strict", "Warn")
            causes.append(refusals.unsupported("fieldValidation", validation, known))
        if len(manager) > _MANAGER_LIMIT:
            detail = f"may not be more than {_MANAGER_LIMIT} bytes"
            causes.append(Cause("fieldManager", "FieldValueTooLong", f"Too long: {detail}"))
        causes += _unprintable(manager)
        if causes:
            raise refusals.invalid_options(kind, causes)
        manager = manager or request.headers.get("user-agent", "").split("/")[0] or "unknown"
        return cls(manager, bool(dry_run), validation, flag(request, "force"))


def _unprintable(manager: str) -> list[Cause]:
    for index, letter in enumerate(manager):
        if not letter.isprintable():
            detail = f"invalid character U+{ord(letter):04X} (at position {index})"
            return [refusals.invalid_value("fieldManager", manager, detail)]
    return []


def dry_run_causes(dry_run: str) -> list[Cause]:
    """Say what is wrong with a dryRun parameter."""
    if dry_run in ("", "All"):
        return []
    return [refusals.unsupported("dryRun", [dry_run], ("All",))]


def positive(request: Request, name: str) -> int:
    """Read a whole number, 0 when absent or negative. Raises Refused (400)."""
    return max(0, whole(request, name))


def whole(request: Request, name: str) -> int:
    """Read a whole number of either sign, 0 when absent. Raises Refused (400)."""
    text = request.query.get(name, "")
    if not text:
        return 0
    try:
        return int(text)
    except ValueError as error:
        message = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise refusals.bad_request(message) from error
