import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.kube.json_types import Json
from reconciler.kube.selectors import BadSelector, FieldSelector, LabelSelector

_LABELS = {"app": "web", "tier": "front", "size": "7", "empty": ""}


@pytest.mark.parametrize(
    ("query", "is_selected"),
    [
        pytest.param("", True, id="nothing asked selects everything"),
        pytest.param("app=web", True, id="an equal value"),
        pytest.param("app==web", True, id="two equals signs"),
        pytest.param("app=db", False, id="another value"),
        pytest.param("app!=db", True, id="not another value"),
        pytest.param("gone!=db", True, id="a missing label is not equal"),
        pytest.param("app in (db, web)", True, id="one of several"),
        pytest.param("app notin (db,web)", False, id="none of several"),
        pytest.param("gone notin (db)", True, id="a missing label is in no list"),
        pytest.param("app", True, id="a label that is there"),
        pytest.param("!app", False, id="a label that must not be there"),
        pytest.param("!gone", True, id="a label that is not there"),
        pytest.param("empty=", True, id="an empty value"),
        pytest.param("app=web,tier=back", False, id="all must hold"),
        pytest.param("app in (),app", False, id="an empty list holds the empty value"),
        pytest.param("size>6,size<8", True, id="numbers are compared"),
        pytest.param("app>1", False, id="a word is no number"),
    ],
)
def test_a_query_selects(query: str, is_selected: bool) -> None:
    assert LabelSelector.parse_labels(query).matches(_LABELS) is is_selected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
    ],
)
def test_a_query_that_cannot_be_read_is_refused_in_the_servers_words(
    query: str, message: str
) -> None:
    with pytest.raises(BadSelector) as refusal:
        LabelSelector.parse_labels(query)
    assert str(refusal.value) == message


@pytest.mark.parametrize("query", ["-a=1", "a=-b", "a/b/c", "a in (x y)", "a>b"])
def test_a_query_with_impossible_names_is_refused(query: str) -> None:
    with pytest.raises(BadSelector, match="unable to parse requirement"):
        LabelSelector.parse_labels(query)


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        pytest.param(None, False, id="no selector selects nothing"),
        pytest.param({}, True, id="an empty one selects everything"),
        pytest.param({"matchLabels": {"app": "web"}}, True, id="a label matches"),
        pytest.param({"matchLabels": {"app": "db"}}, False, id="a label does not match"),
        pytest.param(
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
            True,
            id="an expression matches",
        ),
        pytest.param(
            {"matchExpressions": [{"key": "gone", "operator": "NotIn", "values": ["x"]}]},
            True,
            id="a missing label is in no list",
        ),
        pytest.param(
            {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
            False,
            id="a label that must not be there",
        ),
        pytest.param(
            {
                "matchLabels": {"app": "web"},
                "matchExpressions": [{"key": "tier", "operator": "Exists"}],
            },
            True,
            id="labels and expressions together",
        ),
    ],
)
def test_a_selector_object_selects(selector: Json | None, is_selected: bool) -> None:
    assert LabelSelector.from_object(selector).matches(_LABELS) is is_selected


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param({"key": "a", "operator": "Like"}, id="an unknown operator"),
        pytest.param({"key": "a", "operator": "In", "values": []}, id="no values"),
        pytest.param({"key": "-a", "operator": "Exists"}, id="an impossible key"),
    ],
)
def test_a_selector_object_without_sense_is_refused(expression: Json) -> None:
    with pytest.raises(BadSelector):
        LabelSelector.from_object({"matchExpressions": [expression]})


_words = st.from_regex(r"[a-z]{1,4}", fullmatch=True)


@pytest.mark.long
@given(labels=st.dictionaries(_words, _words), wanted=st.dictionaries(_words, _words))
def test_both_ways_to_write_equalities_select_the_same(
    labels: dict[str, str], wanted: dict[str, str]
) -> None:
    query = ",".join(f"{key}={value}" for key, value in wanted.items())
    by_query = LabelSelector.parse_labels(query).matches(labels)
    assert by_query is LabelSelector.from_object({"matchLabels": wanted}).matches(labels)
    assert by_query is (wanted.items() <= labels.items())


@pytest.mark.parametrize(
    ("query", "is_selected"),
    [
        pytest.param("", True, id="nothing asked selects everything"),
        pytest.param("spec.nodeName=n1", True, id="an equal field"),
        pytest.param("spec.nodeName==n2", False, id="another value"),
        pytest.param("spec.nodeName!=n2,status.phase=", True, id="an empty field"),
        pytest.param(r"metadata.name=a\,b\=c\\", True, id="escaped characters"),
    ],
)
def test_a_field_query_selects(query: str, is_selected: bool) -> None:
    fields = {"spec.nodeName": "n1", "status.phase": "", "metadata.name": "a,b=c\\"}
    assert FieldSelector.parse_fields(query).matches(fields.__getitem__) is is_selected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
    ],
)
def test_a_field_query_that_cannot_be_read_is_refused_in_the_servers_words(
    query: str, message: str
) -> None:
    with pytest.raises(BadSelector) as refusal:
        FieldSelector.parse_fields(query)
    assert str(refusal.value) == message
