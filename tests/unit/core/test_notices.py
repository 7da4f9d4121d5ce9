"""What is held and stands in no state record."""

from reconciler.core.notices import NOTICE_CHARACTERS, notices_of
from reconciler.model.holds import Hold, HoldKind


def test_a_reason_that_is_too_long_for_the_record_says_that_it_goes_on() -> None:
    whole, long = "x" * NOTICE_CHARACTERS, "x" * (NOTICE_CHARACTERS + 1)
    holds = [Hold(HoldKind.FINDING, None, reason) for reason in (whole, long)]
    first, second = notices_of("c" * 40, holds, {})
    assert first.reason == whole
    assert second.reason == "x" * (NOTICE_CHARACTERS - 1) + "…"
