"""What reading specs needs beside the specs: schemas, compiled once, and policies."""

from collections.abc import Callable, Mapping

from jsonschema.protocols import Validator

from reconciler.core.calendar import Zones
from reconciler.core.mistakes import Mistake
from reconciler.core.pod_rules import POD_SPEC, REFINED
from reconciler.core.policies.nested import Policies
from reconciler.core.schemas import refined_schema, validator_of
from reconciler.kube.schemas import Schemas
from reconciler.model.refs import Json

_MOST_REMEMBERED = 4096


class SpecKit:
    """Our schemas by kind, Kubernetes' definitions by minor version (each read when asked for).

    `policies` are the autoscaling policies that are installed, by name, `zones` the time zones.
    It remembers the mistakes of templates by their content: most commits leave most of them be.
    """

    def __init__(
        self,
        schemas: Mapping[str, Json],
        definitions: Mapping[str, Json],
        policies: Policies,
        zones: Zones,
    ) -> None:
        self.kinds = {kind: validator_of(schema) for kind, schema in schemas.items()}
        self.versions = tuple(definitions)
        self.policies = policies
        self.zones = zones
        self._definitions = definitions
        self._pods: dict[str, Validator] = {}
        self._kinds: dict[tuple[str, str, str], Validator] = {}
        self._remembered: dict[tuple[str, ...], tuple[Mistake, ...]] = {}

    def pod_spec(self, version: str) -> Validator:
        """Return the validator of a PodSpec in a Kubernetes minor version."""
        if version not in self._pods:
            schema = refined_schema(self._definitions[version], POD_SPEC, REFINED)
            self._pods[version] = validator_of(schema)
        return self._pods[version]

    def kind(self, version: str, api_version: str, kind: str) -> Validator:
        """Return the validator of a kind in a Kubernetes minor version, which must have it."""
        asked = version, api_version, kind
        if asked not in self._kinds:
            definitions = self._definitions[version]
            schema = Schemas(definitions).for_kind(api_version, kind)
            named = schema.name if schema else ""
            self._kinds[asked] = validator_of(refined_schema(definitions, named, REFINED))
        return self._kinds[asked]

    def remembered(
        self, content: tuple[str, ...], check: Callable[[], tuple[Mistake, ...]]
    ) -> tuple[Mistake, ...]:
        """Return the mistakes of a template with this content, judged once."""
        if content not in self._remembered:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[content] = check()
        return self._remembered[content]
