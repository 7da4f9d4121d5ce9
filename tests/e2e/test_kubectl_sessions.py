"""One session of kubectl, on the sandbox and on the real control plane: it prints the same."""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.contract.api_server_world import (
    Speaker,
    config_map,
    is_ready,
    quick_sandbox,
    real_speaker,
    served,
)
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.programs import kubectl

pytestmark = pytest.mark.real

Json = dict[str, Any]

_ASLEEP = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "asleep", "labels": {"app": "a"}},
    "spec": {
        "schedulerName": "nobody",
        "containers": [
            {
                "name": "c",
                "image": "game:1",
                "ports": [{"containerPort": 7000, "protocol": "UDP"}],
                "resources": {"requests": {"cpu": "100m"}},
            }
        ],
    },
}
_BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "b"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"run": "web"}}},
}
_JSON_PATCH = '[{"op":"remove","path":"/metadata/labels/x"}]'


@dataclass(frozen=True, slots=True)
class Typed:
    """One command of the session; `{node}` is where the pod web runs."""

    line: str
    given: Json | None = None


SESSION = (
    Typed("create -f -", _ASLEEP),
    Typed("create -f -", _ASLEEP),
    Typed("create -f -", {**config_map("odd"), "bogus": 1}),
    Typed("create configmap c --from-literal=a=b"),
    Typed("create secret generic s --from-literal=a=b"),
    Typed("create serviceaccount bot"),
    Typed("create pdb p --selector=a=b --min-available=50%"),
    Typed("run web --image=game:1 --port=7000"),
    Typed("wait --for=condition=Ready pod/web --timeout=120s"),
    Typed("get pods"),
    Typed("get pods -o wide"),
    Typed("get pods -o name"),
    Typed("get pods -l app=other"),
    Typed("get pods --field-selector status.phase=Running -o name"),
    Typed("get pod asleep -o yaml"),
    Typed("get pod none"),
    Typed("get configmaps,secrets,poddisruptionbudgets"),
    Typed("describe pod asleep"),
    Typed("describe configmap c"),
    Typed("describe secret s"),
    Typed("logs none"),
    Typed("logs web -c none"),
    Typed("label pod web x=y"),
    Typed("label pod web x=z"),
    Typed("annotate pod web n=1"),
    Typed('patch pod web -p {"metadata":{"labels":{"s":"1"}}}'),
    Typed('patch pod web --type=merge -p {"metadata":{"labels":{"m":"1"}}}'),
    Typed(f"patch pod web --type=json -p {_JSON_PATCH}"),
    Typed('patch pod web -p {"spec":{"hostNetwork":true}}'),
    Typed("get pod web --show-labels"),
    Typed("apply -f -", config_map("m", a="1")),
    Typed("apply -f -", config_map("m", a="1")),
    Typed("diff -f -", config_map("m", a="2")),
    Typed("apply -f -", config_map("m", a="2")),
    Typed("apply --server-side -f -", config_map("m", a="2")),
    Typed("diff --server-side -f -", config_map("m", a="2")),
    Typed("apply --server-side --field-manager=other -f -", config_map("m", a="3")),
    Typed("apply --server-side --field-manager=other --force-conflicts -f -",
          config_map("m", a="3")),
    Typed("get configmap m -o yaml --show-managed-fields"),
    Typed("auth can-i create pods"),
    Typed("auth can-i get nothing"),
    Typed("create -f -", _BUDGET),
    Typed("wait --for=jsonpath={.status.expectedPods}=1 pdb/b --timeout=120s"),
    Typed("drain {node} --force --pod-selector=run=web --timeout=4s"),
    Typed("get node {node} --no-headers"),
    Typed("delete pdb b"),
    Typed("drain {node} --force --pod-selector=run=web --timeout=120s"),
    Typed("uncordon {node}"),
    Typed("delete pod asleep"),
    Typed("delete configmap none"),
    Typed("delete configmap m --dry-run=server"),
    Typed("delete configmap m"),
)  # fmt: skip

_MASKS = (
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\b(?:node|sandbox)-\d+\b"), "<node>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "<ip>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?: \+\d{4})?Z?"), "<time>"),
    (re.compile(r"/\S*/(LIVE|MERGED)-\d+"), r"\1"),
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-<random>"),
    (re.compile(r'(resourceVersion: )"\d+"'), r"\1<revision>"),
    # Whole minutes and hours have no smaller part: 5m00s is printed as "5m".
    (re.compile(r"(?<=\s)(?=\d)(?:\d+h)?(?:\d+m)?(?:\d+s)?(?=\s)"), "<age>"),
    (re.compile(r" v\d+\.\d+\.\d+\S*"), " <version>"),
    # The difference of two pods in Go's notation, which the sandbox does not claim.
    (re.compile(r"(?<=previously negative\))\n@@ .*", re.DOTALL), ""),
    (re.compile(r"[ \t]+"), " "),
)


def masked(text: str, namespace: str) -> str:
    """Take out what two clusters cannot share: names, uids, addresses, times, revisions."""
    text = text.replace(namespace, "<namespace>") + "\n"
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


@dataclass(frozen=True, slots=True)
class Shell:
    """kubectl speaking to one server, in a namespace of its own."""

    program: Path
    kubeconfig: Path
    home: Path
    speaker: Speaker
    space: str

    @property
    def namespace(self) -> str:
        """Give the name of the namespace."""
        return self.space.rsplit("/", 1)[1]

    def told(self) -> list[str]:
        """Type the whole session, and give what each command prints and its exit code."""
        return [self._type(one) for one in SESSION]

    def _type(self, typed: Typed) -> str:
        line = typed.line
        if "{node}" in line:
            line = line.replace("{node}", self._node())
        done = subprocess.run(
            [str(self.program), "--namespace", self.namespace, *line.split(" ")],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.home)},
            input=None if typed.given is None else json.dumps(typed.given),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        printed = masked(done.stdout + done.stderr, self.namespace).rstrip()
        return f"$ kubectl {typed.line}\n{printed}\nexit {done.returncode}"

    def _node(self) -> str:
        web = self.speaker.ask("GET", f"{self.space}/pods/web")
        if web.status == 200 and is_ready(web):
            (self.home / "node").write_text(web.body["spec"]["nodeName"], encoding="utf-8")
        return (self.home / "node").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_kubectl_prints_the_same_of_both(
    version: str, real_cluster: ControlPlane, tmp_path: Path
) -> None:
    program = kubectl(version)
    homes = [tmp_path / side for side in ("sandbox", "real")]
    for home in homes:
        home.mkdir()
    with served(quick_sandbox()) as server:
        server.write_kubeconfig(homes[0] / "kubeconfig")
        near = Speaker(server.url)
        far = real_speaker(real_cluster)
        mine = Shell(program, homes[0] / "kubeconfig", homes[0], near, near.namespace()).told()
        other = Shell(program, real_cluster.kubeconfig, homes[1], far, far.namespace()).told()
    differing = [
        "\n".join(
            difflib.unified_diff(two.splitlines(), one.splitlines(), "real", "sandbox", lineterm="")
        )
        for one, two in zip(mine, other, strict=True)
        if one != two
    ]
    assert not differing, "\n\n".join(differing)
