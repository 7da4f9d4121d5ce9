"""Templates of additional objects: whatever is rendered is judged, whatever fails is in words.

They are rendered in this process, without the limits of a worker: those that only a limit ends
(corpora/jinja has them) are left out by what they compute.
"""

import json
import random

from jinja2 import TemplateError, nodes

from reconciler.adapters.compiler.context import context_of, key_in
from reconciler.adapters.compiler.environment import MARK, TemplateEnvironment, as_json
from reconciler.adapters.compiler.rendering import generated, refusal
from reconciler.adapters.compiler.skeleton import fill_with_places
from reconciler.core.object_check import check_object, completed
from reconciler.core.object_rules import check_completed
from reconciler.model.additional import ALLOWABLE
from reconciler.model.specs import Permissions
from tests.contract.compiler_world import workload
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search
from tests.fuzz.seeds import TEMPLATES
from tests.unit.core.reading import kit

ENVIRONMENT = TemplateEnvironment()
CONTEXT = context_of(workload(), "main")
ARENA = key_in(CONTEXT)
PERMISSIONS = Permissions(kinds=tuple(ALLOWABLE), instance="main")
OBJECT = b"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ workload.name ~ "-settings" }}
  labels: {{ labels }}
data:
{% for name, value in template.metadata.labels | dictsort %}
  {{ name }}: {{ value }}
{% endfor %}
  game: {{ workload.game | upper }}
"""
ROLE = b"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: looks}
rules:
  - {apiGroups: [""], resources: [pods], verbs: [get]}
"""
WORDS = (
    *(b"{{ workload }}", b"{{ x }}", b"{% if a %}", b"{% for a in labels %}", b"{% endfor %}"),
    *(b"{% set a = 1 %}", b"{% endif %}", b"| join", b"| length", b".__class__", b"['__init__']"),
    *(
        b"workload.name",
        b"labels",
        b"template",
        b"is defined",
        b"[::-1]",
        b"[0]",
        b"~",
        b"-",
        b"//",
    ),
    *(b"kind: Role", b"kind: NetworkPolicy", b"kind: ResourceQuota", b"{#", b"#}", b"{% raw %}"),
    MARK.encode(),
)
OURS, THEIRS = Forge([OBJECT, ROLE], WORDS, 8_000), Forge(TEMPLATES, WORDS, 8_000)
RUNS_AWAY = (nodes.Pow, nodes.Mul, nodes.Mod, nodes.Slice)
MOST_LOOPS, MOST_OUTPUT_BYTES = 3, 128 * 1024


def template_of(chance: random.Random) -> bytes:
    """Return a template, of an object that is sound or of those that want out."""
    return (OURS if chance.random() < 0.6 else THEIRS)(chance)


def rendered(data: bytes) -> None:
    """What a template does is an object that is sound, or a refusal that can be shown."""
    source = data.decode("utf-8", "replace")
    try:
        if is_endless(source):
            return
        template = ENVIRONMENT.compiled(source, "configmap.yaml.j2")
        text = generated(template, CONTEXT, ENVIRONMENT.values, MOST_OUTPUT_BYTES)
        body, _ = fill_with_places(text, ENVIRONMENT.values)
        whole = as_json(body)
    except MemoryError:
        raise
    except Exception as error:  # as in the worker: whatever a template does is an answer
        told = refusal(error)
        assert told["error"].isprintable()
        assert len(told["error"]) <= 300
        assert told["line"] >= 0
        json.dumps(told).encode()
        return
    judged(json.loads(whole))


def judged(body: object) -> None:
    """No object makes the checks raise, and one without mistakes is one that we take back."""
    if not isinstance(body, dict):
        return
    mistakes = check_object(body, ARENA, PERMISSIONS, kit(), kit().versions[-1])
    if not mistakes:
        whole = completed(body, ARENA.namespace, CONTEXT["labels"])
        assert not check_completed(whole, ARENA, PERMISSIONS, CONTEXT["labels"])
    for mistake in mistakes:
        json.dumps([mistake.message, mistake.fix]).encode()


def is_endless(source: str) -> bool:
    """Whether only a worker's limits may end a template."""
    try:
        tree = ENVIRONMENT.parse(source)
    except (TemplateError, ValueError, RecursionError, ArithmeticError):
        return False
    loops = sum(1 for _ in tree.find_all(nodes.For))
    sets = sum(1 for _ in tree.find_all(nodes.Assign))
    return (
        loops > MOST_LOOPS or sets > MOST_LOOPS or next(tree.find_all(RUNS_AWAY), None) is not None
    )


def test_no_template_is_too_much_for_the_kit() -> None:
    search(Target("template", 105_000, template_of, rendered))
