"""The overlay speaks of definitions and properties that Kubernetes has."""

import pytest

from reconciler import assets
from reconciler.core.pod_rules import POD_SPEC, REFINED

NEWEST = assets.kubernetes_definitions(assets.kubernetes_versions()[-1])
OLDEST = assets.kubernetes_definitions(assets.kubernetes_versions()[0])


@pytest.mark.parametrize("name", sorted(REFINED))
def test_every_refined_property_is_one_of_the_newest_version(name: str) -> None:
    known = NEWEST[name]["properties"].keys() | OLDEST.get(name, {}).get("properties", {}).keys()

    assert REFINED[name]["properties"].keys() <= known
    assert set(REFINED[name]["required"]) <= known


@pytest.mark.parametrize("name", sorted(REFINED))
def test_a_refined_property_is_no_reference_whose_refinement_would_be_lost(name: str) -> None:
    for refined in REFINED[name]["properties"]:
        assert "$ref" not in NEWEST[name]["properties"][refined]


@pytest.mark.parametrize("version", assets.kubernetes_versions())
def test_every_version_has_a_pod_spec(version: str) -> None:
    assert POD_SPEC in assets.kubernetes_definitions(version)
