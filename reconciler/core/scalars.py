"""What a plain YAML word means: true, false, null, a decimal number as JSON writes it, or text.

YAML 1.1 reads `no` as false, `010` as 8, `12:30:45` as 45045 and `1_000` as 1000; here these are
text, and the schema says that text does not belong there.
"""

import math
import re

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "": None}
_MOST_DIGITS = 40
_BITS = 64


class TooLarge(ValueError):
    """A number that no field of Kubernetes or ours can hold."""


def meaning(word: str) -> str | int | float | bool | None:
    """Return what a plain word means.

    Raises TooLarge for numbers of more than 64 bits, and for infinite ones.
    """
    if word in _WORDS:
        return _WORDS[word]
    if word[0] not in "-0123456789":
        return word
    found = _NUMBER.fullmatch(word)
    if found is None:
        return word
    if len(word) > _MOST_DIGITS:
        raise TooLarge(f"a number of {len(word)} characters")
    if found[2] is None and found[3] is None:
        number = int(word)
        if number.bit_length() >= _BITS:
            raise TooLarge(f"the number {word}")
        return number
    real = float(word)
    if math.isinf(real):
        raise TooLarge(f"the number {word}")
    return real
