"""What strangers wrote is repeated short and masked, wherever in a spec they wrote it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.unit.core.reading import read

RICH = """\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata: {name: arena}
spec:
  game: arena
  replicas: 3
  reports: none
  objects: objects
  ignore: [{kind: ConfigMap, paths: [/data/motd]}]
  copyFrom: [{kind: Secret, namespace: shared, name: pull}]
  suspend: {until: "2026-12-27T06:00:00+01:00"}
  autoscaling: {min: 1, max: 5, policy: {buffer: {size: 1}, fixedBuffer: {}}}
  template:
    metadata: {labels: {a: b}}
    spec:
      nodeSelector: {disk: ssd}
      volumes: [{name: data, emptyDir: {}, configMap: {name: x}}]
      securityContext: {sysctls: [{name: kernel.odd}]}
      containers:
        - name: game
          image: registry.example.com/arena:1.4.2
          env:
            - {name: A, value: b}
            - {name: A, valueFrom: {secretKeyRef: {name: s, key: k}, fieldRef: {fieldPath: x}}}
            - {name: C, valueFrom: {resourceFieldRef: {containerName: gmae, resource: limits.cpu}}}
          ports: [{name: game, containerPort: 7777, protocol: UDP}]
          volumeMounts: [{name: dtaa, mountPath: /data}]
          readinessProbe: {httpGet: {path: /, port: htpt}}
          securityContext: {capabilities: {add: [NET_ADMIN]}}
          resources: {requests: {cpu: 2, memroy: 1Gi}, limits: {cpu: 1}}
"""
LONG = "hostile" + "x" * 3000
SECRET = "password=hunter2hunter2"

Path = tuple[Any, ...]


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, bool]]:
    """Yield every place of a document where a word stands, and whether it is a property's name."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in pairs:
        if isinstance(value, dict):
            yield (*path, name), True
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, name))
        else:
            yield (*path, name), False


def with_word(path: Path, is_name: bool, word: str) -> str:
    document = copy.deepcopy(yaml.safe_load(RICH))
    at = document
    for step in path[:-1]:
        at = at[step]
    if is_name:
        at[word] = at.pop(path[-1])
    else:
        at[path[-1]] = word
    return yaml.safe_dump(document, sort_keys=False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("word", "repeated"),
    [
        pytest.param(LONG, "x" * 200, id="a long one"),
        pytest.param(SECRET, "hunter2hunter2", id="a secret"),
    ],
)
def test_no_mistake_repeats_it(word: str, repeated: str) -> None:
    told, repeating = 0, []
    for path, is_name in places(yaml.safe_load(RICH)):
        for finding in read({"schedulers/a.yaml": with_word(path, is_name, word)}).findings:
            told += 1
            if repeated in finding.message or repeated in finding.fix:
                repeating.append((path, finding.message, finding.fix))
    assert told > 200
    assert not repeating


@pytest.mark.parametrize("text", [f"a: *{LONG}\n", f"a: &{LONG} [*{LONG}]\n"])
def test_no_mistake_of_an_alias_repeats_it(text: str) -> None:
    (finding, *_) = read({"schedulers/a.yaml": text}).findings
    assert LONG[:20] in finding.message
    assert len(finding.message) < 200
