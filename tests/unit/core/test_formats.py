"""Forms of text are judged as Kubernetes judges them, and a near miss is mended."""

from typing import Any

import pytest

from reconciler.core.formats import mended, problem_of

GOOD = [
    ("quantity", "250m"), ("quantity", 2), ("quantity", 0.5), ("quantity", "1e3"),
    ("int-or-string", 80), ("int-or-string", "http"),
    ("dns-label", "a-1"), ("dns-subdomain", "a.b-c"), ("env-name", "A.b-C"),
    ("port-name", "game-udp"), ("int32", "anything"),
    ("image", "Registry.example:5000/game:1"), ("image", None),
]  # fmt: skip
BAD = [
    ("quantity", "1 Gi"), ("quantity", True), ("quantity", "1e"), ("int-or-string", 1.5),
    ("quantity", "9" * 4000), ("quantity", "1." + "9" * 2200),
    ("int-or-string", True), ("dns-label", "a.b"), ("dns-label", "a" * 64), ("dns-label", ""),
    ("dns-subdomain", "a..b"), ("env-name", "A=B"), ("env-name", ""), ("port-name", "a" * 16),
    ("port-name", "80"), ("port-name", "a--b"), ("image", "GAME:1"), ("image", ""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), GOOD)
def test_a_value_has_its_form(kind: str, value: Any) -> None:
    assert problem_of(kind, value) is None


@pytest.mark.parametrize(("kind", "value"), BAD)
def test_a_value_without_its_form_is_told_what_it_must_be(kind: str, value: Any) -> None:
    problem = problem_of(kind, value)

    assert problem is not None
    assert problem[0].startswith("must be")
    assert problem[1]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("9" * 1100, "must be a number of at most 1000 digits"),
        ("1e" + "9" * 1100, "must be a number of at most 1000 digits"),
        ("x" * 1100, "must be a number with an optional unit"),
        ("9" * 500 + " " * 600, "must be a number with an optional unit"),
    ],
)
def test_only_a_number_is_told_that_it_is_too_long(value: str, told: str) -> None:
    problem = problem_of("quantity", value)
    assert problem is not None
    assert problem[0].startswith(told)


JINJA = "a spec is data, in which neither Jinja nor variables are filled in: write the value itself"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param("My Game_1", 'write "my-game-1"', id="capitals, spaces, underscores"),
        pytest.param("---", "", id="nothing is left"),
        pytest.param(" a\n", 'write "a"', id="blanks around it"),
        pytest.param("7 * (8) + '9'", "", id="too little is left"),
        pytest.param("registry.example/my game:1", "", id="an image is no name"),
        pytest.param("{{ 7*7 }}", JINJA, id="an expression of Jinja"),
        pytest.param("registry.example/game:{% if x %}1{% endif %}", JINJA, id="a tag of Jinja"),
        pytest.param("arena-{{ env }}-with-a-long-name", JINJA, id="a name with an expression"),
        pytest.param("x" * 300, "", id="too long to mend"),
    ],
)
def test_a_near_miss_is_mended(text: str, fix: str) -> None:
    assert mended(text, lambda name: len(name) < 60) == fix


SUCH = 'write it like "registry.example.com/arena:1.4.2"'


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param("GAME:Tag", 'write "game:Tag"', id="capitals"),
        pytest.param(" Reg.example/Game\n", 'write "Reg.example/game"', id="blanks around it"),
        pytest.param("", SUCH, id="nothing"),
        pytest.param("my game:1", SUCH, id="nothing that comes to mind"),
        pytest.param("registry.example/game:${TAG}", JINJA, id="a variable"),
        pytest.param("registry.example/{{ game }}", JINJA, id="an expression of Jinja"),
        pytest.param("PASSWORD:hunter2", SUCH, id="what would not be repeated"),
    ],
)
def test_an_image_that_no_runtime_takes_is_mended(text: str, fix: str) -> None:
    problem = problem_of("image", text)

    assert problem is not None
    assert problem[1] == fix
