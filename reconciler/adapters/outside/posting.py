"""A POST that tells somebody something: what its answer comes to as our own errors."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from reconciler.adapters.outside.exchange import Answer, Exchange, NoAnswer, Question
from reconciler.core.addresses import is_loopback, never_asked
from reconciler.model.errors import Denied, Misconfigured, Unavailable

MOST_RETRY_SECONDS = 3600.0
"""Who asks for more is asked again all the same: a mistake there must not silence us for a year."""


async def post(
    exchange: Exchange, question: Question, is_done: Callable[[Answer], bool] | None = None
) -> None:
    """Send a question that wants no answer. Raises Unavailable, Denied, Misconfigured.

    Nothing of the answer is repeated but its number; `is_done` may find that a refusal is none.
    """
    try:
        answer = await exchange.ask(question)
    except NoAnswer as error:
        raise Unavailable(str(error)) from error
    if 200 <= answer.status < 300 or (is_done is not None and is_done(answer)):
        return
    said = f"{question.who} answers {answer.status}"
    # With a time to come back 403 is no refusal: so GitHub answers who comes too often.
    wait_seconds = _seconds(answer.retry_after)
    if answer.status in (408, 425, 429) or answer.status >= 500 or wait_seconds is not None:
        raise Unavailable(said, wait_seconds)
    if answer.status in (401, 403):
        raise Denied(f"{said}: it refuses us")
    raise Misconfigured(said)


def refusal_of(address: str) -> str:
    """Say why nobody is told at an address, "" where the operator may have us tell somebody."""
    return "" if is_loopback(address) else never_asked(address)


def secret_of(path: str, what: str) -> str:
    """Return the one line of a file, read anew: secrets are renewed in place.

    Raises Misconfigured, which repeats nothing of it.
    """
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise Misconfigured(f"the file of {what} cannot be read: {path}") from error
    if not text or not text.isprintable() or " " in text:
        raise Misconfigured(f"the file of {what} holds none: {path}")
    return text


def _seconds(retry_after: str) -> float | None:
    """Read seconds or a date; None for neither."""
    if not retry_after:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return min(float(retry_after[:9]), MOST_RETRY_SECONDS)
    try:
        at = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    left = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(0.0, left), MOST_RETRY_SECONDS)
