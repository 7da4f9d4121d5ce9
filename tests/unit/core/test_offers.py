from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.offers import asks_of, dump_offers, load_offers, shown_of
from reconciler.model.records import Offer, OfferEnd

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
    assert load_offers({"offers": [[*row[:5], "done"]]})[0].asks == {}


def test_one_of_the_first_version_has_no_marks_and_lets_nothing_through() -> None:
    assert load_offers({"offers": [["h", ["a"], "c1"]]}) == (Offer("h", ("a",), "c1"),)


def test_an_offer_that_is_over_stays_so() -> None:
    done = Offer("h", (), "c1", {}, 0.0, OfferEnd.DONE)
    assert load_offers(dump_offers([done])) == (done,)
