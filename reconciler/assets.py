"""What is shipped beside the code, and read here only: schemas, templates, definitions, time zones.

A wheel holds them under `reconciler/_assets`; a checkout has them at its root.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from reconciler.model.errors import Misconfigured
from reconciler.model.refs import Json

_HERE = Path(__file__).parent
_ROOT = _HERE / "_assets" if (_HERE / "_assets").is_dir() else _HERE.parent


def schemas() -> dict[str, Json]:
    """Return our JSON Schemas by the kind they describe.

    Raises Misconfigured when the installation lacks them.
    """
    found = {}
    for path in sorted((_ROOT / "schemas").glob("*.json")):
        schema: Json = json.loads(path.read_text(encoding="utf-8"))
        found[schema["title"]] = schema
    if not found:
        raise Misconfigured(f"no schemas under {_ROOT}: install gamekeeper again")
    return found


def policy_schemas() -> dict[str, Json]:
    """Return the JSON Schemas of our autoscaling policies by their names in a spec.

    Raises Misconfigured when the installation lacks them.
    """
    found = {}
    for path in sorted((_ROOT / "schemas" / "policies").glob("*.json")):
        schema: Json = json.loads(path.read_text(encoding="utf-8"))
        found[schema["title"]] = schema
    if not found:
        raise Misconfigured(f"no schemas of policies under {_ROOT}: install gamekeeper again")
    return found


def process_schema(name: str) -> Json:
    """Return the JSON Schema of a file that belongs to the process, and to no repository.

    Raises Misconfigured when the installation lacks it.
    """
    path = _ROOT / "schemas" / "process" / f"{name}.v1.json"
    if not path.is_file():
        raise Misconfigured(f"no schema {path}: install gamekeeper again")
    schema: Json = json.loads(path.read_text(encoding="utf-8"))
    return schema


def templates() -> dict[str, str]:
    """Return the Jinja templates by file name.

    Raises Misconfigured when the installation lacks them.
    """
    folder = _ROOT / "templates"
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.j2"))}
    if not found:
        raise Misconfigured(f"no templates under {_ROOT}: install gamekeeper again")
    return found


@cache
def kubernetes_versions() -> tuple[str, ...]:
    """Return the Kubernetes minor versions (`1.36`) whose definitions are installed, oldest first.

    Raises Misconfigured when there are none.
    """
    minors = sorted(int(path.parent.name.split(".")[1]) for path in _definition_files())
    if not minors:
        raise Misconfigured("no Kubernetes definitions: install kubernetes-validate again")
    return tuple(f"1.{minor}" for minor in minors)


@cache
def kubernetes_definitions(version: str) -> Json:
    """Return the `$defs` of a Kubernetes minor version (`1.36`); never change them.

    Raises Misconfigured for a version that is not installed.
    """
    for path in _definition_files():
        if path.parent.name.startswith(f"v{version}."):
            definitions: Json = json.loads(path.read_text(encoding="utf-8"))["$defs"]
            return definitions
    known = ", ".join(kubernetes_versions())
    raise Misconfigured(f"no definitions of Kubernetes {version}: installed are {known}")


class KubernetesDefinitions(Mapping[str, Json]):
    """The definitions of every installed version, each read when it is first asked for."""

    def __getitem__(self, version: str) -> Json:
        if version not in kubernetes_versions():
            raise KeyError(version)
        return kubernetes_definitions(version)

    def __iter__(self) -> Iterator[str]:
        return iter(kubernetes_versions())

    def __len__(self) -> int:
        return len(kubernetes_versions())


class TimeZones(Mapping[str, Callable[[float], int]]):
    """The IANA time zones of this machine: how far clocks are ahead of UTC, by Unix seconds.

    Each is read when it is first asked for. A name that is none of them is not in it.
    """

    def __getitem__(self, name: str) -> Callable[[float], int]:
        zone = _zone(name)
        return lambda at: _ahead_seconds(zone, at)

    def __iter__(self) -> Iterator[str]:
        return iter(_zone_names())

    def __len__(self) -> int:
        return len(_zone_names())


_NO_ZONES = frozenset({"localtime", "posixrules", "factory"})
"""Files beside the zones that are whatever a machine is set to: two replicas may differ."""


def _is_zone(name: str) -> bool:
    first = name.partition("/")[0].casefold()
    return first not in _NO_ZONES | {"posix", "right"}


@cache
def _zone_names() -> tuple[str, ...]:
    # Found by a walk over many folders: too slow for each mistyped zone of hundreds of specs.
    return tuple(sorted(filter(_is_zone, available_timezones())))


@cache
def _zone(name: str) -> ZoneInfo:
    if not _is_zone(name):
        raise KeyError(name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise KeyError(name) from error


def _ahead_seconds(zone: ZoneInfo, at: float) -> int:
    ahead = datetime.fromtimestamp(at, zone).utcoffset()
    return 0 if ahead is None else int(ahead.total_seconds())


@cache
def _definition_files() -> tuple[Path, ...]:
    # Located, not imported: the package's own imports are slow and of no use here.
    spec = find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        raise Misconfigured("kubernetes-validate is not installed: install gamekeeper again")
    folder = Path(spec.origin).parent / "kubernetes-json-schema"
    return tuple(folder.glob("v1.*-local-strict/_definitions.json"))
