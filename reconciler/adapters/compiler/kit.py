"""In a worker: what specs and objects are judged with, loaded once in the zygote."""

import functools

from reconciler import assets, registry
from reconciler.core.spec_kit import SpecKit


@functools.cache
def spec_kit() -> SpecKit:
    """Return the schemas, Kubernetes' definitions and the policies that are installed."""
    definitions, zones = assets.KubernetesDefinitions(), assets.TimeZones()
    return SpecKit(assets.schemas(), definitions, registry.policies(), zones)
