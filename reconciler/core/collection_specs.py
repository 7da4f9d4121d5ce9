"""A collection of the Azure game servers as a Fleet: what `POST /create` asks for, as a document.

The original took name, replicas and template, and dropped the rest without a word. Here every field
of a collection becomes the Fleet's own, and one that a collection does not have is refused: what
was meant by it would be lost. Of `metadata` name and namespace alone are looked at, and `status`
not at all: the rest is what clients and the API server add. What it says is judged where all specs
are.
"""

import re
from collections.abc import Collection
from typing import Any

import yaml

from reconciler.core import scalars
from reconciler.core.mistakes import listed
from reconciler.kube import names
from reconciler.model.refs import Json

_COUNT = re.compile(r"^  replicas: \d+$", re.MULTILINE)
_ENDS_A_LINE = re.compile("[\x85\u2028\u2029]")
"""What YAML 1.1 takes for the end of a line, and `yaml_strict` for what no reviewer sees."""
_SECONDS_A_MINUTE = 60
_THEIR_NAMESPACE = "default"
"""Where the original put every server, and what its clients write: it asks for no place of ours."""
_AUTOSCALER = "dgsActivePlayersAutoScalerDetails"
_OLDER_AUTOSCALER = "podAutoScalerDetails"
"""The same details with the same meaning, by the name that earlier releases had for them."""
_WHOLE = ("apiVersion", "kind", "metadata", "spec", "status")
_SPEC = (
    *("replicas", "portsToExpose", "template", "dgsFailBehavior", "dgsMaxFailures"),
    *(_AUTOSCALER, _OLDER_AUTOSCALER),
)
_THRESHOLDS = ("maxPlayersPerServer", "scaleInThreshold", "scaleOutThreshold")
_DETAILS = (
    *("enabled", "minimumReplicas", "maximumReplicas", "coolDownInMinutes", *_THRESHOLDS),
    "lastScaleOperationDateTime",  # when theirs scaled last: ours keeps that on its own record
)


class NoCollection(ValueError):
    """What was sent is no collection; the message says why."""


def fleet_of(collection: Json) -> Json:
    """Return the document of the Fleet that a collection describes. Raises NoCollection."""
    whole = _fields(collection, "", _WHOLE)
    metadata = _folded(whole.get("metadata"), "metadata")
    given = _fields(whole.get("spec"), "spec", _SPEC)
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
    spec |= _place(metadata) | _failure(given) | _autoscaling(given)
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


def _place(metadata: Json) -> Json:
    """Return the Fleet's namespace where a collection names one. Raises NoCollection."""
    namespace = metadata.get("namespace")
    if namespace in (None, ""):
        return {}
    problem = names.label_problem(namespace) if isinstance(namespace, str) else "it is no text"
    if problem:
        raise NoCollection(f"metadata.namespace: {problem}")
    return {} if namespace == _THEIR_NAMESPACE else {"namespace": namespace}


def _failure(given: Json) -> Json:
    action, most = given.get("dgsfailbehavior"), given.get("dgsmaxfailures")
    # A limit of 0 is one: people are asked for at the first failure. None at all is no limit.
    found = {"action": action or None, "maxFailures": most}
    failure = {name: value for name, value in found.items() if value is not None}
    return {"failure": failure} if failure else {}


def _autoscaling(given: Json) -> Json:
    """Return the Fleet's autoscaling. Raises NoCollection for what could be read in two ways."""
    written = [
        (name, given[name.lower()])
        for name in (_AUTOSCALER, _OLDER_AUTOSCALER)
        if given.get(name.lower()) is not None
    ]
    if not written:
        return {}
    name, value = written[0]
    at = f"spec.{name}"
    if len(written) > 1:
        raise NoCollection(f"{at} and spec.{_OLDER_AUTOSCALER} are one thing: leave one out")
    if type(value) is not dict:
        raise NoCollection(f"{at} is no object")
    details = _fields(value, at, _DETAILS)
    if not details:
        return {}
    enabled, minutes = details.get("enabled", False), details.get("cooldowninminutes")
    if type(enabled) is not bool:
        raise NoCollection(f"{at}.enabled is neither true nor false")
    if minutes is not None and (type(minutes) is not int or minutes < 0):
        raise NoCollection(f"{at}.coolDownInMinutes is no whole number of 0 or more")
    pace = {} if minutes is None else {"cooldownSeconds": minutes * _SECONDS_A_MINUTE}
    return {
        "autoscaling": {
            "enabled": enabled,
            "min": details.get("minimumreplicas", 0),
            "max": details.get("maximumreplicas", 0),
            "policy": {
                "activePlayers": {each: details.get(each.lower(), 0) for each in _THRESHOLDS}
            },
            # Each its own: of one that is written twice YAML makes an alias.
            "scaleUp": dict(pace),
            "scaleDown": dict(pace),
        }
    }


def _fields(value: Any, at: str, known: Collection[str]) -> Json:
    """Return an object as `_folded` does. Raises NoCollection for fields that are not known."""
    found, ours = _folded(value, at), {name.lower() for name in known}
    strange = [name for name in value if name.lower() not in ours] if found else []
    if strange:
        named = listed([f"{at}.{name}" if at else name for name in strange])
        raise NoCollection(f"a collection has no {named}; {at or 'it'} knows {', '.join(known)}")
    return found


def _folded(value: Any, at: str) -> Json:
    """Return an object by its names in lower case: the original did not mind the case.

    Raises NoCollection where a name is there in two ways: one of the two would be lost.
    """
    fields = value if type(value) is dict else {}
    found = {name.lower(): each for name, each in fields.items()}
    if len(found) != len(fields):
        where = at or "the collection"
        raise NoCollection(f"{where} has the same name twice, in upper and in lower case")
    return found
