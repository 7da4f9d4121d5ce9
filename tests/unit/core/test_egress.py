"""Addresses of webhooks are read in one way, and only whom the operator lists is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from reconciler.core.egress import (
    Origin,
    allowed_of,
    is_allowed,
    never_allowed,
    place_of,
    strange_in,
)


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        pytest.param("https://a.example.com", Origin("https", "a.example.com", 443), "/",
                     id="a name"),
        pytest.param("https://A.Example.com./x?y=1", Origin("https", "a.example.com", 443),
                     "/x?y=1", id="large letters and a last dot"),
        pytest.param("http://scaler.tools.svc:8000/a%20b", Origin("http", "scaler.tools.svc", 8000),
                     "/a%20b", id="a service of the cluster"),
        pytest.param("https://h?x=1", Origin("https", "h", 443), "/?x=1", id="a query alone"),
        pytest.param("http://10.0.0.7:80/", Origin("http", "10.0.0.7", 80), "/", id="an address"),
        pytest.param("https://[2001:DB8::7]:8443/", Origin("https", "2001:db8::7", 8443), "/",
                     id="an address of IPv6"),
    ],
)  # fmt: skip
def test_an_address_is_taken_apart(url: str, origin: Origin, path: str) -> None:
    place = place_of(url)

    assert place is not None
    assert (place.origin, place.path) == (origin, path)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:secret@a.example.com/",
        "https://allowed.example.com@evil.example.com/",
        "https://allowed.example.com\\@evil.example.com/",
        "https://allowed.example.com#@evil.example.com/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://0177.0.0.1/",
        "https://1.2.3.4.5/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://a..b/",
        "https://-a.example.com/",
        "https://a.example.com:0/",
        "https://a.example.com:70000/",
        "https://a.example.com:/",
        "https://шлюз.example.com/",
        "https://a.example.com/ b",
        "https://a.example.com/\r\nHost: b",
        "https:///a.example.com/",
        "ftp://a.example.com/",
        "file:///etc/passwd",
        "a.example.com",
        "",
    ],
)
def test_what_is_none_or_could_mean_two_is_none(url: str) -> None:
    assert place_of(url) is None


@given(st.from_regex(r"https?://[a-z0-9.:@\[\]%\\/?#_-]{1,20}", fullmatch=True))
def test_whoever_connects_reads_the_same_host(url: str) -> None:
    place = place_of(url)

    if place is not None:
        read = URL(place.url, encoded=True)
        assert (read.scheme, read.host, read.port) == (
            place.origin.scheme,
            place.origin.host,
            place.origin.port,
        )
        assert read.user is None
        assert place_of(place.url) == place


@pytest.mark.parametrize(
    ("entry", "url", "may"),
    [
        pytest.param("a.example.com", "https://a.example.com/x", True, id="the host"),
        pytest.param("A.example.com", "https://a.example.com/x", True, id="in large letters"),
        pytest.param("a.example.com", "https://b.example.com/x", False, id="another host"),
        pytest.param("a.example.com", "https://x.a.example.com/", False, id="one below it"),
        pytest.param("a.example.com", "https://a.example.com.evil.com/", False, id="one that ends"),
        pytest.param("a.example.com", "http://a.example.com/", False, id="not encrypted"),
        pytest.param("http://a.example.com", "http://a.example.com/", True, id="as is allowed"),
        pytest.param("http://a.example.com", "https://a.example.com/", False, id="the other way"),
        pytest.param("a.example.com", "https://a.example.com:8443/", False, id="another port"),
        pytest.param("a.example.com:8443", "https://a.example.com:8443/", True, id="that port"),
        pytest.param("*.example.com", "https://x.y.example.com/", True, id="all below"),
        pytest.param("*.example.com", "https://example.com/", False, id="not itself"),
        pytest.param("*.example.com", "https://evilexample.com/", False, id="no dot between"),
        pytest.param("10.0.0.7:8000", "https://10.0.0.7:8000/", True, id="an address"),
        pytest.param("[fd12::7]", "https://[FD12:0::7]/", True, id="an address in other letters"),
    ],
)
def test_the_operators_list_says_who_may_be_asked(entry: str, url: str, may: bool) -> None:
    allowed, place = allowed_of(entry), place_of(url)

    assert allowed is not None
    assert place is not None
    assert is_allowed(place.origin, [allowed]) is may
    assert not is_allowed(place.origin, [])


@pytest.mark.parametrize(
    "entry", ["*", "*.", "", "a b", "a.example.com/path", "ftp://a", "*.10.0.0.7", "a:x", "127.1"]
)
def test_what_is_no_entry(entry: str) -> None:
    assert allowed_of(entry) is None


@pytest.mark.parametrize("char", [" ", '"', "#", "\\", "^", "`", "\n", "é"])
def test_no_address_has_what_is_told_as_strange_in_it(char: str) -> None:
    assert strange_in(f"https://scaler.example.com/a{char}b{char}") == char
    assert place_of(f"https://scaler.example.com/a{char}b") is None
    assert strange_in("https://[2001:db8::1]:8443/a?b=c%20d&e=~f") == ""


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://scaler.example.com", ""),
        ("http://127.0.0.1:8000", ""),
        ("http://10.0.0.7", ""),
        ("http://169.254.169.254", "a link-local address, as that of a cloud's metadata"),
        ("http://[::ffff:169.254.169.254]", "a link-local address, as that of a cloud's metadata"),
        ("http://0.0.0.0", "the unspecified address"),
    ],
)
def test_an_address_that_no_list_opens_is_told(url: str, told: str) -> None:
    place = place_of(url)
    assert place is not None
    assert never_allowed(place.origin) == told
