"""What is shipped beside the code is found, and what is not there is named."""

import pytest

from reconciler import assets
from reconciler.model.errors import Misconfigured


def test_the_schemas_of_our_kinds_are_there() -> None:
    assert sorted(assets.schemas()) == ["Config", "Fleet", "Replicas", "Scheduler", "Values"]


def test_there_is_a_template_for_every_object() -> None:
    names = assets.templates()

    assert "namespace.yaml.j2" in names
    assert all(text.strip() for text in names.values())


def test_versions_are_in_order_of_their_numbers() -> None:
    versions = assets.kubernetes_versions()
    minors = [int(version.split(".")[1]) for version in versions]

    assert "1.36" in versions
    assert minors == sorted(minors)


def test_definitions_are_read_when_they_are_asked_for() -> None:
    definitions = assets.KubernetesDefinitions()

    assert list(definitions) == list(assets.kubernetes_versions())
    assert "io.k8s.api.core.v1.PodSpec" in definitions["1.36"]
    assert "1.99" not in definitions


def test_a_version_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(Misconfigured, match=r"1\.99: installed are 1\.25"):
        assets.kubernetes_definitions("1.99")


def test_every_policy_has_a_schema_named_after_it() -> None:
    assert {"buffer", "fixedBuffer", "schedule"} <= assets.policy_schemas().keys()


def test_a_time_zone_tells_how_far_its_clocks_are_ahead() -> None:
    zones = assets.TimeZones()

    assert zones["Europe/Berlin"](1_800_000_000) == 3600
    assert zones["Europe/Berlin"](1_815_000_000) == 7200
    assert "Europe/Berlin" in set(zones)


def test_the_names_of_time_zones_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = list(assets.TimeZones())

    def walk() -> set[str]:
        raise AssertionError("hundreds of folders are read again")

    monkeypatch.setattr(assets, "available_timezones", walk)
    assert list(assets.TimeZones()) == names
    assert len(assets.TimeZones()) == len(names)


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "Europe"])
def test_what_is_no_time_zone_is_in_no_table(name: str) -> None:
    assert name not in assets.TimeZones()


@pytest.mark.parametrize("name", ["localtime", "Localtime", "posixrules", "Factory", "right/UTC"])
def test_what_each_machine_is_set_to_is_no_time_zone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Anything:
        def __init__(self, key: str) -> None: ...

    monkeypatch.setattr(assets, "ZoneInfo", Anything)
    assert name not in assets.TimeZones()


def test_no_file_of_a_machine_is_offered_as_a_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "available_timezones", lambda: {"UTC", "localtime", "Factory"})
    assets._zone_names.cache_clear()
    assert list(assets.TimeZones()) == ["UTC"]
    assets._zone_names.cache_clear()
