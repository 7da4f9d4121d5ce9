"""What distribution/reference takes, and what it refuses, of its own table of cases and ours."""

import pytest

from reconciler.kube import images

SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

TAKEN = [
    "game", "game:1", "game:TAG_1.0-rc", "a__b", "a.b-c", "a---b/c_d", "org/team/game",
    "localhost/game", "localhost:5000/a/b:tag", f"localhost:5000/a/b:tag@sha256:{SHA}",
    f"game@sha256:{SHA}", f"game@sha384:{SHA}{SHA[:32]}", f"game@sha512:{SHA}{SHA}",
    "Registry.Example.COM/game:1", "REGISTRY:5000/game", "Foo-Bar/game", "[2001:db8::1]:5000/game",
    "127.0.0.1:5000/game:v1", "xn--n3h.com/game", f"sha256:{SHA}", "a" * 255,
    "game:" + "t" * 128, "0/0:0", "game:_x",
]  # fmt: skip
REFUSED = [
    "", " ", "GAME:1", "Game", "registry.example/Game:1", "a/B/c", "my game:1", " game", "game\n",
    "game:", ":1", "game:-1", "game:1:2", "game:" + "t" * 129, "game@", "game@sha256:abc",
    f"game@SHA256:{SHA}", f"game@sha256:{SHA.upper()}", f"game@md5:{SHA[:32]}", "a//b", "/game",
    "game/", "a___b", "-game", "game-", ".game", "_game", "a..b", "https://registry.example/game",
    "registry.example/game:${TAG}", "{{ image }}", "gäme", "game:ü", "game:\u0661", "a" * 256, SHA,
    "-host.example/game", "host.example:x/game", "host.example:/game", "user@host.example/game",
]  # fmt: skip


@pytest.mark.parametrize("text", TAKEN)
def test_what_runtimes_take_is_a_reference(text: str) -> None:
    assert images.is_reference(text)


@pytest.mark.parametrize("text", REFUSED)
def test_what_runtimes_refuse_is_none(text: str) -> None:
    assert not images.is_reference(text)


@pytest.mark.parametrize(
    ("text", "lower"),
    [
        pytest.param("GAME:Tag", "game:Tag", id="a tag stays"),
        pytest.param("Reg.Example:50/Org/Game:T", "Reg.Example:50/org/game:T", id="so does a host"),
        pytest.param("Org/Game", "org/game", id="the first part is no host"),
        pytest.param(f"A/B@sha256:{SHA}", f"a/b@sha256:{SHA}", id="so does a digest"),
    ],
)
def test_only_the_repository_is_put_in_lower_case(text: str, lower: str) -> None:
    assert images.in_lower_case(text) == lower
