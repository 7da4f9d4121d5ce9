import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.offers import asks_of, dump_offers, load_offers, shown_of
from reconciler.core.sound_record import problem_of
from reconciler.model.records import Offer, OfferEnd, RepositoryRecord

marks = st.dictionaries(st.sampled_from("abcdefghijklmnopqrst"), st.sampled_from(["", "m", "n"]))


@given(st.lists(marks, max_size=20))
def test_offers_that_share_lines_are_read_as_they_were_written(each: list[dict[str, str]]) -> None:
    offers = tuple(
        Offer(f"h{number}", shown_of(lines), "c", asks_of(lines))
        for number, lines in enumerate(each)
    )
    assert load_offers(dump_offers(offers)) == offers


def test_a_line_is_written_once_for_all_offers() -> None:
    lines = {f"line {number}": "" for number in range(100)}
    offers = [Offer(f"h{number}", (), "c", asks_of(lines)) for number in range(20)]
    assert len(dump_offers(offers)["asks"]["prints"]) == 100 * 13 - 1


def test_offers_of_an_older_version_have_whole_lines() -> None:
    row = ["h", ["a", "b"], "c1", ["m", ""], 7.0, ""]
    assert load_offers({"offers": [row]}) == (
        Offer("h", ("a", "b"), "c1", asks_of({"a": "m", "b": ""}), 7.0),
    )
    assert load_offers({"offers": [[*row[:5], "done"]]})[0].asks == frozenset()


def test_one_of_the_first_version_has_no_marks_and_lets_nothing_through() -> None:
    assert load_offers({"offers": [["h", ["a"], "c1"]]}) == (Offer("h", ("a",), "c1"),)


def test_an_offer_that_is_over_stays_so() -> None:
    done = Offer("h", (), "c1", frozenset(), 0.0, OfferEnd.DONE)
    assert load_offers(dump_offers([done])) == (done,)


def steps_of(run: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs: what it costs the event loop, on any machine."""
    steps = 0

    def step(_: FrameType, what: str, __: Any) -> Any:
        nonlocal steps
        steps += what == "line"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        run()
    finally:
        sys.settrace(before)
    return steps


def test_a_read_takes_no_step_for_each_line_and_a_write_few() -> None:
    marks = {f"line {number}": f"{number:012x}" for number in range(1000)}
    offers = tuple(Offer(f"h{each}", (), "c", asks_of(marks)) for each in range(20))
    written = dump_offers(offers)
    assert load_offers(written) == offers
    read = RepositoryRecord(offers=load_offers(written))
    assert problem_of(read) == ""  # what checks a record is made once
    assert steps_of(lambda: load_offers(written)) < 1000
    assert steps_of(lambda: problem_of(read)) < 3000
    assert steps_of(lambda: dump_offers(offers)) < 2.1 * 20 * 1000
