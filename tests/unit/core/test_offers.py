import pytest

from reconciler.core import offers
from reconciler.model.records import Offer, OfferEnd

WAITING, DONE, OVERTAKEN = OfferEnd.WAITING, OfferEnd.DONE, OfferEnd.OVERTAKEN


@pytest.mark.parametrize(
    ("before", "asked", "held", "after"),
    [
        pytest.param(WAITING, "ab", "ab", WAITING, id="it waits while its lines are held"),
        pytest.param(WAITING, "a", "a", WAITING, id="or one of them is"),
        pytest.param(WAITING, "ab", "", DONE, id="it is done when they are let through"),
        pytest.param(WAITING, "a", "", DONE, id="or those of them that are asked for are"),
        pytest.param(WAITING, "c", "c", OVERTAKEN, id="it is overtaken when none is asked for"),
        pytest.param(DONE, "", "", DONE, id="what is done stays done"),
        pytest.param(OVERTAKEN, "ab", "ab", WAITING, id="what is asked for again waits"),
    ],
)
def test_an_offer_ends(before: OfferEnd, asked: str, held: str, after: OfferEnd) -> None:
    offer = Offer("h", ("a", "b"), "c1", ("", ""), 0.0, before)
    assert [item.end for item in offers.close([offer], asked, held)] == [after]
