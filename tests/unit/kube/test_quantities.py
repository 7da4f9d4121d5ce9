from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube import quantities

_SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e3", "E-2")
written = st.builds(
    "{}{}{}".format,
    st.sampled_from(("", "-")),
    st.one_of(
        st.integers(0, 10**12).map(str),
        st.decimals(0, 10**6, places=4, allow_nan=False).map(lambda number: f"{number:f}"),
    ),
    st.sampled_from(_SUFFIXES),
)


@pytest.mark.parametrize(
    ("text", "amount", "printed"),
    [
        pytest.param("0", "0", "0", id="zero is zero"),
        pytest.param("100m", "0.1", "100m", id="thousandths stay"),
        pytest.param("0.1", "0.1", "100m", id="a fraction is printed in thousandths"),
        pytest.param("1000m", "1", "1", id="a thousand thousandths are one"),
        pytest.param("1000", "1000", "1k", id="a thousand gets its suffix"),
        pytest.param("1500", "1500", "1500", id="what the suffix would break stays whole"),
        pytest.param("1024Ki", str(2**20), "1Mi", id="binary suffixes rise"),
        pytest.param("1.5Gi", str(3 * 2**29), "1536Mi", id="a binary fraction goes one down"),
        pytest.param("0.5Mi", str(2**19), "512Ki", id="half a mebibyte is kibibytes"),
        pytest.param("0.3Ki", "307.2", "307200m", id="a broken byte is printed in decimals"),
        pytest.param("1e3", "1000", "1e3", id="an exponent stays one"),
        pytest.param("1.5e3", "1500", "1500", id="an exponent that is not needed goes"),
        pytest.param("1e-3", "0.001", "1e-3", id="a negative exponent stays"),
        pytest.param("1E", "1e18", "1E", id="a capital E alone is exa"),
        pytest.param("0.0000000001", "1e-9", "1n", id="the smallest step is a billionth, upwards"),
        pytest.param("-1.5Gi", str(-3 * 2**29), "-1536Mi", id="a sign is kept"),
        pytest.param("1.500", "1.5", "1.500", id="what looks canonical is printed as written"),
    ],
)
def test_an_amount_is_read_and_printed_as_the_api_server_does(
    text: str, amount: str, printed: str
) -> None:
    assert quantities.parse(text) == Decimal(amount)
    assert quantities.canonical(text) == printed


def test_a_binary_amount_beyond_64_bits_is_cut() -> None:
    assert quantities.parse("16Ei") == 2**63 - 1


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("suffix", ["", "n", "Ei", "e1000", "e-1000"])
def test_the_longest_amount_is_read_and_a_longer_one_is_refused(sign: str, suffix: str) -> None:
    longest = "9" * quantities.MOST_DIGITS
    assert quantities.canonical(f"{sign}{longest}{suffix}")
    with pytest.raises(ValueError, match="is no quantity: it has over 1000 digits"):
        quantities.parse(f"{sign}9{longest}{suffix}")


def test_an_exponent_of_more_digits_than_python_reads_is_refused() -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        quantities.parse(f"1e{'9' * 5000}")


@pytest.mark.parametrize("text", ["", "1.2.3", "1K", "1ki", "Mi", "x", "1 ", "1e", "--1", True])
def test_what_is_no_quantity_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity") as refusal:
        quantities.parse(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize(
    ("left", "right", "is_equal"),
    [
        pytest.param("1", "1000m", True, id="notation does not matter"),
        pytest.param("1Gi", "1024Mi", True, id="suffixes do not matter"),
        pytest.param(1, "1", True, id="a JSON number is a quantity"),
        pytest.param("1G", "1Gi", False, id="decimal giga is not binary giga"),
        pytest.param("half", "half", True, id="text that is no quantity equals itself"),
        pytest.param("half", "1", False, id="text that is no quantity equals no amount"),
    ],
)
def test_quantities_are_compared_by_amount(
    left: quantities.Quantity, right: quantities.Quantity, is_equal: bool
) -> None:
    assert quantities.equal(left, right) is is_equal


@given(written)
def test_printing_keeps_the_amount_and_is_stable(text: str) -> None:
    printed = quantities.canonical(text)
    assert quantities.equal(printed, text)
    assert quantities.canonical(printed) == printed
