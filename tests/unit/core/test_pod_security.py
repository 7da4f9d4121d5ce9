"""Every control of the Pod Security level `baseline`, and what it allows."""

from collections.abc import Iterator

import pytest

from reconciler.core.pod_security import check_baseline
from reconciler.model.refs import Json
from tests.unit.core.reading import container, loaded, pod, rules

POD = [
    ("hostNetwork: true", "hostNetwork"),
    ("hostPID: true", "hostPID"),
    ("hostIPC: true", "hostIPC"),
    ("volumes: [{name: a, hostPath: {path: /}}]", "volumes.0.hostPath"),
    ("securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}",
     "securityContext.sysctls.0.name"),
    ("securityContext: {seccompProfile: {type: Unconfined}}",
     "securityContext.seccompProfile.type"),
    ("securityContext: {appArmorProfile: {type: Unconfined}}",
     "securityContext.appArmorProfile.type"),
    ("securityContext: {seLinuxOptions: {type: spc_t}}", "securityContext.seLinuxOptions.type"),
    ("securityContext: {seLinuxOptions: {user: system_u}}", "securityContext.seLinuxOptions.user"),
    ("securityContext: {seLinuxOptions: {role: sysadm_r}}", "securityContext.seLinuxOptions.role"),
    ("securityContext: {windowsOptions: {hostProcess: true}}",
     "securityContext.windowsOptions.hostProcess"),
]  # fmt: skip
CONTAINER = [
    ("securityContext: {privileged: true}", "securityContext.privileged"),
    ("securityContext: {capabilities: {add: [CHOWN, NET_RAW]}}",
     "securityContext.capabilities.add.1"),
    ("securityContext: {procMount: Unmasked}", "securityContext.procMount"),
    ("securityContext: {seccompProfile: {type: Unconfined}}",
     "securityContext.seccompProfile.type"),
    ("securityContext: {appArmorProfile: {type: Unconfined}}",
     "securityContext.appArmorProfile.type"),
    ("securityContext: {seLinuxOptions: {type: spc_t}}", "securityContext.seLinuxOptions.type"),
    ("securityContext: {windowsOptions: {hostProcess: true}}",
     "securityContext.windowsOptions.hostProcess"),
    ("ports: [{containerPort: 1, hostPort: 1}]", "ports.0.hostPort"),
    ("livenessProbe: {httpGet: {port: 1, host: 10.0.0.1}}", "livenessProbe.httpGet.host"),
    ("lifecycle: {postStart: {tcpSocket: {port: 1, host: a}}}",
     "lifecycle.postStart.tcpSocket.host"),
]  # fmt: skip
ANNOTATIONS = [
    ("seccomp.security.alpha.kubernetes.io/pod", "unconfined"),
    ("container.seccomp.security.alpha.kubernetes.io/game", "unconfined"),
    ("container.apparmor.security.beta.kubernetes.io/game", "unconfined"),
]
ALLOWED = [
    "hostNetwork: false",
    "securityContext: {sysctls: [{name: net.ipv4.tcp_rmem, value: '1'}]}",
    "securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}",
    "securityContext: {appArmorProfile: {type: RuntimeDefault}}",
    "securityContext: {seLinuxOptions: {type: container_t, level: 's0'}}",
    "securityContext: {runAsUser: 0}",
    "volumes: [{name: a, nfs: {server: a, path: /}}, {name: b, emptyDir: {}}]",
]


def cases() -> Iterator[tuple[Json, str]]:
    for text, path in POD:
        yield pod(**loaded(text)), path
    for text, path in CONTAINER:
        one = container(**loaded(text))
        yield pod(containers=[one]), f"containers.0.{path}"
        yield pod(initContainers=[one]), f"initContainers.0.{path}"


@pytest.mark.parametrize(
    ("spec", "path"), [pytest.param(spec, path, id=path) for spec, path in cases()]
)
def test_baseline_forbids(spec: Json, path: str) -> None:
    assert rules(check_baseline({"spec": spec}, "1.36")) == {(f"spec.{path}", "pod-security")}


@pytest.mark.parametrize(("name", "value"), ANNOTATIONS)
def test_baseline_forbids_the_annotation(name: str, value: str) -> None:
    template = {"metadata": {"annotations": {name: value}}, "spec": pod()}

    told = rules(check_baseline(template, "1.36"))
    assert told == {(f"metadata.annotations.{name}", "pod-security")}


@pytest.mark.parametrize("text", ALLOWED)
def test_baseline_allows(text: str) -> None:
    assert rules(check_baseline({"spec": pod(**loaded(text))}, "1.36")) == set()


@pytest.mark.parametrize("profile", ["runtime/default", "localhost/arena", ""])
def test_a_confined_profile_is_allowed(profile: str) -> None:
    annotations = {"container.apparmor.security.beta.kubernetes.io/game": profile}

    template: Json = {"metadata": {"annotations": annotations}, "spec": {}}
    assert rules(check_baseline(template, "1.36")) == set()


def test_a_pod_with_users_of_its_own_unmasks_proc_from_the_version_that_says_so() -> None:
    unmasked = container(securityContext={"procMount": "Unmasked"})
    template: Json = {"spec": pod(hostUsers=False, containers=[unmasked])}

    assert rules(check_baseline(template, "1.35")) == set()
    path = "spec.containers.0.securityContext.procMount"
    assert rules(check_baseline(template, "1.34")) == {(path, "pod-security")}
