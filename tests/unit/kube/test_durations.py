import pytest

from reconciler.kube.durations import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("30", 30.0, id="plain seconds"),
        pytest.param("2.5", 2.5, id="half a second more"),
        pytest.param("30s", 30.0, id="seconds"),
        pytest.param("1m30s", 90.0, id="minutes and seconds"),
        pytest.param("1.5h", 5400.0, id="an hour and a half"),
        pytest.param("250ms", 0.25, id="milliseconds are no minutes"),
        pytest.param(" 1m ", 60.0, id="blanks around it"),
    ],
)
def test_a_length_of_time_is_read_as_kubectl_reads_it(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "1d", "-1s", "1 m", "30s!", "inf", "nan", "1e3", "1m30"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no length of time"):
        seconds_of(text)
