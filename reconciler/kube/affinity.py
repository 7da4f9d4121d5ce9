"""Which nodes a pod may and would rather run on: node selector and node affinity."""

from reconciler.kube.json_types import Json


def node_selector_matches(pod_spec: Json, node: Json) -> bool:
    """Tell whether a node has the labels and meets the required node affinity of a pod."""
    labels = _labels(node)
    wanted = pod_spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    required = _node_affinity(pod_spec).get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_term_matches(term, node) for term in required.get("nodeSelectorTerms") or ())


def preferred_weight(pod_spec: Json, node: Json) -> int:
    """Sum the weights (1 to 100 each) of the preferred node affinity terms that a node meets."""
    terms = _node_affinity(pod_spec).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return sum(int(term["weight"]) for term in terms if _term_matches(term["preference"], node))


def _node_affinity(pod_spec: Json) -> Json:
    affinity: Json = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    return affinity


def _labels(node: Json) -> dict[str, str]:
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return labels


def _term_matches(term: Json, node: Json) -> bool:
    expressions = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    if not expressions and not fields:
        # An empty term selects nothing, so that a forgotten one cannot open every node.
        return False
    names = {"metadata.name": node["metadata"]["name"]}
    return all(_holds(one, _labels(node)) for one in expressions) and all(
        _holds(one, names) for one in fields
    )


def _holds(expression: Json, labels: dict[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    values: list[str] = expression.get("values") or []
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    if operator == "NotIn":
        return labels.get(key) not in values
    if key not in labels:
        return False
    if operator == "In":
        return labels[key] in values
    return _compares(operator, labels[key], values)


def _compares(operator: str, label: str, values: list[str]) -> bool:
    try:
        number, limit = int(label), int(values[0])
    except (ValueError, IndexError):
        return False
    if operator == "Gt":
        return number > limit
    return operator == "Lt" and number < limit
