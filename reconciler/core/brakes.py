"""What of a held commit acts all the same: what stops somebody, and takes nothing away.

Who suspends a workload or switches its policy off wants just that, and at once: often because
something goes wrong. That the same commit would take rooms away waits for an approval; that
nobody acts, or decides, does not.
"""

import json
from dataclasses import replace

from reconciler.core.carried_counts import is_moved
from reconciler.core.compile import canonical
from reconciler.core.pod_parts import child
from reconciler.model.records import Accepted
from reconciler.model.refs import Json
from reconciler.model.specs import Workload

_WORDS = {"suspend": "it is suspended", "autoscaling": "its policy is off"}


def braked(accepted: Accepted, held: Workload) -> Accepted:
    """Return what is accepted of a workload with the brakes of its spec that is `held`."""
    document = json.loads(accepted.spec_json)
    pulled = _pulled(child(document, "spec"), held)
    if not pulled:
        return accepted
    document["spec"] |= pulled
    return replace(accepted, spec_json=canonical(document))


def told(held: Workload | None, accepted: Accepted | None) -> str:
    """Say which brakes of a spec that is held act all the same; "" for none that did not before."""
    if held is None or accepted is None:
        return ""
    pulled = _pulled(child(json.loads(accepted.spec_json), "spec"), held)
    said = " and ".join(words for name, words in _WORDS.items() if name in pulled)
    return f" (that {said} acts at once)" if said else ""


def _pulled(spec: Json, held: Workload) -> Json:
    """Return the fields of an accepted spec that are others with the brakes of the held one."""
    found: Json = {}
    if held.suspend:
        suspend = json.loads(held.spec_json)["spec"]["suspend"]
        if spec.get("suspend") != suspend:
            found["suspend"] = suspend
    policy = child(spec, "autoscaling")
    if policy.get("enabled", bool(policy)) and not is_moved(held):
        found["autoscaling"] = {**policy, "enabled": False}
    return found
