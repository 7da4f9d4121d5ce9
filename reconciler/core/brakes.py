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
from reconciler.model.holds import Hold
from reconciler.model.records import Accepted
from reconciler.model.specs import Workload


def braked(accepted: Accepted, held: Workload) -> Accepted:
    """Return what is accepted of a workload with the brakes of its spec that is `held`."""
    stops, is_off = held.suspend, _switches_off(held, accepted)
    if not (stops or is_off):
        return accepted
    document = json.loads(accepted.spec_json)
    if stops:
        document["spec"]["suspend"] = json.loads(held.spec_json)["spec"]["suspend"]
    if is_off:
        document["spec"]["autoscaling"]["enabled"] = False
    return replace(accepted, spec_json=canonical(document))


def told(hold: Hold, held: Workload | None, accepted: Accepted | None) -> Hold:
    """Return a hold that says which brakes of what it holds act all the same."""
    if held is None or accepted is None:
        return hold
    acts = ["it is suspended"] if held.suspend else []
    acts += ["its policy is off"] if _switches_off(held, accepted) else []
    if not acts:
        return hold
    return replace(hold, reason=f"{hold.reason} (that {' and '.join(acts)} acts at once)")


def _switches_off(held: Workload, accepted: Accepted) -> bool:
    """Whether a spec has no policy that decides, and the accepted one has a policy at all."""
    return not is_moved(held) and "autoscaling" in child(json.loads(accepted.spec_json), "spec")
