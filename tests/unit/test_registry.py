"""Policies of installed packages stand beside ours; one that is none is refused by name."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from reconciler import registry
from reconciler.model.errors import Misconfigured
from reconciler.model.intents import CARRIED
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look

HERE = "tests.unit.test_registry"


class Constant:
    """A whole policy of somebody else."""

    name = "constant"

    def __init__(self) -> None:
        self.schema: Json = {"type": "object", "properties": {"rooms": {"type": "integer"}}}

    def problems(self, parameters: Json, facts: object) -> tuple[()]:
        return ()

    def asks(self, parameters: Json) -> tuple[()]:
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        return Advice(parameters["rooms"], "as written")


class Namesake(Constant):
    name = "buffer"


class Impostor(Constant):
    name = CARRIED


class Schemaless(Constant):
    def __init__(self) -> None:
        self.schema = {"type": "nonsense"}


class Silent:
    name = "silent"


CONSTANT = Constant()


def point(name: str, module: str = HERE) -> EntryPoint:
    return EntryPoint(name.lower(), f"{module}:{name}", registry.GROUP)


@pytest.mark.parametrize("name", ["Constant", "CONSTANT"])
def test_a_policy_of_a_package_is_known_by_its_name(name: str) -> None:
    found = registry.policies_with([point(name)])

    assert found["constant"].asks({}) == ()
    assert "fixedBuffer" in found


@pytest.mark.parametrize(
    ("name", "module", "why"),
    [
        pytest.param("Namesake", HERE, "two policies are named buffer", id="a name of ours"),
        pytest.param("Impostor", HERE, "carry-over, which stands for what people do", id="people"),
        pytest.param("Silent", HERE, "has no schema, problems, asks, advise", id="no policy"),
        pytest.param("Schemaless", HERE, "has a schema that is none", id="no schema"),
        pytest.param("Gone", HERE, "cannot be loaded: AttributeError", id="no such object"),
        pytest.param("Gone", "no.such.module", "cannot be loaded: ModuleNotFoundError",
                     id="no such module"),
    ],
)  # fmt: skip
def test_what_is_no_policy_is_refused(name: str, module: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        registry.policies_with([point(name, module)])


def test_ours_are_there_without_any_package() -> None:
    assert {"buffer", "max", "schedule"} <= registry.policies().keys()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, of which the process knows nothing yet."""
    monkeypatch.syspath_prepend(tmp_path)
    registry.policies.cache_clear()
    yield tmp_path
    registry.policies.cache_clear()
    sys.modules.pop("studio_policies", None)


def test_an_installed_package_brings_its_own(installed: Path) -> None:
    (installed / "studio_policies.py").write_text(f"from {HERE} import Constant\n")
    about = installed / "studio_policies-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: studio-policies\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[gamekeeper.policies]\nconstant = studio_policies:Constant\n"
    )
    assert "constant" in registry.policies()
