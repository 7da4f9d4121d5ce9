"""Where nobody is led: this machine, its link and the cloud's metadata, however it is written."""

import pytest

from reconciler.core.addresses import address_of, is_loopback, never_asked


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("127.0.0.1", "this machine", id="loopback"),
        pytest.param("127.8.9.10", "this machine", id="all of loopback"),
        pytest.param("::1", "this machine", id="loopback of IPv6"),
        pytest.param("::ffff:127.0.0.1", "this machine", id="loopback, mapped"),
        pytest.param("::127.0.0.1", "this machine", id="loopback, compatible"),
        pytest.param("64:ff9b::7f00:1", "this machine", id="loopback behind NAT64"),
        pytest.param("2002:7f00:1::", "this machine", id="loopback in 6to4"),
        pytest.param("169.254.169.254", "metadata", id="the metadata of most clouds"),
        pytest.param("::ffff:169.254.169.254", "metadata", id="the same, mapped"),
        pytest.param("64:ff9b::a9fe:a9fe", "metadata", id="the same behind NAT64"),
        pytest.param("64:ff9b:1::a9fe:a9fe", "metadata", id="the same behind a site's NAT64"),
        pytest.param("64:ff9b:1:a9fe:a9:fe00::", "metadata", id="behind one of 48 bits"),
        pytest.param("64:ff9b:1:2a9:fe:a9fe::", "metadata", id="behind one of 56 bits"),
        pytest.param("64:ff9b:1:2:a9:fea9:fe00::", "metadata", id="behind one of 64 bits"),
        pytest.param("64:ff9b:1:2:3:4:7f00:1", "this machine", id="loopback behind one of 96"),
        pytest.param("::ffff:0:127.0.0.1", "this machine", id="loopback, translated"),
        pytest.param("2001:db8::5efe:7f00:1", "this machine", id="loopback in ISATAP"),
        pytest.param("2001:db8::200:5efe:a9fe:a9fe", "metadata", id="metadata in ISATAP"),
        pytest.param("fe80::1", "link-local", id="link-local of IPv6"),
        pytest.param("fe80::1%eth0", "link-local", id="with a zone"),
        pytest.param("fd00:ec2::254", "metadata", id="AWS' metadata in IPv6"),
        pytest.param("fd00:ec2::23", "metadata", id="AWS' credentials of pods in IPv6"),
        pytest.param("fd20:ce::254", "metadata", id="Google's metadata in IPv6"),
        pytest.param("fd00:42::42", "metadata", id="Scaleway's metadata in IPv6"),
        pytest.param("100.100.100.200", "metadata", id="Alibaba's"),
        pytest.param("168.63.129.16", "metadata", id="Azure's"),
        pytest.param("0.0.0.0", "unspecified", id="unspecified"),
        pytest.param("0.1.2.3", "unspecified", id="this network"),
        pytest.param("::", "unspecified", id="unspecified of IPv6"),
        pytest.param("224.0.0.1", "multicast", id="multicast"),
        pytest.param("ff02::1", "multicast", id="multicast of IPv6"),
        pytest.param("255.255.255.255", "reserved", id="broadcast"),
        pytest.param("240.0.0.1", "reserved", id="reserved"),
        pytest.param("scaler", "no address", id="a name"),
    ],
)
def test_who_is_never_asked(text: str, why: str) -> None:
    assert why in never_asked(text)
    assert never_asked(text)


@pytest.mark.parametrize(
    "text",
    ["10.0.0.7", "192.168.1.9", "100.64.0.1", "203.0.113.7", "fd12::7", "2001:db8::7",
     "64:ff9b::a00:7", "64:ff9b:1::a00:7", "64:ff9b:1:2:3:4:a00:7", "64:ff9b:1:a00:0:700::",
     "2001:db8::5efe:a00:7", "2001:db8::5eff:7f00:1"],
)  # fmt: skip
def test_who_may_be(text: str) -> None:
    assert never_asked(text) == ""


def test_an_address_has_its_usual_form() -> None:
    assert str(address_of("2001:DB8:0::7")) == "2001:db8::7"
    assert address_of("127.1") is None
    assert is_loopback("127.0.0.1")
    assert not is_loopback("localhost")
