"""Which ports of a pod template get a host port.

Apart from how they are chosen: who only checks a spec needs nothing of what is live.
"""

from collections.abc import Collection

from reconciler.model.refs import Json


def container_ports(template: Json, expose: Collection[int] | None = None) -> tuple[int, ...]:
    """Return the distinct containerPorts of a pod template that get a host port, in order.

    Only those of `expose`, where it is given. Entries of one containerPort with several protocols
    are a pair and share one host port, as games that speak TCP and UDP on one number expect.
    """
    return tuple(
        dict.fromkeys(
            entry["containerPort"]
            for container in template.get("spec", {}).get("containers", [])
            for entry in container.get("ports") or []
            if expose is None or entry["containerPort"] in expose
        )
    )
