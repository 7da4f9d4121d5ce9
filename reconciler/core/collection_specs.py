"""A collection of the Azure game servers as a Fleet: what `POST /create` asks for, as a document.

The original took name, replicas and template, and dropped the rest without a word. Here every field
of a collection becomes the Fleet's own. What it says is judged where all specs are.
"""

import re
from typing import Any

import yaml

from reconciler.core import scalars
from reconciler.kube import names
from reconciler.model.refs import Json

_COUNT = re.compile(r"^  replicas: \d+$", re.MULTILINE)
_ENDS_A_LINE = re.compile("[\x85\u2028\u2029]")
"""What YAML 1.1 takes for the end of a line, and `yaml_strict` for what no reviewer sees."""
_SECONDS_A_MINUTE = 60


class NoCollection(ValueError):
    """What was sent is no collection; the message says why."""


def fleet_of(collection: Json) -> Json:
    """Return the document of the Fleet that a collection describes. Raises NoCollection."""
    metadata, given = _folded(collection.get("metadata")), _folded(collection.get("spec"))
    name, replicas, template = metadata.get("name"), given.get("replicas", 0), given.get("template")
    problem = names.label_problem(name) if isinstance(name, str) else "it is missing"
    if problem:
        raise NoCollection(f"metadata.name: {problem}")
    if type(replicas) is not int or replicas < 0:
        raise NoCollection("spec.replicas is no whole number of 0 or more")
    if not isinstance(template, dict):
        raise NoCollection("spec.template is no pod spec")
    spec: Json = {"replicas": replicas, "reports": "required"}
    if given.get("portstoexpose"):
        spec["portsToExpose"] = given["portstoexpose"]
    spec |= _failure(given) | _autoscaling(given.get(_AUTOSCALER))
    spec["template"] = {"spec": template}
    return {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Fleet",
        "metadata": {"name": name},
        "spec": spec,
    }


def text_of(document: Json) -> str:
    """Return a document as it stands in a repository, its count set apart for machines to write."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return _COUNT.sub(lambda found: f"\n{found[0]}\n", text, count=1)


class _Dumper(yaml.SafeDumper):
    """Writes each text so that our own reader takes it for the same text."""


def _represent(dumper: Any, text: str) -> Any:
    """Quote what is a number to us and none to PyYAML, as `1e5`, and escape what nobody sees."""
    style = '"' if _is_number(text) or _ENDS_A_LINE.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent)


def _is_number(text: str) -> bool:
    try:
        return scalars.meaning(text) != text
    except scalars.TooLarge:
        return True


_AUTOSCALER = "dgsactiveplayersautoscalerdetails"


def _failure(given: Json) -> Json:
    action, most = given.get("dgsfailbehavior"), given.get("dgsmaxfailures")
    # A limit of 0 is one: people are asked for at the first failure. None at all is no limit.
    found = {"action": action or None, "maxFailures": most}
    failure = {name: value for name, value in found.items() if value is not None}
    return {"failure": failure} if failure else {}


def _autoscaling(written: Any) -> Json:
    """Return the Fleet's autoscaling. Raises NoCollection for what could be read in two ways."""
    if written is None:
        return {}
    details, at = _folded(written), "spec.dgsActivePlayersAutoScalerDetails"
    if type(written) is not dict:
        raise NoCollection(f"{at} is no object")
    if not details:
        return {}
    enabled, minutes = details.get("enabled", False), details.get("cooldowninminutes")
    if type(enabled) is not bool:
        raise NoCollection(f"{at}.enabled is neither true nor false")
    if minutes is not None and (type(minutes) is not int or minutes < 0):
        raise NoCollection(f"{at}.coolDownInMinutes is no whole number of 0 or more")
    pace = {} if minutes is None else {"cooldownSeconds": minutes * _SECONDS_A_MINUTE}
    thresholds = ("maxPlayersPerServer", "scaleInThreshold", "scaleOutThreshold")
    return {
        "autoscaling": {
            "enabled": enabled,
            "min": details.get("minimumreplicas", 0),
            "max": details.get("maximumreplicas", 0),
            "policy": {
                "activePlayers": {each: details.get(each.lower(), 0) for each in thresholds}
            },
            # Each its own: of one that is written twice YAML makes an alias.
            "scaleUp": dict(pace),
            "scaleDown": dict(pace),
        }
    }


def _folded(value: Any) -> Json:
    """Return an object by its names in lower case: the original did not mind the case."""
    return {str(name).lower(): each for name, each in value.items()} if type(value) is dict else {}
