import pytest

from reconciler.adapters.kubernetes.proxies import proxy_of
from reconciler.model.errors import Misconfigured

PROXY = "http://proxy.test:3128"


def found(url: str, environ: dict[str, str], written: str = "") -> str | None:
    return proxy_of(url, written, "the kubeconfig", environ)


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        pytest.param("https://a.test", {"HTTPS_PROXY": PROXY}, PROXY, id="for https"),
        pytest.param("https://a.test", {"https_proxy": PROXY}, PROXY, id="in small letters"),
        pytest.param("https://a.test", {"HTTPS_PROXY": "p:1"}, "http://p:1", id="without a scheme"),
        pytest.param("https://a.test", {"HTTP_PROXY": PROXY}, None, id="that of http is another"),
        pytest.param("http://a.test", {"HTTP_PROXY": PROXY}, PROXY, id="for http"),
        pytest.param("https://localhost:1", {"HTTPS_PROXY": PROXY}, None, id="not to localhost"),
        pytest.param("https://127.0.0.9:1", {"HTTPS_PROXY": PROXY}, None, id="not to ourselves"),
        pytest.param("https://[::1]:1", {"HTTPS_PROXY": PROXY}, None, id="nor by IPv6"),
        pytest.param("https://a.test", {}, None, id="none"),
    ],
)
def test_the_environment_names_a_proxy(
    url: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert found(url, environ) == proxy


@pytest.mark.parametrize(
    ("url", "exempt", "is_exempt"),
    [
        pytest.param("https://a.test", "a.test", True, id="a host"),
        pytest.param("https://b.a.test", "a.test", True, id="a host below it"),
        pytest.param("https://ba.test", "a.test", False, id="a host of a like name"),
        pytest.param("https://b.a.test", ".a.test", True, id="below a domain"),
        pytest.param("https://a.test", ".a.test", False, id="the domain itself is not below it"),
        pytest.param("https://b.a.test", "*.a.test", True, id="by a star"),
        pytest.param("https://a.test", "*", True, id="all"),
        pytest.param("https://A.test", "x, a.TEST", True, id="of several, in any letters"),
        pytest.param("https://a.test:6443", "a.test:6443", True, id="the same port"),
        pytest.param("https://a.test", "a.test:443", True, id="the port that goes unsaid"),
        pytest.param("https://a.test:6443", "a.test:443", False, id="another port"),
        pytest.param("https://10.1.2.3:6443", "10.0.0.0/8", True, id="a network"),
        pytest.param("https://11.1.2.3:6443", "10.0.0.0/8", False, id="outside of a network"),
        pytest.param("https://10.1.2.3:6443", "10.1.2.3", True, id="an address"),
        pytest.param("https://10.1.2.3:6443", "10.1.2.3:6443", True, id="an address and port"),
        pytest.param("https://[fd00::1]:6443", "fd00::/8", True, id="a network of IPv6"),
        pytest.param("https://[fd00::1]:6443", "[fd00::1]:6443", True, id="an address of IPv6"),
        pytest.param("https://10.1.2.3", "1.2.3", False, id="the end of an address is no domain"),
        pytest.param("https://a.test", "", False, id="none"),
    ],
)
def test_whom_no_proxy_is_for(url: str, exempt: str, is_exempt: bool) -> None:
    environ = {"HTTPS_PROXY": PROXY, "NO_PROXY": exempt}
    assert (found(url, environ) is None) == is_exempt
    assert found(url, environ, written=PROXY) == PROXY  # what is written for a cluster holds


@pytest.mark.parametrize("proxy", ["socks5://h:1", "http://", "http://h:99999", "ftp://h", "x"])
def test_a_proxy_of_no_use_is_named_by_its_place(proxy: str) -> None:
    with pytest.raises(Misconfigured, match="proxy-url of the kubeconfig"):
        found("https://a.test", {}, written=proxy)


def test_a_proxy_of_no_use_is_not_repeated() -> None:
    with pytest.raises(Misconfigured, match="HTTPS_PROXY") as caught:
        found("https://a.test", {"HTTPS_PROXY": "socks5://u:hunter2@h:1"})
    assert "hunter2" not in str(caught.value)
