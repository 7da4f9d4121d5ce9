"""Offers on record: a hash that may be approved, by the prints of the lines that it stands for.

A freeze may hold a thousand changes and outlast many commits, and each commit has hashes of its
own. So a record keeps a print of each line instead of the line, once for all offers together, and
only those lines of each hash that people are shown.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from reconciler.model.records import Offer, OfferEnd
from reconciler.model.refs import Json

LINES_SHOWN = 20
"""So many lines of an offer are kept to be shown."""
_PRINT_DIGITS = 12
_FLAGS = tuple(bytes(byte >> place & 1 for place in range(8)) for byte in range(256))
"""The bits of each byte, the lowest first."""


def print_of(line: str) -> str:
    """Return the print of a line: 12 hex digits of SHA-256, as a change hash has."""
    return hashlib.sha256(line.encode()).hexdigest()[:_PRINT_DIGITS]


def asks_of(marks: Mapping[str, str]) -> dict[str, str]:
    """Return the marks of lines by the prints of those lines."""
    return {print_of(line): mark for line, mark in marks.items()}


def shown_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that are kept to be shown."""
    return tuple(sorted(lines)[:LINES_SHOWN])


def dump_offers(offers: Sequence[Offer]) -> Json:
    """Return what a record says of its offers.

    `asks` has each print once, with its mark, and for each offer the bits of those that are its
    own. An older version finds no marks in `offers`: it offers each hash anew.
    """
    pairs = sorted({pair for offer in offers for pair in offer.asks.items()})
    place = {pair: number for number, pair in enumerate(pairs)}
    bits = [_packed([place[pair] for pair in offer.asks.items()]) for offer in offers]
    rows = [[o.change_hash, o.lines, o.commit, (), o.since, o.end] for o in offers]
    prints = " ".join(f"{line}:{mark}" if mark else line for line, mark in pairs)
    return {"offers": rows, "asks": {"prints": prints, "bits": bits}}


def load_offers(value: Json) -> tuple[Offer, ...]:
    """Read what a record says of its offers; that of an older version has whole lines."""
    rows = value.get("offers", [])
    asks = value.get("asks")
    if asks is None:
        return tuple(_older(*row) for row in rows)
    words = (word.partition(":") for word in asks["prints"].split(" ") if word)
    pairs = [(line, mark) for line, _, mark in words]
    return tuple(
        Offer(change_hash, tuple(lines), commit, _unpacked(bits, pairs), since, OfferEnd(end))
        for (change_hash, lines, commit, _, since, end), bits in zip(
            rows, asks["bits"], strict=True
        )
    )


def _older(
    change_hash: str, lines: list[str], commit: str, marks: Sequence[str] = (), *more: Any
) -> Offer:
    since, end = more or (0.0, OfferEnd.WAITING)
    # Without a mark a line lets nothing through: what it was asked with is not known.
    asks = asks_of(dict(zip(lines, marks, strict=False))) if not end else {}
    return Offer(change_hash, shown_of(lines), commit, asks, since, OfferEnd(end))


def _packed(places: Iterable[int]) -> str:
    bits = bytearray()
    for place in sorted(places, reverse=True):
        bits.extend(bytes(max(0, (place >> 3) + 1 - len(bits))))
        bits[place >> 3] |= 1 << (place & 7)
    return base64.b64encode(bits).decode()


def _unpacked(text: str, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    # Twenty offers of a thousand lines each are read on the event loop: nothing here may look at
    # each of twenty thousand pairs in Python for each of them.
    flags = b"".join(map(_FLAGS.__getitem__, base64.b64decode(text, validate=True)))
    return dict(compress(pairs, flags))
