import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube import names


@pytest.mark.parametrize(
    ("check", "text"),
    [
        pytest.param(names.label_problem, "my-name", id="a label with a dash"),
        pytest.param(names.label_problem, "a" * 63, id="a label of 63 characters"),
        pytest.param(names.subdomain_problem, "a.b-c.d", id="a subdomain with dots"),
        pytest.param(names.subdomain_problem, "a" * 253, id="a subdomain of 253 characters"),
        pytest.param(names.label_value_problem, "", id="an empty label value"),
        pytest.param(names.label_value_problem, "My_value.1", id="a label value of all kinds"),
        pytest.param(names.label_key_problem, "app", id="a key without a prefix"),
        pytest.param(names.label_key_problem, "gamekeeper.dev/Role_1", id="a key with a prefix"),
        pytest.param(names.env_name_problem, "A.b-1 c", id="a variable of printable characters"),
    ],
)
def test_a_good_text_has_no_problem(check: Callable[[str], str | None], text: str) -> None:
    assert check(text) is None


@pytest.mark.parametrize(
    ("check", "text", "said"),
    [
        pytest.param(names.label_problem, "", "a lowercase RFC 1123 label", id="an empty label"),
        pytest.param(names.label_problem, "Ab", "a lowercase RFC 1123 label", id="a capital"),
        pytest.param(names.label_problem, "a.b", "must not contain dots", id="dots in a label"),
        pytest.param(names.label_problem, "a" * 64, "no more than 63", id="a long label"),
        pytest.param(names.label_problem, "a\n", "a lowercase RFC 1123 label", id="a line end"),
        pytest.param(names.subdomain_problem, "a..b", "RFC 1123 subdomain", id="an empty part"),
        pytest.param(names.subdomain_problem, "a" * 254, "no more than 253", id="a long name"),
        pytest.param(names.label_value_problem, "-a", "a valid label must be", id="a dash first"),
        pytest.param(names.label_value_problem, "a" * 64, "no more than 63", id="a long value"),
        pytest.param(names.label_key_problem, "", "name part must be non-empty", id="no key"),
        pytest.param(names.label_key_problem, "a/", "name part must be non-empty", id="no name"),
        pytest.param(names.label_key_problem, "/a", "prefix part must be", id="no prefix"),
        pytest.param(names.label_key_problem, "a/b/c", "a valid label key must", id="two slashes"),
        pytest.param(names.label_key_problem, "A/b", "prefix part a lowercase", id="a capital"),
        pytest.param(names.env_name_problem, "", "must be non-empty", id="no variable name"),
        pytest.param(names.env_name_problem, "A=B", "printable ASCII", id="an equals sign"),
    ],
)
def test_a_bad_text_is_told_why(check: Callable[[str], str | None], text: str, said: str) -> None:
    problem = check(text)
    assert problem is not None
    assert said in problem


def test_both_parts_of_a_key_are_told_at_once() -> None:
    problem = names.label_key_problem("-a/-b")
    assert problem is not None
    assert re.fullmatch("prefix part .*; name part .*", problem)


@given(st.text(max_size=70))
def test_every_label_is_a_subdomain_and_a_label_value(text: str) -> None:
    if names.label_problem(text) is None:
        assert names.subdomain_problem(text) is None
        assert names.label_value_problem(text) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("replcas", "replicas", id="a missing letter"),
        pytest.param("Replicas", "replicas", id="another case"),
        pytest.param("maxsurge", "maxSurge", id="a word in camel case"),
        pytest.param("colour", None, id="nothing is close"),
        pytest.param("", None, id="no word"),
    ],
)
def test_the_nearest_known_word_is_found(word: str, meant: str | None) -> None:
    assert names.nearest(word, ["replicas", "maxSurge", "suspend"]) == meant
