"""Additional objects, through the port: strangers' templates make objects or Findings."""

import json
from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler import objects as objects_module
from reconciler.adapters.compiler.compiler import WorkerCompiler
from reconciler.adapters.compiler.limits import Patience
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.core.messages import as_text
from reconciler.model.readings import Reading
from reconciler.model.refs import Json
from reconciler.model.specs import Permissions
from tests.contract.compiler_world import OURS
from tests.contract.test_compiler_read import Counted, scheduler, spec, tree

ALL = (
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "ConfigMap",
    "Role",
    "RoleBinding",
    "Service",
)
ALLOWED = Permissions(kinds=ALL, instance="main")
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
FILE = "objects/arena/configmap.yaml.j2"


def asking(name: str, directory: str = "objects/arena") -> str:
    return spec(name).replace("  game: arena\n", f"  game: arena\n  objects: {directory}\n")


ARENA = {"schedulers/arena.yaml": asking("arena")}
BESIDE = {"schedulers/lobby.yaml": spec("lobby")}


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


@pytest.fixture
def made(zygote: Zygote) -> WorkerCompiler:
    return WorkerCompiler(zygote, OURS, Patience(render_seconds=0.3))


def objects(reading: Reading, name: str = "arena") -> dict[str, Json]:
    bodies = [json.loads(text) for text in reading.workloads[scheduler(name)].objects]
    return {body["metadata"]["name"]: body for body in bodies}


def told(reading: Reading) -> list[str]:
    return [as_text(finding).replace(" error:", "") for finding in reading.findings]


async def test_an_object_has_our_labels_its_namespace_and_values_that_add_no_structure(
    made: WorkerCompiler,
) -> None:
    text = (
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n"
        '  name: {{ workload.name ~ "-players" }}\n  labels: {team: blue}\n'
        "spec:\n  podSelector: {{ {'matchLabels': selector} }}\n  policyTypes: [Ingress]\n"
        "{% if workload.kind == 'Scheduler' %}\n  ingress: [{}]\n{% endif %}\n"
    )
    files = {**ARENA, **BESIDE, "objects/arena/networkpolicy-players.yaml.j2": text}
    reading = await made.read(tree(files), ALLOWED)
    assert told(reading) == []
    policy = objects(reading)["arena-players"]
    assert policy["metadata"]["namespace"] == "arena"
    assert policy["metadata"]["labels"] == {
        "team": "blue",
        "app.kubernetes.io/name": "arena",
        "app.kubernetes.io/managed-by": "gamekeeper",
        "app.kubernetes.io/part-of": "arena",
        "gamekeeper.dev/instance": "main",
        "gamekeeper.dev/kind": "Scheduler",
        "gamekeeper.dev/workload": "arena",
    }
    selector = {"gamekeeper.dev/instance": "main", "gamekeeper.dev/workload": "arena"}
    assert policy["spec"]["podSelector"] == {"matchLabels": selector}
    assert policy["spec"]["ingress"] == [{}]
    assert objects(reading, "lobby") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            MAP.replace("ConfigMap", "Secret"),
            f"{FILE}:2:7: kind: a Secret does not",
            id="a Secret",
        ),
        pytest.param(MAP.replace("ConfigMap", "Pod"), '"Pod" is no kind of', id="a pod"),
        pytest.param(MAP.replace("v1", "v2"), f"{FILE}:1:13: apiVersion: must be v1", id="version"),
        pytest.param(MAP + "dato: {}\n", f"{FILE}:4:1: dato: unknown property", id="a property"),
        pytest.param(MAP + "data: {a: 1}\n", f"{FILE}:4:11: data.a: must be text", id="a type"),
        pytest.param(
            MAP.replace("settings", "settings, namespace: kube-system"),
            'is that of the rooms, "arena", and no other',
            id="another namespace",
        ),
        pytest.param(
            MAP.replace("settings", "settings, finalizers: [a.b/c]"), "may be written here", id="it"
        ),
        pytest.param(
            MAP.replace("settings", "settings, labels: {gamekeeper.dev/instance: other}"),
            "labels of gamekeeper.dev are Gamekeeper's own",
            id="our label",
        ),
        pytest.param(
            MAP.replace("settings", "gamekeeper-arena"), "is reserved", id="the name of a record"
        ),
        pytest.param(MAP + "---\n" + MAP, "2 documents instead of one", id="two documents"),
        pytest.param("[1]\n", "renders to no object but to list", id="no object"),
        pytest.param(MAP + "data: {{ nothing }}\n", f"{FILE}:4:1: ", id="an undefined value"),
        pytest.param(MAP + "data: {a: {{ 1 }}}\n", "data.a: must be text", id="a value of a type"),
        pytest.param(MAP + '{% include "x" %}\n', "includes another file", id="an include"),
        pytest.param(MAP + "{{ ''.__class__ }}\n", FILE, id="an escape"),
        pytest.param(MAP + "{{ cycler() }}\n", "calls something", id="a call"),
        pytest.param(
            MAP + "{% for a in 'x' * 999999999 %}{{ a }}{% endfor %}\n", FILE, id="endless"
        ),
        pytest.param(MAP + "data: {a: {{ 10 ** 999999999 }}}\n", "CPU time", id="a long sum"),
        pytest.param(
            MAP + "data: {a: {{ 'x' * 300000 }}}\n", "more than 131072 bytes", id="too much"
        ),
        pytest.param(MAP.replace("ConfigMap", "Service"), "named", id="another kind than its name"),
    ],
)
async def test_a_template_that_is_wrong_holds_its_workload_alone(
    made: WorkerCompiler, text: str, said: str
) -> None:
    reading = await made.read(tree({**ARENA, **BESIDE, FILE: text}), ALLOWED)
    assert reading.invalid.keys() == {scheduler("arena")}
    assert reading.workloads.keys() == {scheduler("lobby")}
    assert reading.unreadable == ()
    assert any(said in line and FILE in line for line in told(reading)), told(reading)


@pytest.mark.parametrize("kind", ALL)
async def test_a_kind_that_is_not_allowed_is_told_with_the_setting(
    made: WorkerCompiler, kind: str
) -> None:
    file = f"objects/arena/{kind.lower()}.yaml.j2"
    text = f"kind: {kind}\nmetadata: {{name: settings}}\n"
    others = tuple(each for each in ALL if each != kind)
    reading = await made.read(tree({**ARENA, file: text}), Permissions(kinds=others))
    (line,) = told(reading)
    assert line.startswith(f"{file}:1:7: kind: whoever runs Gamekeeper does not let")
    assert f"have {kind} added to --allow-kinds" in line


async def test_killers_cost_only_their_own_workloads_and_are_not_tried_again() -> None:
    zygote = Counted()
    compiler = WorkerCompiler(zygote, OURS, Patience(render_seconds=0.3))
    try:
        files = {**ARENA, FILE: MAP + "data: {a: {{ 10 ** 999999999 }}}\n"}
        files |= {
            "schedulers/b.yaml": asking("beta", "objects/b"),
            "objects/b/configmap.yaml.j2": MAP,
        }
        reading = await compiler.read(tree(files), ALLOWED)
        assert reading.workloads.keys() == {scheduler("beta")}
        before = zygote.hired
        again = await compiler.read(tree(files), ALLOWED)
        assert again == reading
        assert zygote.hired == before + 1  # who reads the specs
    finally:
        await compiler.close()


async def test_one_object_of_two_files_is_a_mistake_of_both(made: WorkerCompiler) -> None:
    other = "objects/arena/configmap-other.yaml.j2"
    reading = await made.read(tree({**ARENA, FILE: MAP, other: MAP}), ALLOWED)
    first, second = told(reading)
    assert first.startswith(f"{other}:3:18: metadata.name: ConfigMap arena/settings is also made")
    assert second.startswith(f"{FILE}:3:18: ")
    assert FILE in first


async def test_one_directory_serves_many_workloads(made: WorkerCompiler) -> None:
    files = {"schedulers/arena.yaml": asking("arena"), "schedulers/b.yaml": asking("beta")}
    reading = await made.read(tree({**files, FILE: MAP}), ALLOWED)
    assert told(reading) == []
    assert objects(reading)["settings"]["metadata"]["namespace"] == "arena"
    assert objects(reading, "beta")["settings"]["metadata"]["namespace"] == "beta"


async def test_templates_are_no_specs_wherever_they_stand(made: WorkerCompiler) -> None:
    files = {"schedulers/arena.yaml": asking("arena", "schedulers"), **BESIDE}
    reading = await made.read(tree({**files, "schedulers/configmap.yaml.j2": MAP}), ALLOWED)
    assert told(reading) == []
    assert reading.workloads.keys() == {scheduler("arena"), scheduler("lobby")}
    assert objects(reading).keys() == {"settings"}


async def test_objects_count_to_the_size_of_a_spec(made: WorkerCompiler) -> None:
    text = f"{MAP}data: {{a: {'x' * 70_000}}}\n"
    other = FILE.replace("configmap", "configmap-maps")
    files = {**ARENA, FILE: text, other: text.replace("settings", "maps")}
    reading = await made.read(tree(files), ALLOWED)
    (line,) = told(reading)
    assert "the spec and its objects have" in line


async def test_allowed_kinds_are_part_of_what_is_remembered(made: WorkerCompiler) -> None:
    files = tree({**ARENA, FILE: MAP})
    assert objects(await made.read(files, ALLOWED))
    assert (await made.read(files, Permissions())).invalid
    assert objects(await made.read(files, ALLOWED))


async def test_what_all_templates_render_to_has_a_bound(
    made: WorkerCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository of many small templates would else fill the memory of who serves rooms."""
    monkeypatch.setattr(objects_module, "MOST_KEPT_BYTES", 30_000)
    large = MAP.replace("settings", "{{ workload.name ~ '-a' }}") + "data: {a: {{ 'x' * 9000 }}}\n"
    names = [f"arena{number}" for number in range(8)]
    files = {f"schedulers/{name}.yaml": asking(name, "objects") for name in names}
    reading = await made.read(tree({**files, "objects/configmap.yaml.j2": large}), ALLOWED)
    assert 3 <= len(reading.workloads) <= 5
    assert len(reading.invalid) == 8 - len(reading.workloads)
    assert any("render to more than" in line for line in told(reading))


async def test_an_object_is_no_longer_than_a_spec(made: WorkerCompiler) -> None:
    text = MAP + "data: {a: {{ 'x' * 140000 }}}\n"
    reading = await made.read(tree({**ARENA, FILE: text}), ALLOWED)
    assert any("renders to more than 131072 bytes" in line for line in told(reading))
