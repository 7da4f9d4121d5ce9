"""Whatever stands in Git: YAML, the documents of it, and the reading of a whole tree."""

import json
import random
from dataclasses import replace

from reconciler.adapters.compiler.codec import decode, encode
from reconciler.core.compile import workload_from_json
from reconciler.core.count_text import counts_in
from reconciler.core.read import read_tree
from reconciler.core.yaml_strict import MOST_BYTES, parse_file
from reconciler.model.readings import Reading
from reconciler.model.specs import Permissions, Source
from tests.fuzz.forging import Forge, documents_of, in_yaml
from tests.fuzz.playing import Target, search
from tests.fuzz.seeds import CONFIGS, SPECS
from tests.unit.core.reading import CONFIG, SPEC, kit, tree_of

WORDS = tuple(
    word.encode()
    for text in (SPEC, *(seed.decode("utf-8", "replace") for seed in SPECS[:40]))
    for word in text.split()
)
KINDS = ("gamekeeper.yaml", "schedulers/a.yaml", "replicas.yaml")
LARGE = Forge(SPECS, WORDS, MOST_BYTES + 1)
SMALL = Forge(SPECS, WORDS, 20_000)
OF_CONFIGS = Forge(CONFIGS, WORDS, 20_000)
CONFIG_VALUES = documents_of(CONFIGS)
SPEC_VALUES = [one for one in documents_of(SPECS) if one.get("kind") in ("Scheduler", "Fleet")]
VALUES = tuple(dict.fromkeys(word.decode("utf-8", "replace") for word in WORDS))
ENVIRONMENT = "environments/eu.yaml"
NAMES = ("Scheduler/arena", "Scheduler/lobby", "Fleet/duel", "Fleet/servers/duel", "arena")
DUEL = SPEC.replace("arena", "duel").replace("Scheduler", "Fleet")
PERMISSIONS = Permissions(kinds=("ConfigMap", "Role", "RoleBinding"), instance="main")


def parsed(data: bytes) -> None:
    """No text makes the parser raise, and what it says can be told and sent on."""
    found = parse_file("a.yaml", data)

    # libyaml tells of what is missing at the end that it is missing on the line behind it.
    lines = data.count(b"\n") + data.count(b"\r") + 2
    findings = [each for document in found.documents for each in document.findings]
    for finding in [*findings, *([found.unreadable] if found.unreadable else [])]:
        assert 0 <= finding.line <= lines
        assert "\n" not in finding.message
        str(finding).encode()
    for document in found.documents:
        json.dumps(document.value, ensure_ascii=False, allow_nan=False).encode()
    for count in counts_in("a.yaml", data).values():
        assert type(count.count) is int


def read(data: bytes) -> None:
    """No file makes the reader raise, and the reading comes whole through a worker's pipe."""
    kind, _, text = data.partition(b"\n")
    files = {"gamekeeper.yaml": CONFIG, "schedulers/b.yaml": SPEC.replace("arena", "lobby")}
    tree = tree_of(files)
    path = kind.decode()
    entry = replace(tree.entries["gamekeeper.yaml"], text=text, size=len(text), blob="x")
    judged(read_tree(replace(tree, entries={**tree.entries, path: entry}), PERMISSIONS, kit()))


def values(data: bytes) -> None:
    """No values of an environment make the reader raise, whatever they are laid over."""
    files = {"gamekeeper.yaml": CONFIG, "schedulers/a.yaml": SPEC, "schedulers/b.yaml": DUEL}
    tree = tree_of(files)
    entry = replace(tree.entries["gamekeeper.yaml"], text=data, size=len(data), blob="x")
    permissions = replace(PERMISSIONS, values=(ENVIRONMENT,))
    whole = replace(tree, entries={**tree.entries, ENVIRONMENT: entry})
    reading = read_tree(whole, permissions, kit())
    judged(reading)
    # A person can find each mistake: where it is said to be there is such a file and line.
    for finding in reading.findings:
        text = whole.entries[finding.file].text or b""
        assert finding.line <= text.count(b"\n") + text.count(b"\r") + 2


def judged(reading: Reading) -> None:
    """What a reading must be, whatever was read."""
    sent = json.loads(json.dumps(encode(Reading, reading), allow_nan=False))
    assert decode(Reading, sent) == reading
    assert not reading.workloads.keys() & reading.invalid.keys()
    for key, workload in reading.workloads.items():
        assert workload_from_json(workload.spec_json, Source("", 1)).key == key


def whole_file(chance: random.Random) -> bytes:
    """Return a file with the path that it stands at in its first line."""
    path = chance.choice(KINDS)
    is_config = path == "gamekeeper.yaml" and chance.random() < 0.9
    if chance.random() < 0.7:
        text = in_yaml(CONFIG_VALUES if is_config else SPEC_VALUES, chance, VALUES)
    else:
        text = (OF_CONFIGS if is_config else SMALL)(chance)
    return path.encode() + b"\n" + text


def of_environment(chance: random.Random) -> bytes:
    """Return a file of values, made of pieces of specs."""
    layers = {name: chance.choice(SPEC_VALUES).get("spec") for name in chance.sample(NAMES, 2)}
    spec = {"workloads": layers, "config": chance.choice(CONFIG_VALUES).get("spec")}
    head = {"apiVersion": "gamekeeper.dev/v1", "kind": "Values"}
    parts = [spec, {"workloads": layers}, {"workloads": layers}]
    return in_yaml([{**head, "spec": part} for part in parts], chance, VALUES)


def test_no_text_is_too_much_for_the_parser_of_yaml() -> None:
    search(Target("yaml", 336_000, LARGE, parsed))


def test_no_file_is_too_much_for_the_reader_of_trees() -> None:
    search(Target("tree", 168_000, whole_file, read))


def test_no_values_are_too_much_for_the_reader_of_trees() -> None:
    search(Target("values", 84_000, of_environment, values))
