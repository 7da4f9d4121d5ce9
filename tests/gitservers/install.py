"""Finds sshd, or installs it where that is possible: `python -m tests.gitservers.install`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.gitservers.certificates import ToolAbsent

PACKAGE = "openssh-server"
# Where Debian and others keep it; a plain user's PATH often lacks these.
FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/sbin")


def find_sshd() -> Path:
    """Return the absolute path of sshd, which it wants to be started by.

    Raises:
        ToolAbsent: it is not installed.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *FOLDERS])
    found = shutil.which("sshd", path=path)
    if found is None:
        raise ToolAbsent(
            f"sshd is not installed: install Debian package {PACKAGE}"
            " (as root, `python -m tests.gitservers.install` does)"
        )
    return Path(found).absolute()


def ensure_sshd() -> Path:
    """Return the path of sshd, installing its Debian package first when we are root.

    Raises:
        ToolAbsent: it is absent and cannot be installed here.
    """
    try:
        return find_sshd()
    except ToolAbsent:
        apt = shutil.which("apt-get")
        if apt is None or os.geteuid() != 0:
            raise
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-y", "--no-install-recommends", PACKAGE]):
        done = subprocess.run([apt, *words], env=settings, capture_output=True, text=True)
        if done.returncode != 0:
            said = done.stderr.strip()[-1000:]
            raise ToolAbsent(f"`apt-get {' '.join(words)}` failed, so sshd is absent:\n{said}")
    return find_sshd()


if __name__ == "__main__":
    try:
        print(ensure_sshd())
    except ToolAbsent as absent:
        sys.exit(f"error: {absent}")
