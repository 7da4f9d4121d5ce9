"""The end of an offer: what it stands for was let through, or is asked for no more."""

from collections.abc import Collection
from dataclasses import replace

from reconciler.model.records import Offer, OfferEnd


def close(
    offers: Collection[Offer], asked: Collection[str], held: Collection[str]
) -> tuple[Offer, ...]:
    """Return the offers after a head that asks for some lines, of which some are `held`."""
    return tuple(replace(offer, end=_end(offer, set(asked), set(held))) for offer in offers)


def _end(offer: Offer, asked: set[str], held: set[str]) -> OfferEnd:
    lines = set(offer.lines)
    if lines & held:
        return OfferEnd.WAITING
    if lines & asked:
        return OfferEnd.DONE
    return offer.end or OfferEnd.OVERTAKEN
