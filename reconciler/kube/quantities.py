"""Kubernetes quantities: amounts such as `250m`, `1.5Gi` or `1e3`.

The API server keeps the notation (decimal, binary, exponent) in which a quantity was written and
prints it in that notation's canonical form; `canonical` says what it prints.
"""

import re
from decimal import ROUND_UP, Context, Decimal

_SHAPE = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:([KMGTPE]i)|(n|u|m|k|M|G|T|P|E)|[eE]([+-]?[0-9]+))?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"": 0, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}
_LARGEST_BINARY = Decimal(2**63 - 1)
_SMALLEST_STEP = Decimal("1e-9")
_QUICK_DIGITS = 18
_MOST_EXPONENT = 1000
MOST_DIGITS = 1000
"""More is no amount of anything, and with the largest exponent would be wider than `_EXACT`."""

# Wide enough that nothing below the largest quantity loses a digit above the smallest step.
_EXACT = Context(prec=2100, rounding=ROUND_UP, Emax=10**6, Emin=-(10**6))

Quantity = str | int | float


class TooLong(ValueError):
    """A number with more digits than any amount has: a quantity in all else."""


def parse(text: Quantity) -> Decimal:
    """Read a quantity as a plain number.

    Raises ValueError, with the text, where the API server would refuse it.
    """
    return _read(text)[0]


def canonical(text: Quantity) -> str:
    """Write a quantity as the API server prints it.

    Raises ValueError, with the text, where the API server would refuse it.
    """
    number, notation = _read(text)
    return str(text) if _is_kept(str(text)) else _printed(number, notation)


def equal(left: Quantity, right: Quantity) -> bool:
    """Tell whether two quantities are the same amount; text that is none equals only itself."""
    try:
        return parse(left) == parse(right)
    except ValueError:
        return left == right


def _read(text: Quantity) -> tuple[Decimal, str]:
    found = None if isinstance(text, bool) else _SHAPE.fullmatch(str(text))
    if found is None:
        raise ValueError(
            f"{text!r} is not a quantity: write a number with an optional suffix out of "
            "n u m k M G T P E, Ki Mi Gi Ti Pi Ei or an exponent such as e3 (for example 250m, 2Gi)"
        )
    sign, digits, binary, suffix, exponent = found.groups()
    if len(digits) > MOST_DIGITS or len(exponent or "") > MOST_DIGITS:
        raise TooLong(f"{str(text)[:20]}... is no quantity: it has over {MOST_DIGITS} digits")
    amount = _EXACT.create_decimal(digits)
    notation = "decimal"
    if binary:
        notation = "binary"
        amount = _EXACT.multiply(amount, Decimal(1024 ** _BINARY[binary]))
    elif suffix:
        amount = amount.scaleb(_DECIMAL[suffix], _EXACT)
    elif exponent:
        notation = "exponent"
        amount = amount.scaleb(max(-_MOST_EXPONENT, min(_MOST_EXPONENT, int(exponent))), _EXACT)
    if notation == "binary":
        amount = min(amount, _LARGEST_BINARY)
    amount = amount.quantize(_SMALLEST_STEP, context=_EXACT)
    return (amount.copy_negate() if sign == "-" else amount), notation


def _is_kept(text: str) -> bool:
    """Tell whether the API server takes the text for canonical, by a look at its digits only.

    So it prints 1.500 for 1.500, yet 1500m for 1.5.
    """
    found = _SHAPE.fullmatch(text)
    if found is None or found[3]:
        return False
    whole, _, fraction = found[2].partition(".")
    digits = whole.lstrip("0") + fraction if whole.strip("0") else "0"
    scale = (_DECIMAL[found[4] or ""] if found[5] is None else int(found[5])) - len(fraction)
    return (
        len(digits) <= _QUICK_DIGITS
        and scale >= -9
        and scale % 3 == 0
        and not digits.endswith("000")
        and digits[0] != "0"
    )


def _printed(number: Decimal, notation: str) -> str:
    if number == 0:
        return "0"
    whole = number == number.to_integral_value()
    if notation == "binary" and whole and abs(number) >= 1024:
        return _binary(int(number))
    return _decimal(number, "exponent" if notation == "exponent" else "decimal")


def _binary(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < max(_BINARY_SUFFIX):
        number //= 1024
        power += 1
    return f"{number}{_BINARY_SUFFIX[power]}"


def _decimal(number: Decimal, notation: str) -> str:
    mantissa, exponent = int(number.scaleb(9, _EXACT)), -9
    unbounded = notation == "exponent"
    while mantissa % 1000 == 0 and (unbounded or exponent < max(_DECIMAL_SUFFIX)):
        mantissa //= 1000
        exponent += 3
    if unbounded:
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    return f"{mantissa}{_DECIMAL_SUFFIX[exponent]}"
