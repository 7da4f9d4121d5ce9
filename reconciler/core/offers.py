"""Offers on record: a hash that may be approved, by the prints of the lines that it stands for.

A freeze may hold a thousand changes and outlast many commits, and each commit has hashes of its
own. So a record keeps a print of each line instead of the line, once for all offers together, and
only those lines of each hash that people are shown.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, count
from typing import Any

from reconciler.model.records import Offer, OfferEnd
from reconciler.model.refs import Json

LINES_SHOWN = 20
"""So many lines of an offer are kept to be shown."""
_PRINT_DIGITS = 12
_DIGITS = bytes.maketrans(b"\0\1", b"01")
_FLAGS = bytes.maketrans(b"01", b"\0\1")


def print_of(line: str) -> str:
    """Return the print of a line: 12 hex digits of SHA-256, as a change hash has."""
    return hashlib.sha256(line.encode()).hexdigest()[:_PRINT_DIGITS]


def ask_word(line: str, mark: str) -> str:
    """Return the print of a line with its mark: what two heads ask for alike is one word."""
    return f"{print_of(line)}:{mark}" if mark else print_of(line)


def asks_of(marks: Mapping[str, str]) -> frozenset[str]:
    """Return what is asked for, of the marks of lines."""
    return frozenset(ask_word(line, mark) for line, mark in marks.items())


def prints_of(asks: Iterable[str]) -> frozenset[str]:
    """Return the prints of the lines that are asked for, whatever their marks."""
    return frozenset(word[:_PRINT_DIGITS] for word in asks)


def shown_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that are kept to be shown."""
    return tuple(sorted(lines)[:LINES_SHOWN])


def dump_offers(offers: Sequence[Offer]) -> Json:
    """Return what a record says of its offers.

    `asks` has each print once, with its mark, and for each offer the bits of those that are its
    own. An older version finds no marks in `offers`: it offers each hash anew.
    """
    words = sorted(frozenset().union(*(offer.asks for offer in offers)))
    place = dict(zip(words, count()))
    bits = [_packed(map(place.__getitem__, offer.asks), len(words)) for offer in offers]
    rows = [[o.change_hash, o.lines, o.commit, (), o.since, o.end] for o in offers]
    return {"offers": rows, "asks": {"prints": " ".join(words), "bits": bits}}


def load_offers(value: Json) -> tuple[Offer, ...]:
    """Read what a record says of its offers; that of an older version has whole lines."""
    rows = value.get("offers", [])
    asks = value.get("asks")
    if asks is None:
        return tuple(_older(*row) for row in rows)
    words = asks["prints"].split()
    return tuple(
        Offer(change_hash, tuple(lines), commit, _unpacked(bits, words), since, OfferEnd(end))
        for (change_hash, lines, commit, _, since, end), bits in zip(
            rows, asks["bits"], strict=True
        )
    )


def _older(
    change_hash: str, lines: list[str], commit: str, marks: Sequence[str] = (), *more: Any
) -> Offer:
    since, end = more or (0.0, OfferEnd.WAITING)
    # Without a mark a line lets nothing through: what it was asked with is not known.
    asks = asks_of(dict(zip(lines, marks, strict=False))) if not end else frozenset()
    return Offer(change_hash, shown_of(lines), commit, asks, since, OfferEnd(end))


def _packed(places: Iterable[int], most: int) -> str:
    flags = bytearray(most)
    for place in places:
        flags[place] = 1
    number = int(b"0" + flags.translate(_DIGITS)[::-1], 2)
    return base64.b64encode(number.to_bytes((number.bit_length() + 7) // 8, "little")).decode()


def _unpacked(text: str, words: Sequence[str]) -> frozenset[str]:
    # Dozens of offers of a thousand lines each are read on the event loop: nothing here may look at
    # each of their words in Python for each of them.
    number = int.from_bytes(base64.b64decode(text, validate=True), "little")
    flags = format(number, "b").encode()[::-1].translate(_FLAGS)
    return frozenset(compress(words, flags))
