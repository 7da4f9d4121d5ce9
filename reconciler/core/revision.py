"""The revision of a pod template: a hash of what the user asked for, however it is written.

Normalised offline and by fixed rules (DESIGN §4): never by an API server's defaults nor by the
schemas of a Kubernetes version, so that upgrading either restarts nothing. A changed rule here
needs a new HASH_VERSION, and live rooms adopted in place.
"""

import hashlib
import json
from typing import Any

from reconciler.kube import quantities
from reconciler.model.refs import Json

HASH_VERSION = "1"
_DIGITS = 12
_AMOUNTS = frozenset({("resources", "requests"), ("resources", "limits")})
_SINGLE_AMOUNTS = frozenset({("emptyDir", "sizeLimit"), ("resourceFieldRef", "divisor")})
# Empty, these still say something: which source a volume has, or that everything is selected.
_TELLING = frozenset(
    {"emptyDir", "downwardAPI", "projected", "image", "labelSelector", "namespaceSelector"}
)


REPORTING = "r"
"""Ends the revision of rooms that report: they need a token, so others cannot become such."""


def tells_reports(revision: str) -> bool:
    """Whether rooms of a revision were made to report."""
    return revision.endswith(REPORTING)


def revision_of(template: Json, reports: bool = False) -> str:
    """Return the revision of a pod template, such as `1-3f2a9c01bd47`, or `…r` where it reports."""
    normal = _normal(template, ())
    text = json.dumps(normal, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    return f"{HASH_VERSION}-{digest}{REPORTING if reports else ''}"


def _normal(value: Any, around: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        kept = {}
        for name, item in value.items():
            inner = _normal(item, (*around, name))
            if inner is not None and (inner not in ({}, []) or name in _TELLING):
                kept[name] = inner
        return kept
    if isinstance(value, list):
        return [_normal(item, around) for item in value]
    if _is_amount(around) and type(value) in (str, int, float):
        return _amount(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_amount(around: tuple[str, ...]) -> bool:
    if not around or around[0] != "spec":
        return False
    return (
        around[-2:] in _SINGLE_AMOUNTS
        or around[-3:-1] in _AMOUNTS
        or (len(around) == 3 and around[1] == "overhead")
    )


def _amount(value: Any) -> Any:
    # The number, not the API server's notation: 1024Mi and 1Gi restart nothing.
    try:
        return format(quantities.parse(value).normalize(), "f")
    except ValueError:
        return value
