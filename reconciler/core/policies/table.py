"""Every policy by the name under which a spec asks for it."""

from collections.abc import Callable, Iterable, Mapping

from reconciler.core.calendar import Zones
from reconciler.core.policies.active_players import ActivePlayers
from reconciler.core.policies.adaptive import Adaptive
from reconciler.core.policies.buffer import Buffer
from reconciler.core.policies.chain import Chain
from reconciler.core.policies.fixed_buffer import FixedBuffer
from reconciler.core.policies.max_of import max_of
from reconciler.core.policies.metric import Metric
from reconciler.core.policies.min_of import min_of
from reconciler.core.policies.policy import Policy
from reconciler.core.policies.room_occupancy import RoomOccupancy
from reconciler.core.policies.schedule import Schedule
from reconciler.core.policies.webhook import Webhook
from reconciler.model.refs import Json

_PLAIN: Mapping[str, Callable[[Json], Policy]] = {
    "activePlayers": ActivePlayers,
    "adaptive": Adaptive,
    "buffer": Buffer,
    "fixedBuffer": FixedBuffer,
    "metric": Metric,
    "roomOccupancy": RoomOccupancy,
    "webhook": Webhook,
}


def policy_table(
    schemas: Mapping[str, Json], zones: Zones, others: Iterable[Policy] = ()
) -> Mapping[str, Policy]:
    """Return our policies with their schemas, and those of others beside them.

    Raises ValueError where two have one name. Those that hold other policies hold any of these.
    """
    found: dict[str, Policy] = {name: made(schemas[name]) for name, made in _PLAIN.items()}
    found["max"] = max_of(schemas["max"], found)
    found["min"] = min_of(schemas["min"], found)
    found["chain"] = Chain(schemas["chain"], found, zones)
    found["schedule"] = Schedule(schemas["schedule"], found, zones)
    for policy in others:
        if policy.name in found:
            raise ValueError(f"two policies are named {policy.name}")
        found[policy.name] = policy
    return found
