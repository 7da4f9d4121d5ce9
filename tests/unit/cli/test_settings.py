import pytest

from reconciler.model.errors import Misconfigured
from reconciler.setting_rows import BadSetting, Row
from reconciler.settings import Settings, rows
from reconciler.wiring.clusters import rooms_url


def test_a_flag_goes_before_the_environment_and_that_before_the_default() -> None:
    environment = {"GAMEKEEPER_BRANCH": "live", "GAMEKEEPER_QPS": "7"}
    settings = Settings.read(environment, {"qps": 9.0, "branch": None})
    assert (settings.qps, settings.branch, settings.burst) == (9.0, "live", Settings().burst)


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row.name)
def test_every_setting_says_what_it_is_and_has_a_flag_and_an_environment_name(row: Row) -> None:
    assert row.text
    assert row.flag == "--" + (row.named or row.name).replace("_", "-")
    assert row.environment == "GAMEKEEPER_" + (row.named or row.name).upper()
    assert row.name.endswith("_seconds") == (row.unit == "s")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        pytest.param("LEASE", "false", False, id="a switch"),
        pytest.param("QPS", "2.5", 2.5, id="a number"),
        pytest.param("BURST", "3", 3, id="a whole number"),
        pytest.param("RESERVED_NAMESPACES", "a, b,", ("a", "b"), id="several words"),
        pytest.param("LOG_FORMAT", "json", "json", id="one of some words"),
        pytest.param("REQUEST_TIMEOUT", "1m30s", 90.0, id="a length of time"),
        pytest.param("REQUEST_TIMEOUT", "45", 45.0, id="a length of time in plain seconds"),
        pytest.param("AS_GROUP", "a,b", ("a", "b"), id="a name that kubectl gave"),
    ],
)
def test_the_environment_is_read_by_type(name: str, text: str, value: object) -> None:
    settings = Settings.read({f"GAMEKEEPER_{name}": text}, {})
    row = next(each for each in rows() if each.environment == f"GAMEKEEPER_{name}")
    assert getattr(settings, row.name) == value


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("LEASE", "maybe", "write true or false", id="a switch that is none"),
        pytest.param("BURST", "2.5", "write a whole number", id="half a request"),
        pytest.param("QPS", "fast", r"write a number \(1/s\)", id="a number that is none"),
        pytest.param("REQUEST_TIMEOUT", "soon", "a time as 45s or 2m", id="no length of time"),
        pytest.param("REQUEST_TIMEOUT", "0", "write 1 or more", id="no deadline at all"),
        pytest.param("QPS", "nan", "write 1 or more", id="not a number"),
        pytest.param("QPS", "inf", "write 1 or more", id="without end"),
        pytest.param("QPS", "0", "write 1 or more", id="too little"),
        pytest.param("LOG_LEVEL", "loud", "write one of debug", id="an unknown word"),
    ],
)
def test_a_bad_value_is_told_with_its_place_and_what_to_write(
    name: str, text: str, said: str
) -> None:
    with pytest.raises(BadSetting, match=said) as caught:
        Settings.read({f"GAMEKEEPER_{name}": text}, {})
    assert f"GAMEKEEPER_{name} is " in str(caught.value)


def test_a_flag_out_of_bounds_is_named_as_the_flag() -> None:
    with pytest.raises(BadSetting, match="--qps is 0"):
        Settings.read({}, {"qps": 0.0})


def test_a_secret_is_not_shown() -> None:
    settings = Settings(token="hunter2", password="hunter2", proxy_url="http://u:hunter2@p")
    assert "hunter2" not in repr(settings)


def test_an_empty_variable_is_no_value() -> None:
    assert Settings.read({"GAMEKEEPER_BRANCH": ""}, {}).branch == "main"


def test_the_address_that_rooms_are_told_ends_without_a_slash_for_games_add_their_path() -> None:
    assert rooms_url(Settings(rooms_url="http://10.0.0.1:8090/")) == "http://10.0.0.1:8090"
    assert rooms_url(Settings(namespace="ours")) == "http://gamekeeper-rooms.ours.svc"


@pytest.mark.parametrize("url", ["10.0.0.1:8090", "rooms", "ftp://rooms"])
def test_an_address_that_no_game_can_ask_is_refused(url: str) -> None:
    with pytest.raises(Misconfigured, match="--rooms-url"):
        rooms_url(Settings(rooms_url=url))
