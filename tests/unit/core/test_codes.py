"""Codes of rooms: worked out, never stored, each good for one name."""

import hmac
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.codes import LENGTH, code_of, is_code
from tests.canaries.places import canary

KEY = canary("room codes' key").encode()
CODE = code_of(KEY, "local", "arena", "arena-7")


def test_a_code_is_the_same_whoever_works_it_out() -> None:
    assert code_of(KEY, "local", "arena", "arena-7") == CODE
    assert len(CODE) == LENGTH
    assert set(CODE) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("key", "cluster", "namespace", "room"),
    [
        pytest.param(b"K" * 32, "local", "arena", "arena-7", id="another key"),
        pytest.param(KEY, "eu", "arena", "arena-7", id="another cluster"),
        pytest.param(KEY, "local", "arenas", "arena-7", id="another namespace"),
        pytest.param(KEY, "local", "arena", "arena-8", id="another room"),
        pytest.param(KEY, "locala", "rena", "arena-7", id="the same letters, parted otherwise"),
    ],
)
def test_a_code_is_no_other_rooms(key: bytes, cluster: str, namespace: str, room: str) -> None:
    assert code_of(key, cluster, namespace, room) != CODE


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        pytest.param(CODE, True, id="the code"),
        pytest.param(CODE.upper(), False, id="its capitals"),
        pytest.param(CODE[:-1], False, id="its beginning"),
        pytest.param("", False, id="nothing"),
        pytest.param("\udc80é", False, id="what is no text"),
    ],
)
def test_what_is_shown(shown: str, fits: bool) -> None:
    assert is_code(["another", CODE], shown) is fits


@given(st.text())
def test_nothing_that_is_shown_breaks_the_comparison(shown: str) -> None:
    assert is_code([CODE], shown) is (shown == CODE)


def test_every_code_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr("reconciler.core.codes.hmac", SimpleNamespace(compare_digest=compare))
    assert is_code([CODE, "another"], CODE)
    assert compared == [(CODE.encode(), CODE.encode()), (b"another", CODE.encode())]
